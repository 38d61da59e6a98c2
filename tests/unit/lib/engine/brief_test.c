/* links: tests/unit/lib/engine/one_peer.c libcovey-sources */
/*
 * Brief headers: messages of one array go with one and come as they were; what has none goes with
 * the long ones; hostile ones end the link. The link is a stub that gives back what it was sent.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "lib/calls/send.h"
#include "lib/engine/arrival.h"
#include "lib/engine/brief.h"
#include "lib/engine/conn.h"
#include "lib/engine/match.h"
#include "lib/engine/req.h"
#include "lib/link/link.h"
#include "lib/member/routes.h"
#include "lib/msg/message.h"
#include "tests/unit/lib/engine/one_peer.h"
#include "tests/unit/runner.h"

#define OTHER_TID 0x80003u
#define BYTES_MAX (FRAME_PAYLOAD_MAX + 64)

struct stub {
    struct link base;
    uint8_t bytes[BYTES_MAX];
    size_t at, end;
};

static ssize_t stub_send(struct link *link, const struct iovec *iov, int count)
{
    struct stub *s = (struct stub *)link;
    size_t before = s->end;
    for (int i = 0; i < count; i++) {
        memcpy(s->bytes + s->end, iov[i].iov_base, iov[i].iov_len);
        s->end += iov[i].iov_len;
    }
    return (ssize_t)(s->end - before);
}

static ssize_t stub_recv(struct link *link, void *bytes, size_t size)
{
    struct stub *s = (struct stub *)link;
    size = size < s->end - s->at ? size : s->end - s->at;
    memcpy(bytes, s->bytes + s->at, size);
    s->at += size;
    return (ssize_t)size;
}

static int stub_ready(struct link *link)
{
    (void)link;
    return 1;
}

static const struct link_ops stub_ops = {.name = "stub",
                                         .send = stub_send,
                                         .recv = stub_recv,
                                         .arm = one_peer_no_arm,
                                         .fd = one_peer_no_fd,
                                         .ready = stub_ready,
                                         .free = one_peer_no_free};

struct task {
    struct one_peer one;
    struct stub stub;
};

static struct task *begin(int route)
{
    struct task *t = calloc(1, sizeof *t);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    t->stub.base.ops = &stub_ops;
    one_peer_begin(&t->one, OTHER_TID, OTHER_TID, &t->stub.base, route); /* it is its own peer */
    conn_ready_now(t->one.conn);
    return t;
}

static void end(struct task *t)
{
    one_peer_end(&t->one);
    free(t);
}

/* Sends a message and reads it again; returns the bytes that it took on the link. */
static size_t pass(struct task *t, const struct covey_msg *msg, uint64_t sequence)
{
    struct covey_req req = {
        .vm = t->one.vm, .peer = t->one.peer, .tag = -7, .queued = true, .send.msg = msg};
    uint8_t whole[BYTES_MAX];
    size_t before = t->stub.end = t->stub.at = 0;

    req.send.sequence = t->one.peer->in.sequence = sequence;
    req.send.stamp = routes[t->one.conn->route].ring ? 77 : 0;
    conn_put_data(t->one.conn, &req, (size_t)msg->size);
    CU_ASSERT(req.done && req.error == COVEY_OK);
    size_t bytes = t->stub.end - before;
    conn_read(t->one.vm, t->one.conn);
    CU_ASSERT(!t->one.conn->closed);
    CU_ASSERT_EQUAL(t->one.peer->in.sequence, sequence + 1);
    struct arrival *a = t->one.vm->inbox.unexpected;
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT(a->complete && a->info.tag == -7 && a->info.bytes == msg->size);
    CU_ASSERT_EQUAL(a->representation, msg->representation);
    message_copy(msg, 0, whole, (size_t)msg->size);
    CU_ASSERT(memcmp(whole, message_bytes(a->msg), (size_t)msg->size) == 0);
    match_free(t->one.vm, a);
    return bytes;
}

static void arrays_of_all_types_pass(int route)
{
    static const uint8_t data[64 * 16] = {1, 2, 3, 4, 5};
    struct task *t = begin(route);
    const uint64_t stamp = routes[route].ring ? BRIEF_STAMP_BYTES : 0;
    for (int type = 0; type < 256; type++) {
        for (size_t count = 0; count < 64 && covey_type_size(type) > 0; count++) {
            struct covey_req req = {0};
            CU_ASSERT_EQUAL(send_array_init(&req, type, data, count), COVEY_OK);
            CU_ASSERT_EQUAL(pass(t, req.send.msg, count), item_bytes(type, count) + stamp);
            req.send.array_msg.representation = REPRESENTATION_BIG;
            CU_ASSERT_EQUAL(pass(t, req.send.msg, count + 1), item_bytes(type, count) + stamp);
        }
    }
    end(t);
}

static void arrays_of_all_types_come_as_they_were(void)
{
    arrays_of_all_types_pass(COVEY_ROUTE_TCP);
    arrays_of_all_types_pass(COVEY_ROUTE_SHM);
}

static void the_longest_fills_a_frame(void)
{
    static uint8_t data[FRAME_PAYLOAD_MAX];
    struct task *t = begin(COVEY_ROUTE_TCP);
    struct covey_req req = {0};
    send_array_init(&req, COVEY_BYTES, data, BRIEF_SIZE_MAX);
    CU_ASSERT_EQUAL(pass(t, req.send.msg, 0), BRIEF_SIZE_MAX + FRAME_HEADER_BYTES);
    send_array_init(&req, COVEY_BYTES, data, BRIEF_SIZE_MAX + 1);
    CU_ASSERT_EQUAL(brief_put(t->one.conn, &req), 0);
    end(t);
}

static void numbers_are_whole_again(void)
{
    static const uint64_t numbers[] = {0,           0x7fffffff,  0x80000000,    0xffffffff,
                                       0x100000000, 0x1ffffffff, UINT64_MAX - 1};
    static const uint8_t data[8];
    struct task *t = begin(COVEY_ROUTE_TCP);
    struct covey_req req = {0};
    send_array_init(&req, COVEY_BYTES, data, sizeof data);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        pass(t, req.send.msg, numbers[i]);
    end(t);
}

/* Two items; and what has a stamp, but by a stream. */
static void others_have_long_headers(void)
{
    covey_msg_t *msg = covey_msg_new();
    const int32_t number = 1;
    struct task *t = begin(COVEY_ROUTE_TCP);
    struct covey_req req = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(msg);
    covey_pack(msg, COVEY_INT32, &number, 1, 1);
    covey_pack(msg, COVEY_INT32, &number, 1, 1);
    CU_ASSERT_EQUAL(pass(t, msg, 0), msg->size + FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES);
    covey_msg_free(msg);
    end(t);

    t = begin(COVEY_ROUTE_TCP);
    send_array_init(&req, COVEY_INT32, &number, 1);
    req.send.stamp = 1;
    CU_ASSERT_EQUAL(brief_put(t->one.conn, &req), 0);
    end(t);
}

static void hostile_ones_end_the_link(void)
{
    static const struct {
        int at;
        uint8_t value;
        const char *why;
    } rungs[] = {
        {0, 0x90, "marks"}, {0, 0xff, "marks"},    {0, 0x87, "padding"},  {1, 0, "type"},
        {0, 0xc0, "marks"}, /* a stamp, on a stream */
        {1, 200, "type"},   {0, 0x81, "no array"}, {2, 0xff, "SIZE_MAX"}, {3, 3, "no array"},
    };
    const struct brief good = {.type = COVEY_INT32, .representation = 1, .size = 4};
    for (size_t i = 0; i < sizeof rungs / sizeof rungs[0]; i++) {
        struct task *t = begin(COVEY_ROUTE_TCP);
        brief_encode(&good, t->stub.bytes);
        t->stub.bytes[rungs[i].at] = rungs[i].value;
        t->stub.bytes[3] = rungs[i].at == 2 ? 0xff : t->stub.bytes[3];
        t->stub.end = FRAME_HEADER_BYTES + 4;
        conn_read(t->one.vm, t->one.conn);
        CU_ASSERT(t->one.conn->closed);
        CU_ASSERT_PTR_NOT_NULL_FATAL(t->stub.base.error);
        CU_ASSERT_PTR_NOT_NULL(strstr(t->stub.base.error, rungs[i].why));
        end(t);
    }
}

/* In a ring, whose other end may write what it likes. */
static void one_without_a_stamp_ends_a_ring(void)
{
    const struct brief good = {.type = COVEY_INT32, .representation = 1, .size = 4};
    for (int stamped = 0; stamped < 2; stamped++) {
        struct task *t = begin(COVEY_ROUTE_SHM);
        brief_encode(&good, t->stub.bytes);
        if (stamped)
            brief_stamp_put(t->stub.bytes, 0);
        t->stub.end = BRIEF_STAMPED_BYTES + 4;
        conn_read(t->one.vm, t->one.conn);
        CU_ASSERT(t->one.conn->closed);
        CU_ASSERT_PTR_NOT_NULL_FATAL(t->stub.base.error);
        CU_ASSERT_PTR_NOT_NULL(strstr(t->stub.base.error, "stamp"));
        end(t);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"arrays of all types come as they were", arrays_of_all_types_come_as_they_were},
        {"the longest fills a frame", the_longest_fills_a_frame},
        {"numbers are whole again", numbers_are_whole_again},
        {"others have long headers", others_have_long_headers},
        {"hostile ones end the link", hostile_ones_end_the_link},
        {"one without a stamp ends a ring", one_without_a_stamp_ends_a_ring},
    };
    return covey_test_main("brief", cases, sizeof cases / sizeof cases[0]);
}
