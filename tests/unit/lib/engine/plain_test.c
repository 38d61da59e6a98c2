/* links: tests/unit/lib/engine/one_peer.c libcovey-sources */
/*
 * plain_test.c - short arrays between two tasks of one host: they go and come at once where nothing
 * is in their way; where anything is, nothing happens and the long way finds all as it was. The
 * rings are real; a test writes into their far ends, and reads there.
 */
#include <CUnit/CUnit.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/calls/send.h"
#include "lib/engine/brief.h"
#include "lib/engine/conn.h"
#include "lib/engine/match.h"
#include "lib/engine/peer.h"
#include "lib/engine/plain.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/ledger.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/member/vm.h"
#include "lib/msg/message.h"
#include "tests/unit/lib/engine/one_peer.h"
#include "tests/unit/runner.h"

#define OWN_TID 0x40001u
#define FIRST_TID 0x40002u
#define SECOND_TID 0x40003u
#define TAG 7
#define CONTEXT 0

struct world {
    struct one_peer one; /* the task, with the first peer */
    struct ledger *ledger;
    int daemon;                  /* the far end of its stream */
    struct link *first, *second; /* the far ends */
    struct conn *other;          /* to the second */
    struct plain_receive what;
    int32_t got[4];
};

static struct link *pair_of_rings(struct link **far)
{
    int memory;
    const char *why;
    *far = link_shm_open(&memory);
    CU_ASSERT_PTR_NOT_NULL_FATAL(*far);
    CU_ASSERT_FATAL(link_shm_connect(*far, eventfd(0, EFD_NONBLOCK)));
    struct link *near = link_shm_accept(memory, eventfd(0, EFD_NONBLOCK), &why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(near);
    close(memory);
    return near;
}

static void begin(struct world *w)
{
    int fd, ends[2];
    memset(w, 0, sizeof *w);
    one_peer_begin(&w->one, OWN_TID, FIRST_TID, pair_of_rings(&w->first), COVEY_ROUTE_SHM);
    struct covey *vm = w->one.vm;
    vm->self.host = tid_host(OWN_TID);
    vm->memory.bytes = 1 << 30;
    w->ledger = ledger_create(&fd);
    vm->home.ledger = ledger_open(fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(vm->home.ledger);
    close(fd);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    stream_destroy(vm->home.daemon);
    vm->home.lost = 0; /* there was no daemon until now */
    vm->home.daemon = stream_create(ends[0]);
    w->daemon = ends[1];
    route_state_get(w->one.peer, COVEY_ROUTE_SHM)->conn = w->one.conn;
    conn_ready_now(w->one.conn);
    w->one.peer->out.carrier = w->one.conn;
    w->other =
        conn_create(vm, pair_of_rings(&w->second), peer_get(vm, SECOND_TID), COVEY_ROUTE_SHM);
    conn_ready_now(w->other);
    w->what = (struct plain_receive){.vm = vm,
                                     .tid = FIRST_TID,
                                     .tag = TAG,
                                     .context = CONTEXT,
                                     .type = COVEY_INT32,
                                     .base = w->got,
                                     .capacity = 4};
}

static void end(struct world *w)
{
    for (struct conn *conn = w->one.vm->links.conns; conn != NULL; conn = conn->next)
        conn_close(w->one.vm, conn, false);
    ledger_close(w->one.vm->home.ledger);
    ledger_close(w->ledger);
    w->first->ops->free(w->first);
    w->second->ops->free(w->second);
    close(w->daemon);
    one_peer_end(&w->one);
}

/* ---- receiving ------------------------------------------------------------------------------- */

static const int32_t numbers[3] = {1, -2, 3};
static const struct brief good = {.type = COVEY_INT32, .padding = 4, .size = 16, .tag = TAG};

#define MESSAGE_BYTES (BRIEF_STAMPED_BYTES + 16)

static void message(uint8_t bytes[MESSAGE_BYTES], const struct brief *brief)
{
    struct brief b = *brief;
    b.representation = b.representation != 0 ? b.representation : representation_native();
    memset(bytes, 0, MESSAGE_BYTES);
    brief_encode(&b, bytes);
    brief_stamp_put(bytes, 1000);
    memcpy(bytes + BRIEF_STAMPED_BYTES, numbers, sizeof numbers);
}

static void put(struct link *far, const void *bytes, size_t size)
{
    union {
        const void *from;
        void *base;
    } u = {.from = bytes};
    const struct iovec iov = {u.base, size};
    CU_ASSERT_EQUAL(far->ops->send(far, &iov, 1), (ssize_t)size);
}

static void put_brief(struct link *far, const struct brief *brief)
{
    uint8_t bytes[MESSAGE_BYTES];
    message(bytes, brief);
    put(far, bytes, sizeof bytes);
}

static bool takes(struct world *w)
{
    return plain_may_take(&w->what) && plain_take(&w->what) > 0;
}

static void a_message_that_is_there_is_taken(void)
{
    struct world w;
    begin(&w);
    struct peer *peer = w.one.peer;
    CU_ASSERT_EQUAL(plain_take(&w.what), 0);
    for (uint32_t i = 0; i < 3; i++) {
        struct brief brief = good;
        brief.sequence = i;
        put_brief(w.first, &brief);
    }
    w.what.tid = COVEY_ANY_TASK;
    for (uint64_t i = 0; i < 3; i++) {
        memset(w.got, 0, sizeof w.got);
        CU_ASSERT(takes(&w));
        CU_ASSERT(w.what.count == 3 && memcmp(w.got, numbers, sizeof numbers) == 0);
        CU_ASSERT_EQUAL(w.got[3], 0); /* no padding */
        CU_ASSERT(w.what.info.source == (covey_tid_t)FIRST_TID && w.what.info.tag == TAG);
        CU_ASSERT_EQUAL(w.what.info.bytes, item_bytes(COVEY_INT32, 3));
        CU_ASSERT_EQUAL(peer->in.sequence, i + 1);
        CU_ASSERT_EQUAL(peer->in.received_bytes,
                        (i + 1) * (FRAME_MESSAGE_BYTES + item_bytes(COVEY_INT32, 3)));
    }
    CU_ASSERT_FALSE(takes(&w));
    CU_ASSERT_EQUAL(w.one.vm->order.stamp, 1000);
    end(&w);
}

static struct covey_req other_req;

static void wrong_tag(struct world *w)
{
    w->what.tag = TAG + 1;
}
static void wrong_context(struct world *w)
{
    w->what.context = 5;
}
static void wrong_type(struct world *w)
{
    w->what.type = COVEY_FLOAT;
}
static void wrong_sender(struct world *w)
{
    w->what.tid = SECOND_TID;
}
static void no_room(struct world *w)
{
    w->what.capacity = 2;
}
static void lost_home(struct world *w)
{
    w->one.vm->home.lost = COVEY_EDAEMON;
}
static void parked(struct world *w)
{
    w->one.vm->order.parked = 1;
}
static void held_sends(struct world *w)
{
    w->one.vm->out.sending = w->one.peer;
}
static void another_thread(struct world *w)
{
    w->one.vm->wait.threads = 1;
}
static void due(struct world *w)
{
    w->one.vm->wait.due = 1;
}
static void posted(struct world *w)
{
    w->one.vm->inbox.posted = &other_req;
}
static void cut(struct world *w)
{
    w->one.peer->in.cut = true;
}
static void ended(struct world *w)
{
    w->one.peer->leaving = true;
}
static void later(struct world *w)
{
    w->one.peer->in.sequence = UINT64_MAX;
}
static void announced(struct world *w)
{
    link_shm_announce(w->second, 5);
}
static void another_ring(struct world *w)
{
    put(w->second, numbers, 1);
}
static void daemon_has_some(struct world *w)
{
    ledger_set_queued(w->ledger, 1);
}

static void what_is_in_the_way_leaves_all_as_it_was(void)
{
    static void (*const ways[])(struct world *) = {
        wrong_tag, wrong_context, wrong_type, wrong_sender, no_room,        lost_home,
        parked,    due,           held_sends, posted,       another_thread, cut,
        ended,     later,         announced,  another_ring, daemon_has_some};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct world w;
        begin(&w);
        put_brief(w.first, &good);
        struct covey before = *w.one.vm;
        ways[i](&w);
        uint64_t sequence = w.one.peer->in.sequence;
        CU_ASSERT(!plain_may_take(&w.what) || plain_take(&w.what) < 0);
        CU_ASSERT_EQUAL(w.one.peer->in.sequence, sequence);
        CU_ASSERT_EQUAL(link_shm_waiting(w.one.conn->link, 1), MESSAGE_BYTES);
        CU_ASSERT_EQUAL(w.one.vm->order.stamp, before.order.stamp);
        w.one.vm->home.lost = 0;
        w.one.vm->order.parked = w.one.vm->wait.due = w.one.vm->wait.threads = 0;
        w.one.vm->out.sending = NULL;
        w.one.vm->inbox.posted = NULL;
        w.one.peer->leaving = false;
        end(&w);
    }
}

/* Who waits for a frame of raw Ethernet must not look at rings first. */
static void what_comes_by_no_ring_is_not_waited_for_there(void)
{
    struct world w;
    begin(&w);
    CU_ASSERT(plain_may_take(&w.what));
    w.what.tid = COVEY_ANY_TASK;
    CU_ASSERT(plain_may_take(&w.what));
    w.one.vm->links.looked_count++; /* a link that is no ring */
    CU_ASSERT_FALSE(plain_may_take(&w.what));
    w.what.tid = SECOND_TID;
    CU_ASSERT(plain_may_take(&w.what));
    w.one.vm->links.looked_count--;
    w.what.tid = SECOND_TID + 1;
    CU_ASSERT_FALSE(plain_may_take(&w.what));
    end(&w);
}

/* The other task writes what it likes into the ring. */
static void damage_is_left_to_the_long_way(void)
{
    for (size_t at = 0; at < BRIEF_STAMPED_BYTES; at++) {
        for (int bit = 0; bit < 8; bit++) {
            uint8_t bytes[MESSAGE_BYTES];
            struct world w;
            begin(&w);
            message(bytes, &good);
            bytes[at] ^= (uint8_t)(1 << bit);
            w.what.capacity = 3; /* without its padding it would be a message of four */
            put(w.first, bytes, sizeof bytes);
            bool stamp = at >= FRAME_HEADER_BYTES; /* any will do */
            CU_ASSERT_EQUAL(takes(&w), stamp);
            end(&w);
        }
    }
    for (size_t size = 0; size < MESSAGE_BYTES; size++) {
        uint8_t bytes[MESSAGE_BYTES];
        struct world w;
        begin(&w);
        message(bytes, &good);
        put(w.first, bytes, size);
        CU_ASSERT_FALSE(takes(&w));
        put(w.first, bytes + size, sizeof bytes - size);
        CU_ASSERT(takes(&w));
        end(&w);
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

static const struct plain_send to_first = {
    .tid = FIRST_TID, .tag = TAG, .type = COVEY_INT32, .context = 9, .base = numbers, .count = 3};

/* As the long way does it, with the same counts. */
static void what_goes_at_once_is_what_goes_the_long_way(void)
{
    uint8_t plain[2 * MESSAGE_BYTES], other[2 * MESSAGE_BYTES];
    struct world a, b;
    begin(&a);
    begin(&b);
    struct covey_req req = {.vm = b.one.vm, .peer = b.one.peer, .tag = TAG, .context = 9};
    CU_ASSERT(plain_send(a.one.vm, &to_first));
    CU_ASSERT_EQUAL(send_array_init(&req, COVEY_INT32, numbers, 3), COVEY_OK);
    CU_ASSERT_EQUAL(send_start(b.one.vm, &req, FIRST_TID), COVEY_OK);
    CU_ASSERT(req.done);
    CU_ASSERT_EQUAL(a.first->ops->recv(a.first, plain, sizeof plain), MESSAGE_BYTES);
    CU_ASSERT_EQUAL(b.first->ops->recv(b.first, other, sizeof other), MESSAGE_BYTES);
    memset(plain + FRAME_HEADER_BYTES, 0, BRIEF_STAMP_BYTES);
    memset(other + FRAME_HEADER_BYTES, 0, BRIEF_STAMP_BYTES);
    CU_ASSERT(memcmp(plain, other, MESSAGE_BYTES) == 0);
    const struct peer_out *x = &a.one.peer->out, *y = &b.one.peer->out;
    CU_ASSERT(x->sequence == y->sequence && x->sent_bytes == y->sent_bytes);
    CU_ASSERT_EQUAL(x->traffic_bytes, y->traffic_bytes);
    CU_ASSERT_EQUAL(a.one.vm->links.written_bytes, b.one.vm->links.written_bytes);
    CU_ASSERT(a.one.conn->out.run_first == b.one.conn->out.run_first &&
              a.one.conn->out.run_next == b.one.conn->out.run_next);
    end(&a);
    end(&b);
}

static void queued_send(struct world *w)
{
    w->one.peer->out.sends = &other_req;
}
static void grant(struct world *w)
{
    w->one.peer->in.grant_due = true;
}
static void no_credit(struct world *w)
{
    w->one.peer->out.credit_bytes = MESSAGE_BYTES;
}
static void by_daemon(struct world *w)
{
    w->one.peer->forced_route = COVEY_ROUTE_UDP;
}
static void another_carrier(struct world *w)
{
    w->one.peer->out.carrier = NULL;
}
static void broken(struct world *w)
{
    w->one.peer->broken_at_us = 1;
}
static void half_out(struct world *w)
{
    w->one.conn->out.body_left = 1;
}
static void daemon_has_ours(struct world *w)
{
    w->one.vm->order.home_mark = 1;
}
static void full(struct world *w)
{
    static char bytes[1024 * 1024 - MESSAGE_BYTES + 1];
    const struct iovec iov = {bytes, sizeof bytes};
    w->one.conn->link->ops->send(w->one.conn->link, &iov, 1);
}

static void what_cannot_go_at_once_goes_the_long_way(void)
{
    static void (*const ways[])(struct world *) = {
        queued_send, grant,     no_credit,       by_daemon, another_carrier, broken, half_out,
        ended,       lost_home, daemon_has_ours, full};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct world w;
        begin(&w);
        ways[i](&w);
        CU_ASSERT_FALSE(plain_send(w.one.vm, &to_first));
        CU_ASSERT(w.one.peer->out.sequence == 0 && w.one.peer->out.sent_bytes == 0);
        w.one.peer->out.sends = NULL;
        w.one.peer->leaving = false;
        w.one.conn->out.body_left = 0;
        w.one.vm->home.lost = 0;
        end(&w);
    }
}

static void what_is_wrong_or_long_goes_the_long_way(void)
{
    static char bytes[PLAIN_BYTES_MAX + 1];
    struct world w;
    begin(&w);
    struct plain_send what = to_first;
    what.tag = -1;
    CU_ASSERT_FALSE(plain_send(w.one.vm, &what));
    what = to_first;
    what.tid = OWN_TID;
    CU_ASSERT_FALSE(plain_send(w.one.vm, &what));
    what = to_first;
    what.type = 200;
    CU_ASSERT_FALSE(plain_send(w.one.vm, &what));
    what = to_first;
    what.base = NULL;
    CU_ASSERT_FALSE(plain_send(w.one.vm, &what));
    what.count = 0;
    CU_ASSERT(plain_send(w.one.vm, &what));
    what = (struct plain_send){
        .tid = FIRST_TID, .type = COVEY_BYTES, .base = bytes, .count = sizeof bytes};
    CU_ASSERT_FALSE(plain_send(w.one.vm, &what));
    what.count--;
    CU_ASSERT(plain_send(w.one.vm, &what));
    what.count = SIZE_MAX / 2;
    what.type = COVEY_DOUBLE;
    CU_ASSERT_FALSE(plain_send(w.one.vm, &what));
    end(&w);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a message that is there is taken", a_message_that_is_there_is_taken},
        {"what is in the way leaves all as it was", what_is_in_the_way_leaves_all_as_it_was},
        {"what comes by no ring is not waited for there",
         what_comes_by_no_ring_is_not_waited_for_there},
        {"damage is left to the long way", damage_is_left_to_the_long_way},
        {"what goes at once is what goes the long way",
         what_goes_at_once_is_what_goes_the_long_way},
        {"what cannot go at once goes the long way", what_cannot_go_at_once_goes_the_long_way},
        {"what is wrong or long goes the long way", what_is_wrong_or_long_goes_the_long_way},
    };
    return covey_test_main("plain", cases, sizeof cases / sizeof cases[0]);
}
