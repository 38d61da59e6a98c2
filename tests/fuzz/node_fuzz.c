/* links: proto/wire/host.c proto/wire/contention_config.c proto/node/node.c proto/node/node_calls.c proto/node/node_roll.c proto/node/node_council.c proto/member/council.c proto/raft/raft*.c proto/node/reception.c proto/node/node_medium.c proto/node/node_stat.c proto/member/member.c proto/member/registry.c proto/member/departure.c proto/member/replica.c proto/member/detector.c proto/member/roll.c proto/member/election.c proto/member/table.c proto/session/session.c proto/session/session_path.c proto/session/admission.c proto/session/negotiation.c proto/auth/handshake.c proto/wire/datagram.c proto/window/inbox.c proto/window/outbox.c proto/auth/auth.c cipher/cipher*.c proto/wire/address.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/frame.c proto/window/window*.c */
/*
 * Everything that can reach a node, while it has a session: the input is a list of records
 *
 *   record = mode=u8 length=u16 bytes
 *
 * mode 0: a datagram from an outsider · 1: a DATA payload that the other host sealed · 2: another
 * sealed datagram, its kind the first byte · 3: a frame from the other host, header and payload ·
 * 4: one of membership's frames, its kind the first byte. After each the node is stepped. With the
 * highest bit of the first mode set the VM encrypts.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/node/node_state.h"
#include "proto/session/session_state.h"
#include "tests/fuzz/fuzz.h"

#define STEP_US 1000
#define QUEUE_MAX 256

struct end {
    struct pair *pair;
    struct node *node;
    unsigned id;
};

struct datagram_copy {
    unsigned to;
    size_t size;
    uint8_t bytes[1500];
};

struct pair {
    struct end ends[2]; /* the target and the other host */
    struct datagram_copy queue[QUEUE_MAX];
    size_t count;
    uint64_t now_us;
    uint8_t next_random;
};

static struct address address_of(unsigned id)
{
    return (struct address){ADDRESS_IPV4, 6, {10, 0, 0, (uint8_t)(1 + id), 0, 1}};
}

static void on_send(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    struct end *end = context;
    struct pair *pair = end->pair;
    struct datagram_copy *copy = &pair->queue[pair->count];

    (void)to;
    if (pair->count == QUEUE_MAX || size > sizeof copy->bytes)
        return;
    copy->to = 1 - end->id;
    copy->size = size;
    memcpy(copy->bytes, bytes, size);
    pair->count++;
}

static void on_frame(void *context, uint32_t host, const struct frame *frame,
                     const uint8_t *payload)
{
    (void)context, (void)host;
    if (frame->length > 0 && payload[frame->length - 1] == 0 && payload[0] == 0)
        return; /* every byte can be read */
}

static void on_host(void *context, const struct host *host, int event)
{
    (void)context, (void)host, (void)event;
}

static void on_joined(void *context)
{
    (void)context;
}

static void on_ended(void *context, int why, const char *text)
{
    (void)context, (void)why, (void)text;
}

static void on_log(void *context, const char *line)
{
    (void)context, (void)line;
}

static void on_random(void *context, void *bytes, size_t size)
{
    struct end *end = context;

    memset(bytes, ++end->pair->next_random, size);
}

static void create_end(struct pair *pair, unsigned id, bool encrypt)
{
    struct end *end = &pair->ends[id];
    struct node_owner owner = {.context = end,
                               .send = on_send,
                               .frame = on_frame,
                               .host = on_host,
                               .joined = on_joined,
                               .ended = on_ended,
                               .log = on_log};
    struct node_config config = {
        .vm = "fuzz", .datagram_bytes_min = 1200, .datagram_bytes_max = 1400, .random = on_random};

    config.encrypt = encrypt;
    end->pair = pair;
    end->id = id;
    struct address address = address_of(id);
    config.self.index = 1 + id;
    config.self.name = id == 0 ? "a" : "b";
    config.self.arch = "";
    config.self.id[0] = (uint8_t)(1 + id);
    config.self.address_count = 1;
    config.self.addresses = &address;
    end->node = node_create(&config, &owner);
    if (!end->node)
        abort();
}

/* Carries what is queued, and lets a little time pass. */
static void run(struct pair *pair)
{
    struct address from[2] = {address_of(0), address_of(1)};

    for (int round = 0; round < 8; round++) {
        size_t count = pair->count;

        for (size_t i = 0; i < count; i++) {
            struct datagram_copy copy = pair->queue[i];

            node_on_datagram(pair->ends[copy.to].node, &from[1 - copy.to], copy.bytes, copy.size,
                             pair->now_us);
        }
        memmove(pair->queue, pair->queue + count, (pair->count - count) * sizeof pair->queue[0]);
        pair->count -= count;
        node_step(pair->ends[0].node, pair->now_us);
        node_step(pair->ends[1].node, pair->now_us);
        pair->now_us += STEP_US;
        if (pair->count == 0)
            return;
    }
}

static struct pair *create_pair(bool encrypt)
{
    struct pair *pair = calloc(1, sizeof *pair);
    uint64_t incarnation;

    if (!pair)
        abort();
    create_end(pair, 0, encrypt);
    create_end(pair, 1, encrypt);
    node_bootstrap(pair->ends[0].node, 0);
    if (node_invite(pair->ends[0].node, "b", &incarnation, 0) != 2)
        abort();
    node_join(pair->ends[1].node, node_self(pair->ends[0].node), 0);
    run(pair);
    run(pair);
    if (!node_host(pair->ends[0].node, 2) || node_host(pair->ends[0].node, 2)->state != HOST_UP)
        abort();
    return pair;
}

static void destroy_pair(struct pair *pair)
{
    node_destroy(pair->ends[0].node);
    node_destroy(pair->ends[1].node);
    free(pair);
}

/* Seals what the other host never would, and gives it to the target. */
static void inject_sealed(struct pair *pair, uint8_t kind, const uint8_t *bytes, size_t size)
{
    struct peer *peer = pair->ends[1].node->media[MEDIUM_IP].peers[1];
    struct address from = address_of(1);
    uint8_t datagram[DATAGRAM_OVERHEAD_BYTES + 65536];
    struct cursor c = cursor_writer(datagram, sizeof datagram);
    struct session *s;
    uint64_t number;

    if (!peer)
        return;
    s = peer->session;
    number =
        kind == DATAGRAM_DATA ? s->data_number++ : DATAGRAM_CONTROL_NUMBER | s->control_number++;
    datagram_put_sealed(&c, kind, s->endpoint->me.vm, s->remote_id, number);
    cursor_put_bytes(&c, bytes, size);
    size = (size_t)(c.at - datagram);
    if (s->endpoint->me.encrypt)
        auth_encrypt(datagram, DATAGRAM_SEALED_BYTES, size, s->sealer, number);
    else
        auth_seal(c.at, s->sealer, number, datagram, size);
    node_on_datagram(pair->ends[0].node, &from, datagram, size + AUTH_TAG_BYTES, pair->now_us);
}

static void send_raw_frame(struct pair *pair, const uint8_t *bytes, size_t size)
{
    struct peer *peer = pair->ends[1].node->media[MEDIUM_IP].peers[1];

    if (!peer)
        return;
    outbox_append(&peer->session->outbox, bytes, size, NULL, 0);
    node_peer_touch(peer);
}

static void play(struct pair *pair, uint8_t mode, const uint8_t *bytes, size_t size)
{
    struct address from = address_of(7);

    switch ((mode & 0x7f) % 5) {
    case 0:
        node_on_datagram(pair->ends[0].node, &from, bytes, size, pair->now_us);
        break;
    case 1:
        inject_sealed(pair, DATAGRAM_DATA, bytes, size);
        break;
    case 2:
        if (size > 0)
            inject_sealed(pair, bytes[0], bytes + 1, size - 1);
        break;
    case 3:
        send_raw_frame(pair, bytes, size);
        break;
    default:
        if (size > 0 && member_owns(bytes[0]))
            member_on_frame(pair->ends[0].node->member, 2, bytes[0], bytes + 1, size - 1,
                            pair->now_us);
        break;
    }
    run(pair);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pair *pair = create_pair(size > 0 && (data[0] & 0x80) != 0);
    struct cursor c = cursor_reader(data, size);

    while (cursor_left(&c) >= 3) {
        uint8_t mode = cursor_get_u8(&c);
        size_t length = cursor_get_u16(&c);
        const uint8_t *bytes;

        if (length > cursor_left(&c))
            length = cursor_left(&c);
        bytes = cursor_get_view(&c, length);
        play(pair, mode, bytes, length);
    }
    destroy_pair(pair);
    return 0;
}
