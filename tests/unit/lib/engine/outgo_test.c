/* links: proto/wire/contention_config.c lib/engine/outgo.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c proto/wire/frame.c proto/wire/cursor.c lib/member/trace.c lib/link/trace_ring.c lib/link/shared_memory.c proto/trace/trace_pack.c */
/*
 * What is no part of a message on its way out: credit and hand-overs of schedules, over a link or
 * the daemon, and without memory. Links, the daemon's stream and requests are stubs that note what
 * they get.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "lib/engine/bulk.h"
#include "lib/engine/conn.h"
#include "lib/engine/offer.h"
#include "lib/engine/order.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "tests/unit/memory.h"
#include "tests/unit/runner.h"

/* ---- the world around ------------------------------------------------------------------------ */

static bool memory_gone;

static bool memory_fails(size_t size)
{
    (void)size;
    return memory_gone;
}

/* The frames that went, in order, and by which way. */
static struct {
    uint8_t kind;
    bool by_link;
    uint8_t payload[16];
} noted[8];
static int noted_count;
static bool link_busy, daemon_full;
static struct conn *chosen; /* the link that messages take; NULL: they wait */
static bool opening_fails;  /* at once, and with it the route */
static int finished;

static void note(uint8_t kind, bool by_link, const uint8_t *payload, size_t size)
{
    if (noted_count == 8 || size > sizeof noted[0].payload)
        return;
    noted[noted_count].kind = kind;
    noted[noted_count].by_link = by_link;
    memcpy(noted[noted_count++].payload, payload, size);
}

bool offer_put(struct conn *conn, struct covey_req *req)
{
    (void)conn, (void)req;
    return false;
}

bool conn_flush(struct conn *conn)
{
    (void)conn;
    return !link_busy;
}

void conn_put_control(struct conn *conn, uint8_t kind, const uint8_t *payload, size_t size)
{
    (void)conn;
    note(kind, true, payload, size);
}

uint64_t order_stamp(struct covey *vm, const struct peer *peer)
{
    (void)vm, (void)peer;
    return 0;
}

void order_note_home(struct covey *vm, const struct peer *peer)
{
    (void)vm, (void)peer;
}

void order_announced(struct covey_req *req)
{
    (void)req;
}

struct frame home_frame(const struct covey *vm, uint8_t kind, uint32_t destination, size_t size)
{
    (void)vm;
    return (struct frame){.length = (uint32_t)size, .kind = kind, .destination = destination};
}

int home_send_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload,
                    const int *fds, int nfds)
{
    (void)vm, (void)fds, (void)nfds;
    if (daemon_full)
        return COVEY_ENOMEM;
    note(frame->kind, false, payload, frame->length);
    return COVEY_OK;
}

struct peer *peer_find(struct covey *vm, uint32_t tid)
{
    (void)vm, (void)tid;
    return NULL;
}

int error_code(int code)
{
    return code;
}

const char *covey_strerror(int code)
{
    (void)code;
    return "";
}

static int changes; /* that threads which wait were told of */

void wait_changed(struct covey *vm)
{
    (void)vm;
    changes++;
}

void home_flush(struct covey *vm)
{
    (void)vm;
}

size_t stream_queued(const struct stream *stream)
{
    (void)stream;
    return 0;
}

uint64_t stream_put_bytes(const struct stream *stream)
{
    (void)stream;
    return 0;
}

int stream_put_pieces(struct stream *stream, const struct frame *frame, const struct iovec *pieces,
                      int count)
{
    (void)stream, (void)frame, (void)pieces, (void)count;
    return -1;
}

bool conn_lags(const struct conn *conn)
{
    (void)conn;
    return link_busy;
}

void conn_abandon(struct conn *conn)
{
    conn->out.req = NULL;
}

void conn_push(struct conn *conn)
{
    (void)conn;
}

void conn_put_data(struct conn *conn, struct covey_req *req, size_t size)
{
    (void)conn;
    note(FRAME_DATA, true, (const uint8_t[1]){0}, 0);
    req->send.offset += size;
    link_busy = true;
}

int route_choose(struct covey *vm, struct peer *peer, struct covey_req *req, struct conn **conn)
{
    static bool failing;
    (void)req;
    *conn = chosen;
    if (opening_fails && !failing) {
        failing = true;
        outgo_pump(vm, peer);
        failing = false;
    }
    return opening_fails ? COVEY_EROUTE : chosen != NULL;
}

uint8_t route_flags(const struct covey *vm, const struct peer *peer)
{
    (void)vm, (void)peer;
    return 0;
}

void req_finish(struct covey_req *req, int error, const char *why)
{
    (void)req, (void)error, (void)why;
    finished++;
}

bool bulk_may_send(struct covey *vm, struct peer *peer, struct covey_req *req)
{
    (void)vm, (void)peer, (void)req;
    return true;
}

bool bulk_in_turn(const struct covey *vm, const struct peer *peer, const struct covey_req *req,
                  size_t *size)
{
    (void)vm, (void)peer, (void)req, (void)size;
    return true;
}

void bulk_sent(struct covey *vm, struct peer *peer, const struct covey_req *req, uint64_t bytes)
{
    (void)vm, (void)peer, (void)req, (void)bytes;
}

void bulk_settle(struct covey *vm, struct peer *peer)
{
    (void)vm, (void)peer;
}

void bulk_drop(struct covey *vm, struct peer *peer)
{
    (void)vm, (void)peer;
}

int message_gather(const struct covey_msg *msg, uint64_t offset, size_t size, struct iovec *iov,
                   int max)
{
    (void)msg, (void)offset, (void)size, (void)iov, (void)max;
    return 0;
}

size_t message_copy(const struct covey_msg *msg, uint64_t offset, void *to, size_t size)
{
    (void)msg, (void)offset, (void)to;
    return size;
}

/* ---- the tests ------------------------------------------------------------------------------- */

struct task {
    struct covey vm;
    struct peer peer;
    struct conn link;
};

static struct task_page page;

static struct task begin(void)
{
    memory_gone = link_busy = daemon_full = false;
    noted_count = changes = finished = 0;
    chosen = NULL;
    opening_fails = false;
    return (struct task){.vm.self.page = &page, .peer = {.tid = 0x40001}};
}

static int hand_over(struct task *t, uint16_t about)
{
    const struct control_sync what = {.context = 7, .number = 1, .from = 2, .about = about};
    return outgo_sync(&t->vm, &t->peer, &what);
}

static int about_of(int at)
{
    struct control_sync what;
    struct cursor c = cursor_reader(noted[at].payload, CONTROL_SYNC_BYTES);
    control_get_sync(&c, &what);
    return at < noted_count && noted[at].kind == FRAME_SYNC && cursor_ok(&c) ? what.about : -1;
}

static void grant(struct task *t, uint64_t bytes)
{
    t->peer.in.granted_bytes = bytes;
    t->peer.in.grant_due = true;
    outgo_pump(&t->vm, &t->peer);
}

static void they_go_by_the_daemon(void)
{
    struct task t = begin();
    CU_ASSERT_EQUAL(hand_over(&t, 3), COVEY_OK);
    grant(&t, 258);
    CU_ASSERT_EQUAL_FATAL(noted_count, 2);
    CU_ASSERT_EQUAL(about_of(0), 3);
    CU_ASSERT_EQUAL(noted[1].kind, FRAME_CREDIT);
    CU_ASSERT_EQUAL(memcmp(noted[1].payload, "\0\0\0\0\0\0\1\2", 8), 0);
    CU_ASSERT(!noted[0].by_link && !noted[1].by_link);
    CU_ASSERT(!t.peer.in.grant_due && t.peer.out.syncs == NULL && !t.peer.out.sending);
}

static void they_go_by_a_link(void)
{
    struct task t = begin();
    t.peer.out.carrier = &t.link;
    CU_ASSERT_EQUAL(hand_over(&t, 3), COVEY_OK);
    grant(&t, 1);
    CU_ASSERT_EQUAL_FATAL(noted_count, 2);
    CU_ASSERT_EQUAL(about_of(0), 3);
    CU_ASSERT(noted[0].by_link && noted[1].by_link);
    CU_ASSERT(!t.peer.in.grant_due && !t.peer.out.sending);
}

/* Credit waits for the end of a frame under way; a hand-over takes the daemon's stream. */
static void what_a_link_is_busy_with_they_do_not_disturb(void)
{
    struct task t = begin();
    t.peer.out.carrier = &t.link;
    link_busy = true;
    CU_ASSERT_EQUAL(hand_over(&t, 3), COVEY_OK);
    grant(&t, 1);
    CU_ASSERT_EQUAL(noted_count, 1);
    CU_ASSERT(about_of(0) == 3 && !noted[0].by_link);
    CU_ASSERT(t.peer.out.sending);
    link_busy = false;
    outgo_pump_all(&t.vm);
    CU_ASSERT_EQUAL_FATAL(noted_count, 2);
    CU_ASSERT(noted[1].kind == FRAME_CREDIT && noted[1].by_link);
    CU_ASSERT(!t.peer.in.grant_due && !t.peer.out.sending);
}

/* Credit may be under way on a link while messages take another way; the first that takes it waits
 * for the end of that. */
static void a_message_waits_for_the_link_that_it_changes_to(void)
{
    struct task t = begin();
    struct covey_msg msg = {.size = 10};
    struct covey_req req = {.send.msg = &msg};
    t.peer.out.credit_bytes = 1000;
    chosen = &t.link;
    link_busy = true;
    outgo_queue(&t.vm, &t.peer, &req);
    CU_ASSERT_PTR_EQUAL(t.peer.out.carrier, &t.link);
    CU_ASSERT_EQUAL(noted_count, 0);
    link_busy = false;
    outgo_pump_all(&t.vm);
    CU_ASSERT_EQUAL_FATAL(noted_count, 1);
    CU_ASSERT(noted[0].kind == FRAME_DATA && noted[0].by_link && req.send.offset == 10);
}

static void a_route_that_fails_at_once_ends_each_send_once(void)
{
    struct task t = begin();
    struct covey_msg msg = {.size = 10};
    struct covey_req reqs[2] = {{.send.msg = &msg}, {.send.msg = &msg}};
    for (int i = 0; i < 2; i++)
        outgo_queue(&t.vm, &t.peer, &reqs[i]);
    CU_ASSERT_EQUAL(finished, 0);
    opening_fails = true;
    outgo_pump_all(&t.vm);
    CU_ASSERT_EQUAL(finished, 2);
    CU_ASSERT_PTR_NULL(t.peer.out.sends);
    CU_ASSERT_EQUAL(t.peer.out.sequence, 0);
}

static void a_hand_over_without_memory_is_an_error(void)
{
    struct task t = begin();
    memory_gone = MEMORY_CAN_FAIL;
    int error = hand_over(&t, 3);
    memory_gone = false;
    CU_ASSERT_EQUAL(error, MEMORY_CAN_FAIL ? COVEY_ENOMEM : COVEY_OK);
    CU_ASSERT_PTR_NULL(t.peer.out.syncs);
    CU_ASSERT_EQUAL(noted_count, MEMORY_CAN_FAIL ? 0 : 1);
}

static void what_the_daemons_stream_cannot_take_stays_due(void)
{
    struct task t = begin();
    daemon_full = true;
    for (uint16_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(hand_over(&t, i), COVEY_OK);
    CU_ASSERT_EQUAL(noted_count, 0);
    CU_ASSERT(t.vm.home.full && t.peer.out.sending);
    daemon_full = false;
    outgo_pump_all(&t.vm);
    CU_ASSERT_EQUAL_FATAL(noted_count, 3);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(about_of(i), i);
    daemon_full = true;
    grant(&t, 5);
    CU_ASSERT(t.peer.in.grant_due && t.peer.out.sending);
    daemon_full = false;
    outgo_pump_all(&t.vm);
    CU_ASSERT(noted_count == 4 && noted[3].kind == FRAME_CREDIT);
    CU_ASSERT(!t.peer.in.grant_due && t.peer.out.syncs == NULL && !t.peer.out.sending);
}

static void nothing_goes_to_one_that_is_gone(void)
{
    struct task t = begin();
    t.peer.gone = true;
    CU_ASSERT_EQUAL(hand_over(&t, 1), COVEY_OK);
    CU_ASSERT(noted_count == 0 && t.peer.out.syncs == NULL);
}

/* Nothing may be queued that goes then: a cast in total order only looks how much there is. */
static void credit_is_told_to_who_waits_for_it_alone(void)
{
    struct task t = begin();
    uint8_t payload[8] = {0, 0, 0, 0, 0, 0, 1, 2};
    for (int i = 0; i < 2; i++) {
        struct cursor c = cursor_reader(payload, sizeof payload);
        outgo_on_credit(&t.vm, &t.peer, &c);
        CU_ASSERT_EQUAL(t.peer.out.credit_bytes, 258);
        CU_ASSERT_EQUAL(changes, 1); /* the second time it is an old grant */
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"they go by the daemon", they_go_by_the_daemon},
        {"they go by a link", they_go_by_a_link},
        {"what a link is busy with they do not disturb",
         what_a_link_is_busy_with_they_do_not_disturb},
        {"a message waits for the link that it changes to",
         a_message_waits_for_the_link_that_it_changes_to},
        {"a route that fails at once ends each send once",
         a_route_that_fails_at_once_ends_each_send_once},
        {"a hand-over without memory is an error", a_hand_over_without_memory_is_an_error},
        {"what the daemon's stream cannot take stays due",
         what_the_daemons_stream_cannot_take_stays_due},
        {"nothing goes to one that is gone", nothing_goes_to_one_that_is_gone},
        {"credit is told to who waits for it alone", credit_is_told_to_who_waits_for_it_alone},
    };
    return covey_test_main("outgo", cases, sizeof cases / sizeof cases[0]);
}
