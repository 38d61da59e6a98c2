/* links: proto/session/session.c proto/session/session_path.c proto/session/admission.c proto/session/negotiation.c proto/auth/handshake.c proto/wire/datagram.c proto/window/inbox.c proto/window/outbox.c proto/auth/auth.c cipher/cipher*.c proto/wire/address.c proto/wire/cursor.c proto/wire/frame.c proto/window/window*.c */
/*
 * session_test.c - two sessions and the datagrams between them, in the order of the test's choice.
 */
#include "proto/session/session.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/session/session_state.h"
#include "tests/unit/runner.h"

#define QUEUE_MAX 512
#define DATAGRAM_MAX 1400

struct end {
    struct endpoint endpoint;
    struct session *session;
    struct pair *pair;
    unsigned id;
    unsigned frames, opened, refused;
    bool not_yet; /* frames are not taken */
    uint8_t room[DATAGRAM_MAX];
    unsigned data, data_in_place; /* datagrams; those that were built in `room` */
};

struct copy {
    unsigned to;
    struct address from;
    size_t size;
    uint8_t bytes[DATAGRAM_MAX];
};

struct pair {
    struct end ends[2];
    struct address at[2]; /* where the ends are; their rows may say otherwise */
    struct copy queue[QUEUE_MAX];
    size_t count;
    size_t astray_bytes; /* sent to where neither is */
    uint64_t now_us;
    uint64_t random;
};

static uint64_t next_random(struct pair *pair)
{
    pair->random = pair->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return pair->random >> 33;
}

static struct address address_of(unsigned id)
{
    return (struct address){ADDRESS_IPV4, 6, {10, 0, 0, (uint8_t)(1 + id), 0, 1}};
}

static void on_send(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    struct end *end = context;
    struct copy *copy = &end->pair->queue[end->pair->count];

    if (bytes[3] == DATAGRAM_DATA) {
        end->data++;
        end->data_in_place += bytes == end->room;
    }
    if (!address_equal(to, &end->pair->at[1 - end->id])) {
        end->pair->astray_bytes += size;
        return;
    }
    if (end->pair->count == QUEUE_MAX || size > sizeof copy->bytes)
        abort();
    copy->to = 1 - end->id;
    copy->from = end->pair->at[end->id];
    copy->size = size;
    memcpy(copy->bytes, bytes, size);
    end->pair->count++;
}

static uint8_t *on_room(void *context, const struct address *to)
{
    struct end *end = context;

    return address_equal(to, &end->pair->at[1 - end->id]) ? end->room : NULL;
}

static bool on_frame(void *context, uint32_t peer, const struct frame *frame,
                     const uint8_t *payload, uint64_t now_us)
{
    struct end *end = context;

    (void)peer, (void)frame, (void)payload, (void)now_us;
    end->frames += !end->not_yet;
    return !end->not_yet;
}

static void on_heard(void *context, uint32_t peer, uint64_t now_us)
{
    (void)context, (void)peer, (void)now_us;
}

static void on_asked(void *context, uint32_t peer, uint8_t kind, uint32_t target, uint64_t now_us)
{
    (void)context, (void)peer, (void)kind, (void)target, (void)now_us;
}

static void on_opened(void *context, uint32_t peer, uint64_t now_us)
{
    struct end *end = context;

    (void)peer, (void)now_us;
    end->opened++;
}

static void on_refused(void *context, uint32_t peer, uint8_t reason, uint64_t now_us)
{
    struct end *end = context;

    (void)peer, (void)reason, (void)now_us;
    end->refused++;
}

static void on_log(void *context, const char *line)
{
    (void)context, (void)line;
}

static void on_random(void *context, void *bytes, size_t size)
{
    struct end *end = context;

    for (size_t i = 0; i < size; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)next_random(end->pair);
}

static struct host host_of(unsigned id)
{
    static struct address addresses[2];
    struct host host = {.index = 1 + id, .state = HOST_UP, .address_count = 1};

    host.id[0] = (uint8_t)(10 + id);
    addresses[id] = address_of(id);
    host.addresses = &addresses[id];
    return host;
}

static void create_end(struct pair *pair, unsigned id, uint8_t key_byte)
{
    struct end *end = &pair->ends[id];
    struct endpoint *e = &end->endpoint;
    struct host self = host_of(id), peer = host_of(1 - id);
    const uint8_t key[VM_KEY_BYTES] = {key_byte};

    end->pair = pair;
    end->id = id;
    e->owner = (struct endpoint_owner){.context = end,
                                       .send = on_send,
                                       .room = on_room,
                                       .frame = on_frame,
                                       .heard = on_heard,
                                       .asked = on_asked,
                                       .unanswered = on_heard,
                                       .admitted = on_heard,
                                       .opened = on_opened,
                                       .refused = on_refused,
                                       .log = on_log};
    e->datagram_bytes_min = 1200;
    e->datagram_bytes_max = DATAGRAM_MAX;
    e->stall_us = 1000000;
    e->seed = next_random(pair);
    e->random = on_random;
    e->random_context = end;
    e->scratch = malloc(DATAGRAM_MAX);
    e->me.index = self.index;
    memcpy(e->me.id, self.id, HOST_ID_BYTES);
    identity_derive(&e->me, "test", key);
    e->me.vm = 1; /* alike, whatever the key */
    on_random(end, e->me.boot_secret, sizeof e->me.boot_secret);
    end->session = session_create(e, &peer);
    if (!e->scratch || !end->session)
        abort();
}

static struct pair *create_pair(uint64_t seed, uint8_t other_key)
{
    struct pair *pair = calloc(1, sizeof *pair);

    if (!pair || auth_init() < 0)
        abort();
    pair->random = seed;
    pair->at[0] = address_of(0);
    pair->at[1] = address_of(1);
    create_end(pair, 0, 1);
    create_end(pair, 1, other_key);
    return pair;
}

static void destroy_pair(struct pair *pair)
{
    for (unsigned i = 0; i < 2; i++) {
        session_destroy(pair->ends[i].session);
        free(pair->ends[i].endpoint.scratch);
    }
    free(pair);
}

/* What a node does with a datagram, between hosts that know each other. */
static void give(struct pair *pair, const struct copy *copy)
{
    struct end *end = &pair->ends[copy->to];
    struct session *s = end->session;
    struct address from = copy->from;
    uint8_t answer[WELCOME_BYTES];
    struct datagram d = {0};

    if (datagram_decode(copy->bytes, copy->size, 1, &d) != DATAGRAM_GOOD)
        return;
    if (d.kind == DATAGRAM_HELLO && handshake_hello_ok(&end->endpoint.me, &d)) {
        handshake_welcome(&end->endpoint.me, &d.hello, end->endpoint.made[d.hello.from], answer);
        on_send(end, &from, answer, sizeof answer);
    } else if (d.kind == DATAGRAM_WELCOME) {
        session_on_welcome(s, &d, &from, pair->now_us);
    } else if (d.kind == DATAGRAM_REFUSE) {
        session_on_refuse(s, &d, pair->now_us);
    } else if (d.kind == DATAGRAM_CONFIRM) {
        session_on_confirm(s, &d, &from, pair->now_us);
    } else if (datagram_is_sealed(d.kind)) {
        session_on_sealed(s, &d, &from, pair->now_us);
    }
}

static void step_both(struct pair *pair)
{
    session_step(pair->ends[0].session, pair->now_us);
    session_step(pair->ends[1].session, pair->now_us);
}

/* Takes the i-th datagram that is under way. */
static struct copy take(struct pair *pair, size_t i)
{
    struct copy copy = pair->queue[i];

    pair->count--;
    memmove(&pair->queue[i], &pair->queue[i + 1], (pair->count - i) * sizeof pair->queue[0]);
    return copy;
}

/* In order and without loss, for so long. */
static void run(struct pair *pair, uint64_t duration_us)
{
    uint64_t end = pair->now_us + duration_us;

    for (; pair->now_us < end; pair->now_us += 1000) {
        step_both(pair);
        while (pair->count > 0) {
            struct copy copy = take(pair, 0);

            give(pair, &copy);
            step_both(pair);
        }
    }
}

static void write_frame(struct end *end, uint32_t size)
{
    struct frame frame = {.length = size, .kind = FRAME_DATA, .source = 1, .destination = 2};
    uint8_t *payload = calloc(1, size + 1);

    CU_ASSERT_EQUAL(session_write(end->session, &frame, payload, NULL), 0);
    free(payload);
}

/* ---- cases ---- */

static void opens_at_the_first_write(void)
{
    struct pair *pair = create_pair(1, 1);

    run(pair, 5000);
    CU_ASSERT_FALSE(session_is_open(pair->ends[0].session));
    write_frame(&pair->ends[0], 60000);
    write_frame(&pair->ends[0], 0);
    run(pair, 50000);
    CU_ASSERT(session_is_open(pair->ends[0].session));
    CU_ASSERT(session_is_open(pair->ends[1].session));
    CU_ASSERT_EQUAL(pair->ends[1].frames, 2);
    CU_ASSERT_EQUAL(session_queued(pair->ends[0].session), 0);
    destroy_pair(pair);
}

static void other_key_opens_nothing(void)
{
    struct pair *pair = create_pair(2, 2);

    write_frame(&pair->ends[0], 100);
    write_frame(&pair->ends[1], 100);
    run(pair, 5000000);
    CU_ASSERT_EQUAL(pair->ends[0].opened + pair->ends[1].opened, 0);
    CU_ASSERT_EQUAL(pair->ends[0].frames + pair->ends[1].frames, 0);
    destroy_pair(pair);
}

/* Datagrams arrive in any order, doubled or not at all. */
static void storm(struct pair *pair, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        struct copy copy;

        step_both(pair);
        pair->now_us += next_random(pair) % 20000;
        if (pair->count == 0)
            continue;
        copy = take(pair, (size_t)(next_random(pair) % pair->count));
        if (next_random(pair) % 5 == 0)
            continue;
        give(pair, &copy);
        if (next_random(pair) % 5 == 0)
            give(pair, &copy);
    }
}

static bool opens_what_is_sealed(struct auth_cipher *opener, struct auth_cipher *sealer)
{
    uint8_t tag[AUTH_TAG_BYTES];

    auth_seal(tag, sealer, UINT64_MAX, "a text", 6);
    return auth_open(tag, opener, UINT64_MAX, "a text", 6);
}

static bool keys_match(const struct session *a, const struct session *b)
{
    return a->open && b->open && a->local_id == b->remote_id && a->remote_id == b->local_id &&
           opens_what_is_sealed(b->opener, a->sealer) && opens_what_is_sealed(a->opener, b->sealer);
}

/* Both begin at once, again and again, in the worst of networks; at the end both agree, and every
 * frame is there. */
static void both_open_at_once(void)
{
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct pair *pair = create_pair(seed, 1);

        write_frame(&pair->ends[0], 100);
        write_frame(&pair->ends[1], 100);
        for (int round = 0; round < 3; round++) {
            storm(pair, 40);
            session_open(pair->ends[next_random(pair) % 2].session, pair->now_us);
            write_frame(&pair->ends[0], 10);
            write_frame(&pair->ends[1], 10);
        }
        run(pair, 6000000);
        if (!keys_match(pair->ends[0].session, pair->ends[1].session) ||
            pair->ends[0].frames != 4 || pair->ends[1].frames != 4) {
            printf("seed %llu: frames %u %u\n", (unsigned long long)seed, pair->ends[0].frames,
                   pair->ends[1].frames);
            CU_FAIL("the two ends do not agree");
        }
        destroy_pair(pair);
    }
}

/* The CONFIRM of an earlier handshake changes nothing once a later one succeeded. */
static void late_confirm(void)
{
    struct pair *pair = create_pair(3, 1);
    struct copy confirm = {0};

    session_open(pair->ends[0].session, 0);
    for (int i = 0; i < 10 && confirm.size == 0; i++) {
        struct copy copy;

        step_both(pair);
        copy = take(pair, 0);
        if (copy.bytes[3] == DATAGRAM_CONFIRM)
            confirm = copy;
        else
            give(pair, &copy);
    }
    CU_ASSERT_EQUAL_FATAL(confirm.size, CONFIRM_BYTES);
    /* the host 2 opens a session meanwhile, host 1 has given up its own */
    pair->ends[0].session->pending.phase = PENDING_NONE;
    write_frame(&pair->ends[1], 10);
    run(pair, 100000);
    CU_ASSERT_EQUAL(pair->ends[1].opened, 1);
    give(pair, &confirm);
    CU_ASSERT_EQUAL(pair->ends[1].opened, 1);
    CU_ASSERT(keys_match(pair->ends[0].session, pair->ends[1].session));
    destroy_pair(pair);
}

/* A nonce is worth nothing after a session was made, or the responder restarted. */
static void nonces_are_bound(void)
{
    struct pair *pair = create_pair(4, 1);
    struct identity *me = &pair->ends[0].endpoint.me;
    struct hello hello = {.from = 2, .to = 1};
    uint8_t first[AUTH_NONCE_BYTES], second[AUTH_NONCE_BYTES];

    handshake_nonce(me, &hello, 0, first);
    handshake_nonce(me, &hello, 0, second);
    CU_ASSERT_EQUAL(memcmp(first, second, sizeof first), 0);
    handshake_nonce(me, &hello, 1, second);
    CU_ASSERT_NOT_EQUAL(memcmp(first, second, sizeof first), 0);
    me->boot_secret[0] ^= 1;
    handshake_nonce(me, &hello, 0, second);
    CU_ASSERT_NOT_EQUAL(memcmp(first, second, sizeof first), 0);
    destroy_pair(pair);
}

static void refusal_is_told(void)
{
    struct pair *pair = create_pair(5, 1);
    uint8_t answer[REFUSE_BYTES];
    struct address there = address_of(0);

    write_frame(&pair->ends[0], 10);
    step_both(pair);
    handshake_refuse(&pair->ends[1].endpoint.me, &pair->ends[0].session->pending.hello, REASON_GONE,
                     answer);
    pair->count = 0;
    on_send(&pair->ends[1], &there, answer, sizeof answer);
    answer[DATAGRAM_HEAD_BYTES + 4] = REASON_IDENTITY; /* not what was signed */
    on_send(&pair->ends[1], &there, answer, sizeof answer);
    for (int i = 0; i < 2; i++) {
        struct copy copy = take(pair, 0);

        give(pair, &copy);
    }
    CU_ASSERT_EQUAL(pair->ends[0].refused, 1);
    CU_ASSERT_EQUAL(pair->ends[0].endpoint.counters.refused_mac, 1);
    destroy_pair(pair);
}

/* Frames that cannot be taken yet wait, in order, whole and in parts. */
static void frames_wait(void)
{
    struct pair *pair = create_pair(6, 1);

    pair->ends[1].not_yet = true;
    for (uint32_t i = 0; i < 50; i++)
        write_frame(&pair->ends[0], i * 1000);
    run(pair, 500000);
    CU_ASSERT_EQUAL(pair->ends[1].frames, 0);
    pair->ends[1].not_yet = false;
    run(pair, 2000);
    CU_ASSERT_EQUAL(pair->ends[1].frames, 50);
    CU_ASSERT(pair->ends[0].data > 0);
    CU_ASSERT_EQUAL(pair->ends[0].data_in_place, pair->ends[0].data);
    destroy_pair(pair);
}

/* A stream that is not frames ends the session, and nothing else. */
static void nonsense_in_the_stream(void)
{
    struct pair *pair = create_pair(7, 1);

    write_frame(&pair->ends[0], 10);
    outbox_append(&pair->ends[0].session->outbox, "this is certainly no frame", 26, NULL, 0);
    write_frame(&pair->ends[0], 10);
    run(pair, 500000);
    CU_ASSERT_EQUAL(pair->ends[1].frames, 1);
    CU_ASSERT_EQUAL(pair->ends[1].endpoint.counters.refused_payload, 1);
    destroy_pair(pair);
}

/* A host's session ends and another is made for it: what was recorded of the first one's handshake
 * does not bring its keys back, under which numbers would be used again. */
static void recorded_confirm_after_the_session_ended(void)
{
    struct pair *pair = create_pair(8, 1);
    struct end *responder = &pair->ends[1];
    struct host peer = host_of(0);
    struct copy hello, confirm;

    write_frame(&pair->ends[0], 100);
    step_both(pair);
    hello = take(pair, 0);
    CU_ASSERT_EQUAL(hello.size, HELLO_BYTES);
    give(pair, &hello);
    while (pair->count > 0 && pair->queue[0].size != CONFIRM_BYTES) {
        struct copy copy = take(pair, 0);

        give(pair, &copy);
        step_both(pair);
    }
    confirm = take(pair, 0);
    CU_ASSERT_EQUAL(confirm.size, CONFIRM_BYTES);
    give(pair, &confirm);
    CU_ASSERT_EQUAL(responder->opened, 1);
    session_destroy(responder->session);
    responder->session = session_create(&responder->endpoint, &peer);
    give(pair, &hello);
    give(pair, &confirm);
    CU_ASSERT_EQUAL(responder->opened, 1);
    CU_ASSERT_FALSE(session_is_open(responder->session));
    destroy_pair(pair);
}

/* Sessions are more than a nonce or an id ever counted: what was recorded when there were none yet
 * opens nothing. */
static void sessions_without_end(void)
{
    struct pair *pair = create_pair(9, 1);
    struct end *responder = &pair->ends[1];
    struct copy confirm = {0};

    write_frame(&pair->ends[0], 100);
    while (confirm.size != CONFIRM_BYTES) {
        step_both(pair);
        confirm = take(pair, 0);
        give(pair, &confirm);
    }
    run(pair, 100000);
    CU_ASSERT_EQUAL(responder->opened, 1);
    responder->endpoint.made[1] = pair->ends[0].endpoint.made[2] = UINT32_MAX;
    session_open(pair->ends[0].session, pair->now_us);
    run(pair, 100000);
    CU_ASSERT_EQUAL(responder->opened, 2);
    give(pair, &confirm);
    CU_ASSERT_EQUAL(responder->opened, 2);
    write_frame(&pair->ends[0], 100);
    run(pair, 100000);
    CU_ASSERT_EQUAL(responder->frames, 2);
    destroy_pair(pair);
}

/* ---- where it sends to ---- */

static const struct address STRANGER = {ADDRESS_IPV4, 6, {10, 0, 0, 99, 0, 1}};
static const struct address ELSEWHERE = {ADDRESS_IPV4, 6, {10, 0, 1, 7, 0, 1}};

static struct pair *create_open_pair(uint64_t seed)
{
    struct pair *pair = create_pair(seed, 1);

    write_frame(&pair->ends[0], 100);
    run(pair, 100000);
    CU_ASSERT(session_is_open(pair->ends[0].session) && session_is_open(pair->ends[1].session));
    return pair;
}

static bool sends_to(const struct end *end, const struct address *address)
{
    const struct address *path = session_path(end->session);

    return path && address_equal(path, address);
}

/* Somebody takes a datagram off the wire and sends it on from an address that is not its sender's:
 * little more goes there than came from there, and the path is what it was. */
static void a_path_is_not_followed_unasked(void)
{
    struct pair *pair = create_open_pair(10);
    struct address there = address_of(0);
    struct copy copy;

    write_frame(&pair->ends[0], 10);
    step_both(pair);
    copy = take(pair, 0);
    copy.from = STRANGER;
    give(pair, &copy);
    for (int i = 0; i < 15; i++)
        write_frame(&pair->ends[1], 60000);
    run(pair, 3000000);
    CU_ASSERT(pair->astray_bytes > 0 && pair->astray_bytes <= 3 * copy.size);
    CU_ASSERT(sends_to(&pair->ends[1], &there));
    CU_ASSERT_EQUAL(pair->ends[1].endpoint.counters.paths_changed, 0);
    CU_ASSERT_EQUAL(pair->ends[0].frames, 15);
    destroy_pair(pair);
}

/* A host moves, and says so from where it is when it is asked; no hands are shaken. */
static void a_path_is_followed_that_answers(void)
{
    struct pair *pair = create_open_pair(11);

    pair->at[0] = ELSEWHERE;
    write_frame(&pair->ends[0], 100);
    write_frame(&pair->ends[1], 60000);
    run(pair, 900000);
    CU_ASSERT_EQUAL(pair->ends[1].frames, 2);
    CU_ASSERT_EQUAL(pair->ends[0].frames, 1);
    CU_ASSERT(sends_to(&pair->ends[1], &ELSEWHERE));
    CU_ASSERT_EQUAL(pair->ends[1].endpoint.counters.paths_changed, 1);
    CU_ASSERT_EQUAL(pair->ends[1].opened, 1);
    destroy_pair(pair);
}

/* The question is lost, and the first answer. */
static void a_path_is_asked_again(void)
{
    struct pair *pair = create_open_pair(12);
    unsigned lost = 0;

    pair->at[0] = ELSEWHERE;
    write_frame(&pair->ends[0], 100);
    for (uint64_t end = pair->now_us + 900000; pair->now_us < end; pair->now_us += 1000) {
        step_both(pair);
        while (pair->count > 0) {
            struct copy copy = take(pair, 0);

            if (lost == (copy.bytes[3] == DATAGRAM_RESPONSE) && lost < 2 &&
                (copy.bytes[3] == DATAGRAM_CHALLENGE || copy.bytes[3] == DATAGRAM_RESPONSE))
                lost++;
            else
                give(pair, &copy);
            step_both(pair);
        }
    }
    CU_ASSERT_EQUAL(lost, 2);
    CU_ASSERT(sends_to(&pair->ends[1], &ELSEWHERE));
    destroy_pair(pair);
}

/* The answer is sent on from where nobody was asked. */
static void an_answer_from_elsewhere_is_none(void)
{
    struct pair *pair = create_open_pair(13);
    struct copy copy = {0};

    pair->at[0] = ELSEWHERE;
    write_frame(&pair->ends[0], 100);
    while (copy.bytes[3] != DATAGRAM_RESPONSE) {
        step_both(pair);
        CU_ASSERT_FATAL(pair->count > 0);
        copy = take(pair, 0);
        if (copy.bytes[3] != DATAGRAM_RESPONSE)
            give(pair, &copy);
    }
    copy.from = STRANGER;
    give(pair, &copy);
    CU_ASSERT_FALSE(sends_to(&pair->ends[1], &STRANGER));
    CU_ASSERT_FALSE(sends_to(&pair->ends[1], &ELSEWHERE));
    destroy_pair(pair);
}

/* So it is with a handshake: of a host that is not where its row says, since only it can dial. */
static void a_first_path_is_proved(void)
{
    struct pair *pair = create_pair(14, 1);
    struct copy copy = {0};

    pair->at[0] = ELSEWHERE;
    write_frame(&pair->ends[0], 100);
    while (copy.size != CONFIRM_BYTES) {
        step_both(pair);
        CU_ASSERT_FATAL(pair->count > 0);
        copy = take(pair, 0);
        if (copy.size != CONFIRM_BYTES)
            give(pair, &copy);
    }
    copy.from = STRANGER;
    give(pair, &copy);
    CU_ASSERT(session_is_open(pair->ends[1].session));
    CU_ASSERT_PTR_NULL(session_path(pair->ends[1].session));
    for (int i = 0; i < 15; i++)
        write_frame(&pair->ends[1], 60000);
    step_both(pair);
    CU_ASSERT(pair->astray_bytes > 0 && pair->astray_bytes <= 3 * copy.size);
    run(pair, 3000000);
    CU_ASSERT(sends_to(&pair->ends[1], &ELSEWHERE));
    CU_ASSERT_EQUAL(pair->ends[0].frames, 15);
    CU_ASSERT_EQUAL(pair->ends[1].frames, 1);
    destroy_pair(pair);
}

static const struct test_case CASES[] = {
    {"opens at the first write", opens_at_the_first_write},
    {"other key opens nothing", other_key_opens_nothing},
    {"both open at once", both_open_at_once},
    {"late confirm", late_confirm},
    {"nonces are bound", nonces_are_bound},
    {"recorded confirm after the session ended", recorded_confirm_after_the_session_ended},
    {"refusal is told", refusal_is_told},
    {"frames wait", frames_wait},
    {"nonsense in the stream", nonsense_in_the_stream},
    {"sessions without end", sessions_without_end},
    {"a path is not followed unasked", a_path_is_not_followed_unasked},
    {"a path is followed that answers", a_path_is_followed_that_answers},
    {"a path is asked again", a_path_is_asked_again},
    {"an answer from elsewhere is none", an_answer_from_elsewhere_is_none},
    {"a first path is proved", a_first_path_is_proved},
};

int main(void)
{
    return covey_test_main("session", CASES, sizeof CASES / sizeof CASES[0]);
}
