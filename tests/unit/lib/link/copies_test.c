/* links: lib/link/stream.c proto/session/session.c proto/session/session_path.c proto/session/admission.c proto/session/negotiation.c proto/auth/handshake.c proto/wire/datagram.c proto/window/inbox.c proto/window/outbox.c proto/auth/auth.c proto/wire/address.c proto/wire/cursor.c proto/wire/frame.c proto/window/window*.c cipher/cipher.c cipher/cipher_libcrypto.c cipher/cipher_multi_buffer.c */
/*
 * copies_test.c - how often a byte of a large message is copied on its way through two daemons,
 * from the memory that is sent to the memory that is received into: by the streams of both tasks
 * and the session between the daemons, as the daemon puts them together (connection.c, post.c,
 * udp.c). What is counted are the calls of memcpy() and memmove() that move more than headers.
 */
#include "lib/link/stream.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/session/session_state.h"
#include "tests/unit/runner.h"

#define DATAGRAM_MAX 65000
#define MESSAGE_BYTES (64 * FRAME_PAYLOAD_MAX)
#define SLOTS 64
#define COUNTED_BYTES_MIN 512 /* what is shorter is a header, or state */

/* ---- the counter ---- */

static uint64_t copied;

static void copy_bytes(volatile uint8_t *to, const volatile uint8_t *from, size_t size)
{
    if (size >= COUNTED_BYTES_MIN)
        copied += size;
    if ((uintptr_t)to - (uintptr_t)from >= size)
        for (size_t i = 0; i < size; i++)
            to[i] = from[i];
    else
        for (size_t i = size; i-- > 0;)
            to[i] = from[i];
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    copy_bytes(to, from, size);
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    copy_bytes(to, from, size);
    return to;
}

/* ---- two hosts, each with a task and a daemon ---- */

struct slot {
    unsigned to;
    size_t size;
    uint8_t bytes[DATAGRAM_MAX];
};

struct host_end {
    struct trip *trip;
    unsigned id;
    struct endpoint endpoint;
    struct session *session;
    struct stream *task, *daemon; /* the two ends of one socket */
};

struct trip {
    struct host_end ends[2];
    struct slot slots[SLOTS]; /* datagrams under way, each sent from where it was built */
    unsigned sent, got;
    uint64_t now_us, random;
    uint8_t *target;
    size_t arrived;
};

static uint8_t *on_room(void *context, const struct address *to)
{
    struct trip *trip = ((struct host_end *)context)->trip;
    (void)to;
    return trip->slots[trip->sent % SLOTS].bytes;
}

static void on_send(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    struct host_end *end = context;
    struct slot *slot = &end->trip->slots[end->trip->sent % SLOTS];
    (void)to;
    CU_ASSERT_FATAL(end->trip->sent - end->trip->got < SLOTS && size <= sizeof slot->bytes);
    if (bytes != slot->bytes)
        memmove(slot->bytes, bytes, size);
    slot->to = 1 - end->id;
    slot->size = size;
    end->trip->sent++;
}

/* What a daemon does with a frame of its task that goes to the other host. */
static int on_frame_of_task(void *context, const struct frame *frame, const uint8_t *payload,
                            int *fds, int nfds)
{
    struct host_end *end = context;
    (void)fds, (void)nfds;
    uint8_t *own = stream_take(end->daemon, payload);
    CU_ASSERT_EQUAL(session_write(end->session, frame, payload, own), 0);
    return 0;
}

/* What a daemon does with a frame of the other host that goes to its task. */
static bool on_frame_of_host(void *context, uint32_t peer, const struct frame *frame,
                             const uint8_t *payload, uint64_t now_us)
{
    struct host_end *end = context;
    (void)peer, (void)now_us;
    union {
        const uint8_t *from;
        void *base;
    } u = {.from = payload};
    const struct iovec piece = {u.base, frame->length};
    CU_ASSERT_EQUAL(stream_put_pieces(end->daemon, frame, &piece, 1), 0);
    return true;
}

/* What a task does with it. */
static int on_frame_at_last(void *context, const struct frame *frame, const uint8_t *payload,
                            int *fds, int nfds)
{
    struct trip *trip = context;
    (void)fds, (void)nfds;
    CU_ASSERT_FATAL(trip->arrived + frame->length <= MESSAGE_BYTES);
    memcpy(trip->target + trip->arrived, payload, frame->length);
    trip->arrived += frame->length;
    return 0;
}

static void on_heard(void *context, uint32_t peer, uint64_t now_us)
{
    (void)context, (void)peer, (void)now_us;
}

static void on_log(void *context, const char *line)
{
    (void)context, (void)line;
}

static void on_random(void *context, void *bytes, size_t size)
{
    struct trip *trip = ((struct host_end *)context)->trip;
    for (size_t i = 0; i < size; i++) {
        trip->random = trip->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        ((uint8_t *)bytes)[i] = (uint8_t)(trip->random >> 33);
    }
}

static struct host host_of(unsigned id)
{
    static const struct address addresses[] = {{ADDRESS_IPV4, 6, {10, 0, 0, 1, 0, 1}},
                                               {ADDRESS_IPV4, 6, {10, 0, 0, 2, 0, 1}}};
    return (struct host){.index = 1 + id,
                         .state = HOST_UP,
                         .id = {(uint8_t)(10 + id)},
                         .address_count = 1,
                         .addresses = &addresses[id]};
}

static void end_create(struct trip *trip, unsigned id)
{
    struct host_end *end = &trip->ends[id];
    struct endpoint *e = &end->endpoint;
    struct host self = host_of(id), peer = host_of(1 - id);
    const uint8_t key[VM_KEY_BYTES] = {1};
    int fds[2];
    end->trip = trip;
    end->id = id;
    e->owner = (struct endpoint_owner){.context = end,
                                       .send = on_send,
                                       .room = on_room,
                                       .frame = on_frame_of_host,
                                       .heard = on_heard,
                                       .unanswered = on_heard,
                                       .admitted = on_heard,
                                       .opened = on_heard,
                                       .log = on_log};
    e->datagram_bytes_min = 1200;
    e->datagram_bytes_max = DATAGRAM_MAX;
    e->stall_us = 1000000;
    e->random = on_random;
    e->random_context = end;
    e->scratch = malloc(DATAGRAM_MAX);
    e->me.index = self.index;
    memcpy(e->me.id, self.id, HOST_ID_BYTES);
    identity_derive(&e->me, "test", key);
    e->me.vm = 1;
    on_random(end, e->me.boot_secret, sizeof e->me.boot_secret);
    end->session = session_create(e, &peer);
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    end->task = stream_create(fds[0]);
    end->daemon = stream_create(fds[1]);
    CU_ASSERT_FATAL(e->scratch && end->session && end->task && end->daemon);
}

static void end_destroy(struct host_end *end)
{
    session_destroy(end->session);
    stream_destroy(end->task);
    stream_destroy(end->daemon);
    free(end->endpoint.scratch);
}

static void datagram_give(struct trip *trip, struct slot *slot)
{
    struct host_end *end = &trip->ends[slot->to];
    struct address from = host_of(1 - slot->to).addresses[0];
    uint8_t answer[WELCOME_BYTES];
    struct datagram d = {0};
    CU_ASSERT_EQUAL_FATAL(datagram_decode(slot->bytes, slot->size, 1, &d), DATAGRAM_GOOD);
    if (d.kind == DATAGRAM_HELLO && handshake_hello_ok(&end->endpoint.me, &d)) {
        handshake_welcome(&end->endpoint.me, &d.hello, end->endpoint.made[d.hello.from], answer);
        on_send(end, &from, answer, sizeof answer);
    } else if (d.kind == DATAGRAM_WELCOME) {
        session_on_welcome(end->session, &d, &from, trip->now_us);
    } else if (d.kind == DATAGRAM_CONFIRM) {
        session_on_confirm(end->session, &d, &from, trip->now_us);
    } else {
        session_on_sealed(end->session, &d, &from, trip->now_us);
    }
}

/* One round of both daemons and the task that receives. */
static void trip_round(struct trip *trip)
{
    CU_ASSERT_EQUAL(stream_read(trip->ends[0].daemon, on_frame_of_task, &trip->ends[0]), 0);
    for (unsigned id = 0; id < 2; id++)
        session_step(trip->ends[id].session, trip->now_us);
    while (trip->got != trip->sent)
        datagram_give(trip, &trip->slots[trip->got++ % SLOTS]);
    stream_flush(trip->ends[1].daemon);
    CU_ASSERT_EQUAL(stream_read(trip->ends[1].task, on_frame_at_last, trip), 0);
    trip->now_us += 100;
}

/* The task sends as its daemon reads: the sockets are never full. */
static void a_byte_is_copied_four_times_at_most(void)
{
    struct trip *trip = calloc(1, sizeof *trip);
    uint8_t *message = malloc(MESSAGE_BYTES);
    CU_ASSERT_FATAL(trip != NULL && message != NULL && auth_init() == 0);
    trip->target = malloc(MESSAGE_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(trip->target);
    trip->random = 1;
    for (unsigned id = 0; id < 2; id++)
        end_create(trip, id);
    for (size_t i = 0; i < MESSAGE_BYTES; i++)
        message[i] = (uint8_t)(i * 2654435761u >> 24);
    copied = 0;
    size_t put = 0;
    for (unsigned round = 0; round < 200000 && trip->arrived < MESSAGE_BYTES; round++) {
        for (int i = 0; i < 2 && put < MESSAGE_BYTES && put - trip->arrived < 3u << 20; i++) {
            const struct frame frame = {.length = FRAME_PAYLOAD_MAX, .kind = FRAME_DATA};
            const struct iovec piece = {message + put, FRAME_PAYLOAD_MAX};
            CU_ASSERT_EQUAL(stream_put_pieces(trip->ends[0].task, &frame, &piece, 1), 0);
            put += FRAME_PAYLOAD_MAX;
        }
        stream_flush(trip->ends[0].task);
        trip_round(trip);
    }
    double times = (double)copied / MESSAGE_BYTES;
    printf("each byte was copied %.2f times\n", times);
    CU_ASSERT_EQUAL(trip->arrived, MESSAGE_BYTES);
    CU_ASSERT_EQUAL(memcmp(trip->target, message, MESSAGE_BYTES), 0);
    CU_ASSERT_TRUE(times >= 1 && times <= 4);
    for (unsigned id = 0; id < 2; id++)
        end_destroy(&trip->ends[id]);
    free(trip->target);
    free(message);
    free(trip);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a byte is copied four times at most", a_byte_is_copied_four_times_at_most},
    };
    return covey_test_main("copies", cases, sizeof cases / sizeof cases[0]);
}
