/*
 * order.c - among the tasks of one host a message is received before all that was sent because of
 * it, or by its sender after it, whichever ways they take: A sends to C and then to B, which sends
 * to C: C gets that of A first.
 *
 * Where it leaves. A message counts as sent when it lies where its receiver finds it: in their
 * ring, or in the daemon's queue for it. What goes through the daemon gets there a while after it
 * was queued; until the daemon's ledger says that it has, this task sends everything else to tasks
 * of its host through the daemon, too, which takes it in order, or waits where a route is forced. A
 * multicast is announced in the rings of all its receivers before it is in any of them.
 *
 * Where it comes in. Messages have stamps (proto/wire/stamp.h), which grow along every ring and
 * along the daemon's stream. One may begin when, since its head was seen, all others of those were
 * looked at, what they had of messages under way was read, and none has a head with an earlier
 * stamp, or has announced one; for what was sent before it was there to be seen. How much the
 * daemon has for this task the ledger says. A head that may not begin yet is parked: of a ring in
 * its conn, of the stream by leaving the stream unread.
 *
 * What the daemon tells of tasks and hosts, which have no stamp, begins like a message that was
 * sent when it is seen: whoever hears that a task has ended has what others had sent before they
 * made it end.
 *
 * Waiting for another sender's message that was announced, or for the daemon, ends after
 * PATIENCE_US, for both may be stopped.
 */
#include "lib/engine/order.h"

#include <assert.h>

#include "lib/engine/conn.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/ledger.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "proto/wire/stamp.h"

#define PATIENCE_US 1000000u
#define AWAIT_US 50u /* until the ledger is looked at again for sends that wait */

/* ---- where messages leave -------------------------------------------------------------------- */

uint64_t order_stamp(struct covey *vm, const struct peer *peer)
{
    if (tid_host(peer->tid) != vm->self.host)
        return 0;
    vm->order.stamp = stamp_next(vm->order.stamp, vm->self.now_us);
    return vm->order.stamp;
}

uint64_t order_stamp_now(struct covey *vm)
{
    vm->order.stamp = stamp_next(vm->order.stamp, clock_coarse_us());
    return vm->order.stamp;
}

void order_note_home(struct covey *vm, const struct peer *peer)
{
    if (tid_host(peer->tid) == vm->self.host)
        vm->order.home_mark = stream_put_bytes(vm->home.daemon);
}

bool order_may_leave_home(struct covey *vm)
{
    if (vm->order.home_mark == 0)
        return true;
    if (ledger_taken(vm->home.ledger) < vm->order.home_mark)
        return false;
    vm->order.stamp = stamp_later(vm->order.stamp, ledger_stamp(vm->home.ledger));
    vm->order.home_mark = 0;
    return true;
}

bool order_await_home(struct covey *vm)
{
    vm->order.home_mark_awaited = true;
    wait_check_at(vm, clock_us() + AWAIT_US);
    return false;
}

void order_check(struct covey *vm)
{
    if (!vm->order.home_mark_awaited)
        return;
    vm->order.home_mark_awaited = false;
    outgo_pump_all(vm);
}

void order_announced(struct covey_req *req)
{
    const struct peer *peer = req->peer;
    struct conn *conn = peer->routes == NULL ? NULL : peer->routes[COVEY_ROUTE_SHM].conn;
    req->send.announced = false;
    if (conn != NULL && conn->order.announced > 0 && --conn->order.announced == 0)
        link_shm_announce(conn->link, 0);
}

/* ---- where they come in ---------------------------------------------------------------------- */

static bool has_head(const struct frame *frame)
{
    return (frame->kind == FRAME_DATA || frame->kind == FRAME_OFFER) &&
           (frame->flags & FRAME_FIRST) != 0 && frame->length >= FRAME_MESSAGE_BYTES;
}

void order_forget(struct conn *conn)
{
    assert(conn->vm->order.parked >= conn->order.parked);
    conn->vm->order.parked -= conn->order.parked;
    conn->order.parked = false;
    conn->order.patience_us = 0;
}

/* Whether it is worth waiting on; *until_us: since when it is waited, and how long. */
static bool has_patience(struct covey *vm, uint64_t *until_us)
{
    uint64_t now_us = clock_us();
    if (*until_us == 0)
        *until_us = now_us + PATIENCE_US;
    if (now_us >= *until_us)
        return false;
    wait_check_at(vm, *until_us);
    return true;
}

/* What was waited for in vain nobody waits for again. */
static void forgo(struct covey *vm, uint64_t stamp, uint64_t home_bytes)
{
    vm->order.forgone = stamp;
    if (home_bytes > vm->order.home_forgone)
        vm->order.home_forgone = home_bytes;
}

/* Reads a ring or stream up to the next head. Returns the earliest stamp of what may still come of
 * it, 0: nothing is there; *announced: nothing is, but it will come. */
static uint64_t look_at(struct covey *vm, struct conn *conn, bool *announced)
{
    uint64_t stamp = 0;
    bool empty = false;
    *announced = false;
    if (!conn->order.parked && routes[conn->route].ring)
        stamp = link_shm_announced(conn->link, &empty);
    if (vm->order.forgone != 0 && stamp_is_before(stamp, vm->order.forgone))
        stamp = 0;
    /* a stream that was read to its end says so once more without looking; of one that paused there
     * may be more */
    int looks = empty ? 0 : routes[conn->route].ring ? 1 : 2;
    while (looks > 0 && !conn->order.parked && !conn->closed) {
        conn_read(vm, conn);
        looks -= !conn->in.paused;
    }
    if (conn->order.parked)
        return conn->order.stamp;
    *announced = stamp != 0;
    return conn->closed ? 0 : stamp;
}

struct looked {
    uint64_t next; /* the earliest stamp of what may come; 0: nothing */
    bool head;     /* there is a head with an earlier stamp than that one */
    bool announced;
};

/* Looks at all rings and streams but that one for what is before the stamp. The proof of a stream's
 * opener may have come, and its first message with it. */
static struct looked look_around(struct covey *vm, const struct conn *but, uint64_t before)
{
    struct looked looked = {0};
    vm->order.looking = true;
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        bool announced;
        if (conn == but || conn->closed)
            continue;
        if (!conn->ready && routes[conn->route].stream)
            conn_settle(conn);
        uint64_t stamp =
            conn->ordered && conn->ready && !conn->closed ? look_at(vm, conn, &announced) : 0;
        if (stamp == 0)
            continue;
        if (stamp_is_before(stamp, before))
            *(announced ? &looked.announced : &looked.head) = true;
        if (looked.next == 0 || stamp_is_before(stamp, looked.next))
            looked.next = stamp;
    }
    vm->order.looking = false;
    return looked;
}

/* Whether nothing of what its sender knew of is still to come before it. */
static bool is_first(struct covey *vm, struct conn *conn)
{
    bool behind = stream_done_bytes(vm->home.daemon) < conn->order.home_needed &&
                  vm->home.lost == 0 && conn->order.home_needed > vm->order.home_forgone;
    bool within =
        vm->order.home_limit != 0 && stamp_is_before(conn->order.stamp, vm->order.home_limit);
    struct looked looked = look_around(vm, conn, conn->order.stamp);
    bool waits = looked.announced || (behind && !within);
    if (looked.head || (waits && has_patience(vm, &conn->order.patience_us)))
        return false;
    if (waits)
        forgo(vm, conn->order.stamp, conn->order.home_needed);
    conn->order.clear_bytes = behind || waits ? 0 : conn->order.there_bytes;
    conn->order.clear_stamp = looked.next;
    return true;
}

/* Whether it was there when all others were looked at for one before it in its ring. */
static bool is_clear(const struct conn *conn, uint64_t stamp)
{
    return routes[conn->route].ring && link_shm_read_bytes(conn->link) <= conn->order.clear_bytes &&
           (conn->order.clear_stamp == 0 || stamp_is_before(stamp, conn->order.clear_stamp));
}

bool order_admits(struct covey *vm, struct conn *conn)
{
    uint64_t stamp =
        conn->ordered && has_head(&conn->in.frame) ? message_stamp_get(conn->in.preface) : 0;
    if (stamp == 0)
        return true;
    if (vm->order.looking || conn->order.parked || !is_clear(conn, stamp)) {
        if (!conn->order.parked) {
            conn->order.parked = true;
            conn->order.stamp = stamp;
            if (routes[conn->route].ring)
                conn->order.there_bytes = link_shm_there_bytes(conn->link);
            conn->order.home_needed = ledger_queued(vm->home.ledger);
            vm->order.parked++;
        }
        if (vm->order.looking || !is_first(vm, conn))
            return false;
        order_forget(conn);
    }
    vm->order.stamp = stamp_later(vm->order.stamp, stamp);
    return true;
}

/* The ring that has been looked at was it first, as is_first() wants it. */
bool order_admits_alone(struct covey *vm, const struct conn *of, uint64_t stamp)
{
    if (vm->order.looking || vm->order.parked > 0 ||
        stream_done_bytes(vm->home.daemon) < ledger_queued(vm->home.ledger))
        return false;
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        bool empty = false;
        if (conn == of || conn->closed || (conn->ready && !conn->ordered))
            continue;
        if (!conn->ready && !routes[conn->route].stream)
            continue;
        if (conn->ready && routes[conn->route].ring)
            link_shm_announced(conn->link, &empty);
        if (!empty)
            return false;
    }
    vm->order.stamp = stamp_later(vm->order.stamp, stamp);
    return true;
}

static struct conn *earliest(const struct covey *vm)
{
    struct conn *found = NULL;
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (conn->order.parked &&
            (found == NULL || stamp_is_before(conn->order.stamp, found->order.stamp)))
            found = conn;
    }
    assert((found != NULL) == (vm->order.parked > 0));
    return found;
}

/* Begins the message that is parked there, or finds one that is before it; false: it has to wait.
 */
static bool begin_parked(struct covey *vm, struct conn *conn)
{
    uint64_t stamp = conn->order.stamp;
    conn_read(vm, conn);
    return !conn->order.parked || conn->order.stamp != stamp || earliest(vm) != conn;
}

/* Whether what the daemon has next may begin: nothing with an earlier stamp is still to come. */
static bool admit(struct covey *vm, uint64_t stamp)
{
    bool waits = look_around(vm, NULL, stamp).announced;
    vm->order.home_limit = stamp;
    while (vm->order.parked > 0 && stamp_is_before(earliest(vm)->order.stamp, stamp)) {
        if (!begin_parked(vm, earliest(vm))) {
            waits = true;
            break;
        }
    }
    vm->order.home_limit = 0;
    if (waits && has_patience(vm, &vm->order.home_patience_us))
        return false;
    if (waits)
        forgo(vm, stamp, vm->order.home_forgone);
    vm->order.home_patience_us = 0;
    vm->order.stamp = stamp_later(vm->order.stamp, stamp);
    return true;
}

bool order_admits_home(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    uint64_t stamp = has_head(frame) ? message_stamp_get(payload) : 0;
    return stamp == 0 || admit(vm, stamp);
}

/* Its stamp is the time at which it is first seen: what caused it was sent before. */
bool order_admits_notice(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    (void)frame;
    (void)payload;
    if (vm->order.notice_stamp == 0)
        vm->order.notice_stamp = stamp_next(vm->order.stamp, clock_us());
    if (!admit(vm, vm->order.notice_stamp))
        return false;
    vm->order.notice_stamp = 0;
    return true;
}

bool order_settle(struct covey *vm)
{
    uint64_t awaited_taken = vm->inbox.awaited_taken;
    bool moved = false;
    vm->order.due = false;
    if (vm->home.kept)
        home_read(vm);
    while (vm->order.parked > 0) {
        struct conn *conn = earliest(vm);
        if (vm->wait.poller == POLLER_TASK && vm->inbox.awaited_taken != awaited_taken) {
            vm->order.due = true;
            break;
        }
        if (stream_done_bytes(vm->home.daemon) < conn->order.home_needed)
            home_read(vm);
        if (conn->order.parked && !begin_parked(vm, conn))
            break;
        moved = true;
    }
    return moved;
}
