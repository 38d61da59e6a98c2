/* links: tests/unit/lib/engine/one_peer.c libcovey-sources */
/*
 * offer_test.c - long messages between two tasks that one process plays, joined by a real ring:
 * each reads the other's memory, which is its own. What goes over the ring is counted, so that it
 * shows which way a message went.
 */
#include "lib/engine/offer.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/calls/recv.h"
#include "lib/calls/send.h"
#include "lib/calls/way.h"
#include "lib/engine/conn.h"
#include "lib/engine/match.h"
#include "lib/engine/order.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/ledger.h"
#include "lib/link/link.h"
#include "lib/link/peek.h"
#include "lib/link/stream.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/message.h"
#include "tests/unit/lib/engine/one_peer.h"
#include "tests/unit/runner.h"

#define HERE_TID 0x40001u
#define THERE_TID 0x40002u
#define LONG_BYTES (1024 * 1024 + 3)
#define FRAMES_BYTES 1024 /* what the ring carries of a message that is read elsewhere, at most */
#define LATER_US 1000000

enum { TAG = 7 };

struct task {
    struct one_peer one;
    struct ledger *ledger;
    int daemon; /* the far end of its stream */
};

struct world {
    struct task a, b; /* a opened the link */
    uint8_t *from, *to;
};

static void task_begin(struct task *t, uint32_t tid, uint32_t peer, struct link *link)
{
    int fd, ends[2];
    one_peer_begin(&t->one, tid, peer, link, COVEY_ROUTE_SHM);
    struct covey *vm = t->one.vm;
    vm->self.host = tid_host(tid);
    vm->memory.buffer_bytes = 16 * 1024 * 1024;
    vm->memory.bytes = (uint64_t)1 << 32;
    vm->memory.file = "/proc/meminfo";
    vm->links.peeking = PEEKING_ALWAYS;
    t->ledger = ledger_create(&fd);
    vm->home.ledger = ledger_open(fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(vm->home.ledger);
    close(fd);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    stream_destroy(vm->home.daemon);
    vm->home.daemon = stream_create(ends[0]);
    vm->home.lost = 0;
    t->daemon = ends[1];
    CU_ASSERT_PTR_NOT_NULL_FATAL(route_state_get(t->one.peer, COVEY_ROUTE_SHM));
    t->one.peer->forced_route = COVEY_ROUTE_SHM;
}

static void task_end(struct task *t)
{
    close(t->daemon);
    ledger_close(t->one.vm->home.ledger);
    ledger_close(t->ledger);
    one_peer_end(&t->one);
}

static void begin(struct world *w)
{
    int memory;
    const char *why;
    struct link *a = link_shm_open(&memory);
    struct link *b = link_shm_accept(memory, eventfd(0, EFD_NONBLOCK), &why);
    CU_ASSERT_FATAL(a != NULL && b != NULL && link_shm_connect(a, eventfd(0, EFD_NONBLOCK)));
    close(memory);
    peek_tell(link_shm_other_memory(a));
    peek_tell(link_shm_other_memory(b));
    task_begin(&w->a, HERE_TID, THERE_TID, a);
    task_begin(&w->b, THERE_TID, HERE_TID, b);
    offer_open(w->a.one.conn, link_shm_other_memory(a));
    offer_open(w->b.one.conn, link_shm_other_memory(b));
    conn_ready_now(w->a.one.conn);
    conn_ready_now(w->b.one.conn);
    w->from = malloc(LONG_BYTES);
    w->to = calloc(1, LONG_BYTES);
    CU_ASSERT_FATAL(w->from != NULL && w->to != NULL);
    for (size_t i = 0; i < LONG_BYTES; i++)
        w->from[i] = (uint8_t)(i * 7 + i / 251);
}

static void end(struct world *w)
{
    task_end(&w->a);
    task_end(&w->b);
    free(w->from);
    free(w->to);
}

static void look(struct task *t)
{
    conn_poll_all(t->one.vm);
    order_settle(t->one.vm);
}

/* Both look until nothing can move. */
static void run(struct world *w)
{
    for (int i = 0; i < 100; i++) {
        look(&w->a);
        look(&w->b);
    }
}

static struct covey_req send_of(struct task *t, const void *base, size_t bytes)
{
    struct covey_req req = {0};
    send_init(&req, &(struct way){.vm = t->one.vm, .tag = TAG});
    CU_ASSERT_EQUAL_FATAL(send_array_init(&req, COVEY_BYTES, base, bytes), COVEY_OK);
    return req;
}

/* The request holds pieces of itself: it may not move from here on. */
static void start(struct task *t, struct covey_req *req)
{
    req->send.msg = &req->send.array_msg;
    req->send.array_msg.own = req->send.array_item;
    req->send.array_msg.segments = req->send.array_segments;
    outgo_queue(t->one.vm, t->one.peer, req);
}

static struct covey_req receive_of(struct task *t, covey_tid_t from, void *base, size_t room)
{
    struct covey_req req;
    const struct way way = {.vm = t->one.vm, .tid = from, .tag = TAG};
    CU_ASSERT_EQUAL_FATAL(receive_init(&req, &way), COVEY_OK);
    if (base != NULL)
        CU_ASSERT_EQUAL_FATAL(receive_into(&req, COVEY_BYTES, base, room), COVEY_OK);
    return req;
}

/* Bytes that a sent over the ring. */
static uint64_t carried(const struct world *w)
{
    return link_shm_there_bytes(w->b.one.conn->link);
}

static void is_here(const struct world *w, const struct covey_req *receive)
{
    CU_ASSERT(receive->done);
    CU_ASSERT_EQUAL(receive->error, COVEY_OK);
    CU_ASSERT_EQUAL(receive->receive.count, LONG_BYTES);
    CU_ASSERT_EQUAL(memcmp(w->to, w->from, LONG_BYTES), 0);
}

static void too_late(struct task *t)
{
    offer_check(t->one.conn, clock_us() + LATER_US);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void a_posted_receive_reads_it(void)
{
    struct world w;
    begin(&w);
    struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
    match_post(w.b.one.vm, &receive);
    start(&w.a, &send);
    CU_ASSERT_FALSE(send.done);
    run(&w);
    is_here(&w, &receive);
    CU_ASSERT(send.done && send.error == COVEY_OK);
    CU_ASSERT(carried(&w) < FRAMES_BYTES);
    end(&w);
}

static void it_waits_without_memory(void)
{
    struct world w;
    begin(&w);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
    start(&w.a, &send);
    run(&w);
    CU_ASSERT_FALSE(send.done);
    CU_ASSERT(w.b.one.vm->inbox.unexpected_bytes < FRAMES_BYTES);
    CU_ASSERT_PTR_NULL(w.b.one.vm->inbox.unexpected->msg);
    struct covey_req probe = receive_of(&w.b, COVEY_ANY_TASK, NULL, 0);
    probe.receive.probe = true;
    match_post(w.b.one.vm, &probe);
    CU_ASSERT(probe.done && probe.info.bytes >= LONG_BYTES);
    struct covey_req receive = receive_of(&w.b, COVEY_ANY_TASK, w.to, LONG_BYTES);
    match_post(w.b.one.vm, &receive);
    run(&w);
    is_here(&w, &receive);
    CU_ASSERT(send.done);
    CU_ASSERT(carried(&w) < FRAMES_BYTES);
    end(&w);
}

static void a_message_object_gets_memory(void)
{
    struct world w;
    begin(&w);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
    struct covey_req receive = receive_of(&w.b, COVEY_ANY_TASK, NULL, 0);
    start(&w.a, &send);
    match_post(w.b.one.vm, &receive);
    run(&w);
    CU_ASSERT_FATAL(receive.done && receive.owned != NULL && send.done);
    CU_ASSERT_EQUAL(receive.owned->size, item_bytes(COVEY_BYTES, LONG_BYTES));
    CU_ASSERT_EQUAL(memcmp(message_bytes(receive.owned) + ITEM_HEADER_BYTES, w.from, LONG_BYTES),
                    0);
    covey_msg_free(receive.owned);
    end(&w);
}

static void nobody_waits_for_a_receiver_that_is_not_there(void)
{
    struct world w;
    begin(&w);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES / 4);
    start(&w.a, &send);
    CU_ASSERT_FALSE(send.done);
    too_late(&w.a); /* b has not looked yet */
    CU_ASSERT(send.done && send.error == COVEY_OK);
    CU_ASSERT(carried(&w) > LONG_BYTES / 4);
    struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
    run(&w);
    match_post(w.b.one.vm, &receive);
    run(&w);
    CU_ASSERT(receive.done && receive.receive.count == LONG_BYTES / 4);
    CU_ASSERT_EQUAL(memcmp(w.to, w.from, LONG_BYTES / 4), 0);
    end(&w);
}

static void an_offer_that_was_seen_is_taken_back(void)
{
    struct world w;
    begin(&w);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
    struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
    start(&w.a, &send);
    run(&w);
    too_late(&w.a);
    match_post(w.b.one.vm, &receive);
    run(&w);
    is_here(&w, &receive);
    CU_ASSERT(send.done);
    CU_ASSERT(carried(&w) > LONG_BYTES);
    end(&w);
}

/* The message before it takes another way and comes later: offer and rest are held. */
static void what_is_held_is_taken_back(void)
{
    struct world w;
    uint8_t payload[FRAME_MESSAGE_BYTES] = {0};
    const struct message_header header = {.representation = representation_native()};
    const struct frame frame = {.length = sizeof payload,
                                .kind = FRAME_DATA,
                                .flags = FRAME_FIRST | FRAME_LAST,
                                .source = HERE_TID,
                                .destination = THERE_TID};
    for (int taken_back = 0; taken_back < 2; taken_back++) {
        begin(&w);
        w.a.one.peer->out.sequence = 1;
        struct covey_req send = send_of(&w.a, w.from, LONG_BYTES / 4);
        struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
        start(&w.a, &send);
        run(&w);
        CU_ASSERT_PTR_NULL(w.b.one.vm->inbox.unexpected);
        if (taken_back)
            too_late(&w.a);
        run(&w);
        receive.tag = TAG;
        match_post(w.b.one.vm, &receive);
        message_header_encode(&header, payload);
        arrival_on_data(w.b.one.vm, &frame, payload); /* tag 0 */
        run(&w);
        CU_ASSERT(receive.done && receive.receive.count == LONG_BYTES / 4);
        CU_ASSERT_EQUAL(memcmp(w.to, w.from, LONG_BYTES / 4), 0);
        CU_ASSERT(send.done);
        end(&w);
    }
}

static void the_next_ones_go_by_the_ring(void)
{
    struct world w;
    begin(&w);
    uint64_t before = 0;
    for (int i = 0; i < 4; i++) { /* taken back, by the ring, taken back, by the ring */
        struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
        struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
        start(&w.a, &send);
        CU_ASSERT_EQUAL(w.a.one.conn->offer.req != NULL, i == 0 || i == 2);
        too_late(&w.a);
        match_post(w.b.one.vm, &receive);
        run(&w);
        is_here(&w, &receive);
        CU_ASSERT(carried(&w) - before > LONG_BYTES);
        before = carried(&w);
    }
    CU_ASSERT_EQUAL(w.a.one.conn->offer.doubt, 3);
    CU_ASSERT_EQUAL(w.a.one.conn->offer.skip, 2);
    end(&w);
}

static void two_that_send_first_both_finish(void)
{
    struct world w;
    begin(&w);
    uint8_t *back = calloc(1, LONG_BYTES);
    struct covey_req there = send_of(&w.a, w.from, LONG_BYTES);
    struct covey_req here = send_of(&w.b, w.from, LONG_BYTES);
    w.a.one.vm->wait.threads = w.b.one.vm->wait.threads = 1;
    start(&w.a, &there);
    start(&w.b, &here);
    run(&w);
    CU_ASSERT(there.done && here.done);
    CU_ASSERT(carried(&w) < FRAMES_BYTES);
    CU_ASSERT(w.b.one.vm->inbox.unexpected_bytes > LONG_BYTES); /* and is counted */
    w.a.one.vm->wait.threads = w.b.one.vm->wait.threads = 0;
    struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
    match_post(w.b.one.vm, &receive);
    is_here(&w, &receive);
    receive = receive_of(&w.a, THERE_TID, back, LONG_BYTES);
    match_post(w.a.one.vm, &receive);
    CU_ASSERT(receive.done && memcmp(back, w.from, LONG_BYTES) == 0);
    CU_ASSERT_EQUAL(w.b.one.vm->inbox.unexpected_bytes, 0);
    free(back);
    end(&w);
}

static void a_task_takes_no_more_than_it_may_keep(void)
{
    struct world w;
    begin(&w);
    struct covey_req there = send_of(&w.a, w.from, LONG_BYTES);
    struct covey_req here = send_of(&w.b, w.from, LONG_BYTES);
    w.b.one.vm->wait.threads = 1;
    w.b.one.vm->memory.buffer_bytes = w.b.one.vm->memory.bytes = LONG_BYTES / 2;
    start(&w.b, &here);
    start(&w.a, &there);
    run(&w);
    CU_ASSERT_FALSE(there.done);
    struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
    match_post(w.b.one.vm, &receive);
    run(&w);
    is_here(&w, &receive);
    CU_ASSERT(there.done);
    too_late(&w.b);
    run(&w);
    CU_ASSERT(here.done);
    end(&w);
}

static void a_receive_without_room_leaves_it(void)
{
    struct world w;
    begin(&w);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
    struct covey_req small = receive_of(&w.b, HERE_TID, w.to, 100);
    struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
    match_post(w.b.one.vm, &small);
    start(&w.a, &send);
    run(&w);
    CU_ASSERT(small.done && small.error == COVEY_ETRUNC);
    CU_ASSERT_FALSE(send.done);
    match_post(w.b.one.vm, &receive);
    run(&w);
    is_here(&w, &receive);
    end(&w);
}

/* Of several slices one is read when the receive is cancelled. */
static void a_cancelled_receive_leaves_it(void)
{
    struct world w;
    begin(&w);
    uint8_t *other = calloc(1, LONG_BYTES);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
    struct covey_req cancelled = receive_of(&w.b, HERE_TID, other, LONG_BYTES);
    struct covey_req again = receive_of(&w.b, HERE_TID, other, LONG_BYTES);
    struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
    start(&w.a, &send);
    look(&w.b);
    match_post(w.b.one.vm, &cancelled);
    CU_ASSERT(match_cancel(w.b.one.vm, &cancelled)); /* before a byte of it is read */
    match_post(w.b.one.vm, &again);
    look(&w.b);
    CU_ASSERT_FALSE(again.done);
    CU_ASSERT(match_cancel(w.b.one.vm, &again));
    match_post(w.b.one.vm, &receive);
    run(&w);
    is_here(&w, &receive);
    CU_ASSERT(send.done);
    CU_ASSERT(carried(&w) < FRAMES_BYTES);
    free(other);
    end(&w);
}

static void what_cannot_be_read_comes_by_the_ring(void)
{
    struct world w;
    begin(&w);
    w.b.one.conn->peek->other_nonce[0] ^= 1; /* as if it were another process by now */
    for (int i = 0; i < 2; i++) {
        struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
        struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
        uint64_t before = carried(&w);
        memset(w.to, 0, LONG_BYTES);
        match_post(w.b.one.vm, &receive);
        start(&w.a, &send);
        CU_ASSERT_EQUAL(w.a.one.conn->offer.req == NULL, i == 1); /* never again on that link */
        run(&w);
        is_here(&w, &receive);
        CU_ASSERT(send.done && carried(&w) - before > LONG_BYTES);
    }
    end(&w);
}

static void the_rest_comes_by_the_ring(void)
{
    struct world w;
    begin(&w);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
    struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
    match_post(w.b.one.vm, &receive);
    start(&w.a, &send);
    look(&w.b); /* a slice */
    CU_ASSERT_FALSE(receive.done);
    w.b.one.conn->peek->other_nonce[0] ^= 1;
    run(&w);
    is_here(&w, &receive);
    CU_ASSERT(send.done && carried(&w) > FRAMES_BYTES && carried(&w) < LONG_BYTES);
    end(&w);
}

static void a_send_that_fails_takes_its_array_back(void)
{
    struct world w;
    begin(&w);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
    struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
    match_post(w.b.one.vm, &receive);
    start(&w.a, &send);
    look(&w.b); /* a slice */
    outgo_fail(w.a.one.vm, w.a.one.peer, COVEY_EDAEMON, "lost");
    CU_ASSERT(send.done && send.error == COVEY_EDAEMON);
    memset(w.from, 0xee, LONG_BYTES); /* the program's again */
    run(&w);
    CU_ASSERT_FALSE(receive.done && receive.error == COVEY_OK);
    CU_ASSERT(w.b.one.conn->closed);
    match_cancel(w.b.one.vm, &receive);
    end(&w);
}

static void what_was_read_is_sent(void)
{
    struct world w;
    begin(&w);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
    struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
    match_post(w.b.one.vm, &receive);
    start(&w.a, &send);
    for (int i = 0; i < 10; i++)
        look(&w.b);
    is_here(&w, &receive);
    outgo_fail(w.a.one.vm, w.a.one.peer, COVEY_ENOTASK, "gone"); /* a has not looked */
    CU_ASSERT(send.done && send.error == COVEY_OK);
    end(&w);
}

static void messages_keep_their_order(void)
{
    struct world w;
    begin(&w);
    uint8_t little[3] = {0};
    struct covey_req first = send_of(&w.a, w.from, 1), second = send_of(&w.a, w.from, LONG_BYTES);
    struct covey_req third = send_of(&w.a, w.from + 2, 1);
    struct covey_req receives[3];
    start(&w.a, &first);
    start(&w.a, &second);
    start(&w.a, &third);
    for (int i = 0; i < 3; i++)
        receives[i] = receive_of(&w.b, HERE_TID, i == 1 ? w.to : &little[i], LONG_BYTES);
    for (int i = 0; i < 3; i++)
        match_post(w.b.one.vm, &receives[i]);
    run(&w);
    is_here(&w, &receives[1]);
    CU_ASSERT(receives[0].done && receives[0].receive.count == 1 && little[0] == w.from[0]);
    CU_ASSERT(receives[2].done && receives[2].receive.count == 1 && little[2] == w.from[2]);
    CU_ASSERT(first.done && second.done && third.done);
    end(&w);
}

static void a_state_of_nonsense_breaks_the_link(void)
{
    static const uint64_t states[] = {0, UINT64_MAX, 1 << 3 | 6, 2 << 3 | PEEK_DONE,
                                      1 << 3 | PEEK_BACK};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        struct world w;
        begin(&w);
        struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
        start(&w.a, &send);
        atomic_store(&w.a.one.conn->peek->own->state, states[i]);
        look(&w.a);
        CU_ASSERT(w.a.one.conn->closed);
        outgo_fail(w.a.one.vm, w.a.one.peer, COVEY_EROUTE, "broken");
        CU_ASSERT(send.done);
        end(&w);
    }
}

static void more_than_was_offered_is_not_believed(void)
{
    struct world w;
    begin(&w);
    struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
    start(&w.a, &send);
    CU_ASSERT(peek_take(w.b.one.conn->peek, 1));
    peek_copied(w.b.one.conn->peek, LONG_BYTES + 100);
    peek_refuse(w.b.one.conn->peek, 1);
    look(&w.a);
    CU_ASSERT(w.a.one.conn->closed);
    outgo_fail(w.a.one.vm, w.a.one.peer, COVEY_EROUTE, "broken");
    end(&w);
}

/* An offer whose pieces are not as many bytes as its message has. */
static void an_offer_of_other_sizes_breaks_the_link(void)
{
    static const uint64_t sizes[] = {0, 1, 20000 - 17, 20000 - 15, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct world w;
        uint8_t payload[OFFER_BYTES_MAX] = {0};
        const struct message_header header = {.size = 20000,
                                              .representation = representation_native()};
        struct control_offer offer = {
            .number = 1, .count = 1, .pieces = {{(uint64_t)(uintptr_t)&w, sizes[i]}}};
        begin(&w);
        message_header_encode(&header, payload);
        struct cursor c = cursor_writer(payload + OFFER_HEAD_BYTES, OFFER_BYTES_MAX - 48);
        control_put_offer(&c, &offer);
        conn_put_control(w.a.one.conn, FRAME_OFFER, payload, (size_t)(c.at - payload));
        look(&w.b);
        CU_ASSERT(w.b.one.conn->closed);
        end(&w);
    }
}

static void short_ones_and_many_pieces_go_by_the_ring(void)
{
    struct world w;
    begin(&w);
    struct covey_req send = send_of(&w.a, w.from, 1000);
    start(&w.a, &send);
    CU_ASSERT(send.done);
    covey_msg_t *msg = covey_msg_new();
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL_FATAL(covey_pack_inplace(msg, COVEY_BYTES, w.from, 8000), COVEY_OK);
    struct covey_req pieces = {0};
    send_init(&pieces, &(struct way){.vm = w.a.one.vm, .tag = TAG});
    pieces.send.msg = msg;
    outgo_queue(w.a.one.vm, w.a.one.peer, &pieces);
    CU_ASSERT(pieces.done);
    covey_msg_free(msg);
    end(&w);
}

static void the_faster_way_is_taken(void)
{
    struct world w;
    begin(&w);
    w.a.one.vm->links.peeking = PEEKING_WHERE_FASTER;
    int offered = 0;
    for (int i = 0; i < 40; i++) {
        struct covey_req send = send_of(&w.a, w.from, LONG_BYTES);
        struct covey_req receive = receive_of(&w.b, HERE_TID, w.to, LONG_BYTES);
        match_post(w.b.one.vm, &receive);
        start(&w.a, &send);
        offered += w.a.one.conn->offer.req != NULL;
        run(&w);
        CU_ASSERT(receive.done && send.done);
    }
    CU_ASSERT(offered == 4 || offered == 36); /* both ways are tried, then it is one of them */
    end(&w);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a posted receive reads it", a_posted_receive_reads_it},
        {"it waits without memory", it_waits_without_memory},
        {"a message object gets memory", a_message_object_gets_memory},
        {"nobody waits for a receiver that is not there",
         nobody_waits_for_a_receiver_that_is_not_there},
        {"an offer that was seen is taken back", an_offer_that_was_seen_is_taken_back},
        {"what is held is taken back", what_is_held_is_taken_back},
        {"the next ones go by the ring", the_next_ones_go_by_the_ring},
        {"two that send first both finish", two_that_send_first_both_finish},
        {"a task takes no more than it may keep", a_task_takes_no_more_than_it_may_keep},
        {"a receive without room leaves it", a_receive_without_room_leaves_it},
        {"a cancelled receive leaves it", a_cancelled_receive_leaves_it},
        {"what cannot be read comes by the ring", what_cannot_be_read_comes_by_the_ring},
        {"the rest comes by the ring", the_rest_comes_by_the_ring},
        {"a send that fails takes its array back", a_send_that_fails_takes_its_array_back},
        {"what was read is sent", what_was_read_is_sent},
        {"messages keep their order", messages_keep_their_order},
        {"a state of nonsense breaks the link", a_state_of_nonsense_breaks_the_link},
        {"more than was offered is not believed", more_than_was_offered_is_not_believed},
        {"an offer of other sizes breaks the link", an_offer_of_other_sizes_breaks_the_link},
        {"short ones and many pieces go by the ring", short_ones_and_many_pieces_go_by_the_ring},
        {"the faster way is taken", the_faster_way_is_taken},
    };
    return covey_test_main("offer", cases, sizeof cases / sizeof cases[0]);
}
