/*
 * announce.c - one message for several tasks of this host: those that get it know of it before any
 * of them has it, or it goes to all of them by the daemon. Whichever it is, it has to be decided
 * first, which may take a wait; so this stands above the poll loop, and order.c below.
 */
#include "lib/drive/announce.h"
#include "lib/drive/wait.h"
#include "lib/engine/conn.h"
#include "lib/engine/order.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "proto/wire/stamp.h"

#define PATIENCE_US 1000000u

/* The ring to a task of this host, by which its next message goes; NULL: that goes another way. */
static struct conn *ring_to(struct covey *vm, covey_tid_t tid)
{
    struct peer *peer = peer_find(vm, (uint32_t)tid);
    if (peer == NULL || peer->routes == NULL)
        return NULL;
    int route = route_wanted(vm, peer);
    return route == COVEY_ROUTE_AUTO || routes[route].ring ? peer->routes[COVEY_ROUTE_SHM].conn
                                                           : NULL;
}

static bool is_local(const struct covey *vm, covey_tid_t tid, const struct covey_req *req)
{
    return tid_host((uint32_t)tid) == vm->self.host && (uint32_t)tid != vm->self.tid &&
           !req->done && !req->queued;
}

struct rings {
    struct covey *vm;
    const covey_tid_t *tids;
    struct covey_req *reqs;
    size_t n;
};

/* Whether the daemon can take it for the peer together with others, now and ever. */
static bool fits_home(const struct peer *peer, const struct covey_req *req)
{
    return peer->out.sends == NULL && peer->out.credit_bytes >= peer->out.sent_bytes +
                                                                    FRAME_MESSAGE_BYTES +
                                                                    req->send.msg->size;
}

static bool is_awaited(struct covey *vm, struct peer *peer, struct covey_req *req)
{
    struct conn *unused;
    if (peer == NULL || peer->gone || peer->leaving || route_choose(vm, peer, req, &unused) < 0)
        return false;
    int route = route_wanted(vm, peer);
    bool short_enough = req->send.msg->size + FRAME_MESSAGE_BYTES <= CREDIT_INITIAL_BYTES;
    bool failed = peer->routes != NULL && peer->routes[COVEY_ROUTE_SHM].opening == OPENING_FAILED;
    return routes[route].ring || (route == COVEY_ROUTE_AUTO && !failed) ||
           (!routes[route].stream && short_enough);
}

/* A multicast keeps its order in rings, which are opened, or in frames that the daemon gives to all
 * at once: whether one of these can take it to all now that may ever get it so. */
static bool rings_decided(void *context)
{
    struct rings *rings = context;
    struct covey *vm = rings->vm;
    bool by_rings = true, by_home = true;
    for (size_t i = 0; i < rings->n; i++) {
        struct covey_req *req = &rings->reqs[i];
        uint32_t tid = (uint32_t)rings->tids[i];
        bool local = is_local(vm, rings->tids[i], req) && tid_local(tid) != 0;
        struct peer *peer = local ? peer_get(vm, tid) : NULL;
        if (!is_awaited(vm, peer, req))
            continue;
        by_rings = by_rings && ring_to(vm, rings->tids[i]) != NULL;
        by_home = by_home && !routes[route_wanted(vm, peer)].ring && fits_home(peer, req);
    }
    return by_home || (by_rings && (order_may_leave_home(vm) || order_await_home(vm)));
}

static bool home_has_room(void *context)
{
    struct covey *vm = context;
    vm->home.full = vm->home.full || stream_queued(vm->home.daemon) >= DAEMON_QUEUE_BYTES;
    return stream_queued(vm->home.daemon) < DAEMON_QUEUE_BYTES;
}

static bool all_by_rings(struct covey *vm, const struct rings *rings)
{
    bool all = order_may_leave_home(vm);
    for (size_t i = 0; all && i < rings->n; i++)
        all = !is_local(vm, rings->tids[i], &rings->reqs[i]) || ring_to(vm, rings->tids[i]) != NULL;
    return all;
}

/* All copies have one stamp: what one of the receivers sends because of his has a later one than
 * that of another, who may get both. */
bool order_announce(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n)
{
    struct rings rings = {vm, tids, reqs, n};
    if (!rings_decided(&rings))
        wait_until(vm, rings_decided, &rings, clock_us() + PATIENCE_US);
    if (!all_by_rings(vm, &rings)) {
        wait_until(vm, home_has_room, vm, clock_us() + PATIENCE_US);
        return false;
    }
    vm->order.stamp = stamp_next(vm->order.stamp, vm->self.now_us);
    for (size_t i = 0; i < n; i++) {
        struct conn *conn = is_local(vm, tids[i], &reqs[i]) ? ring_to(vm, tids[i]) : NULL;
        if (conn == NULL)
            continue;
        reqs[i].send.announced = true;
        reqs[i].peer = conn->peer;
        if (conn->peer->out.sends == NULL) /* stamps grow along a ring */
            reqs[i].send.stamp = vm->order.stamp;
        if (conn->order.announced++ == 0)
            link_shm_announce(conn->link, vm->order.stamp);
    }
    return true;
}
