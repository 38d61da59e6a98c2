/*
 * direct.c - raw Ethernet links straight between two tasks, where the daemons give sockets for
 * them. A task has one packet socket, its port, which comes with the first link and stays: the
 * kernel takes milliseconds to set one up. The opener's daemon first sees to it that the two hosts
 * reach each other so. Where a link cannot be had so, frames pass the daemons, flagged FRAME_ETHER.
 *
 * While the segment carries nothing, what the links would put into frames goes there in DETOUR
 * frames through the daemons, over UDP.
 */
#include "lib/drive/direct.h"
#include "lib/engine/conn.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/member/home.h"
#include "lib/member/routes.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"

#include <sodium.h>
#include <string.h>
#include <sys/epoll.h>

#define SHORT_BYTES 4096 /* where raw Ethernet is measured to be ahead, if one frame has them */
#define HANDSHAKE_US 5000000u
#define SILENCE_US_MAX 5000000u /* so that a task that leaves may still take the detour */

/* Frames for links that are gone wake, too. */
static void port_ready(struct covey *vm, struct watch *watch, uint32_t events)
{
    (void)watch, (void)events;
    ether_port_receive(vm->links.ether_port);
}

/* Called while a link sends: what else there is to do for the daemon's stream waits until after. */
static bool take_detour(void *context, uint32_t channel, const uint8_t *bytes, size_t size)
{
    struct covey *vm = context;
    struct frame frame = home_frame(vm, FRAME_DETOUR, channel, size);
    if (vm->home.lost == 0)
        stream_put(vm->home.daemon, &frame, bytes, NULL, 0); /* no memory: a loss like others */
    vm->home.due = true;
    return vm->home.lost == 0 && stream_queued(vm->home.daemon) < DAEMON_QUEUE_BYTES;
}

void direct_on_detour(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    if (vm->links.ether_port != NULL)
        ether_port_on_detour(vm->links.ether_port, payload, frame->length);
}

/* Makes the port out of a socket, which is then no longer the caller's. */
static bool port_open(struct covey *vm, uint32_t number, int *fd)
{
    const char *why;
    struct ether_port *port = ether_port_create(*fd, number, vm->self.tid, &why);
    if (port == NULL)
        return false;
    vm->links.ether_watch = (struct watch){.ready = port_ready, .fd = *fd, .events = EPOLLIN};
    *fd = -1;
    if (watch_add(vm, &vm->links.ether_watch) != COVEY_OK) {
        ether_port_destroy(port);
        return false;
    }
    vm->links.ether_watched = true;
    vm->links.ether_port = port;
    ether_port_set_detour(port, take_detour, vm);
    return true;
}

/* The kernel tells those who watch a socket of every frame that it takes in or has sent, and it is
 * the processor of the sender that tells them: a tenth of what a frame costs. So the port is not
 * watched by who looks into its ring all the time, and is from when somebody sleeps until then. */
bool direct_sleep(struct covey *vm)
{
    vm->links.sleepers++;
    if (vm->links.ether_port != NULL && !vm->links.ether_watched)
        vm->links.ether_watched = watch_add(vm, &vm->links.ether_watch) == COVEY_OK;
    return vm->links.ether_port == NULL || vm->links.ether_watched;
}

void direct_wake(struct covey *vm)
{
    vm->links.sleepers--;
}

void direct_look(struct covey *vm)
{
    if (vm->links.sleepers > 0 || !vm->links.ether_watched)
        return;
    watch_pause(vm, &vm->links.ether_watch);
    vm->links.ether_watched = false;
}

static bool direct_take_port(struct covey *vm, const struct control_link *l, int *fds, int nfds)
{
    if (!l->direct || !l->has_key || !l->has_address)
        return false;
    return vm->links.ether_port != NULL || (nfds == 1 && port_open(vm, l->vm, &fds[0]));
}

static struct conn *direct_create(struct covey *vm, struct peer *peer, const struct control_link *l,
                                  bool opener)
{
    struct ether_way way = {.to = l->address,
                            .channel = peer->tid,
                            .secret.encrypt = l->encrypt,
                            .opener = opener,
                            .detour_us =
                                l->detour_us < SILENCE_US_MAX ? l->detour_us : SILENCE_US_MAX};
    memcpy(way.nonce, l->nonce, sizeof way.nonce);
    memcpy(way.secret.key, l->key, sizeof way.secret.key);
    struct link *link = link_ether_create(vm->links.ether_port, &way);
    sodium_memzero(&way, sizeof way);
    struct conn *conn = link == NULL ? NULL : conn_create(vm, link, peer, COVEY_ROUTE_ETHER);
    if (conn == NULL && link != NULL)
        link->ops->free(link);
    if (conn != NULL && !opener) { /* an opener's is that of the route */
        conn->deadline_us = clock_us() + HANDSHAKE_US;
        wait_check_at(vm, conn->deadline_us);
    }
    return conn;
}

/* ---- as a route ------------------------------------------------------------------------------ */

static int open_ether(struct covey *vm, struct peer *peer, struct route_state *state)
{
    (void)state;
    return route_send_open(vm, peer, COVEY_ROUTE_ETHER, NULL, 0);
}

/* From now on raw frames to that task pass the daemons, unless a link comes up. One that was begun
 * may have come up at the other end alone, which then uses it: it stays. */
static void relay(struct covey *vm, struct peer *peer)
{
    struct route_state *state = &peer->routes[COVEY_ROUTE_ETHER];
    state->pending = NULL;
    state->opening = OPENING_NONE;
    state->relayed = true;
    outgo_pump(vm, peer);
}

static const char *connect_ether(struct covey *vm, struct peer *peer, struct control_link *l,
                                 int *fds, int nfds)
{
    struct route_state *state = &peer->routes[COVEY_ROUTE_ETHER];
    struct conn *conn =
        direct_take_port(vm, l, fds, nfds) ? direct_create(vm, peer, l, true) : NULL;
    state->opening = OPENING_CONNECTING;
    state->pending = conn;
    if (conn == NULL)
        relay(vm, peer);
    return NULL;
}

/* Unless the link goes straight what follows comes by the stream of the daemon. */
static const char *accept_ether(struct covey *vm, struct peer *peer, struct control_link *l,
                                int *fds, int nfds)
{
    l->direct = route_state_get(peer, COVEY_ROUTE_ETHER) != NULL &&
                direct_take_port(vm, l, fds, nfds) && direct_create(vm, peer, l, false) != NULL;
    l->has_key = l->has_address = false;
    route_answer(vm, peer->tid, l, NULL, 0);
    return NULL;
}

static bool works(const struct link *link)
{
    return !link_ether_is_astray(link);
}

/* Raw Ethernet costs less a message than a stream, and more a byte. It is opened beside the stream,
 * which takes the rest, and all while the segment is dead. Where it does not go straight between
 * the tasks it is no gain. */
static struct conn *choose_short(struct covey *vm, struct peer *peer, const struct covey_req *req)
{
    struct route_state *state = vm->self.direct ? route_state_get(peer, COVEY_ROUTE_ETHER) : NULL;
    if (state == NULL || req_is_paced(req))
        return NULL;
    if (state->conn == NULL && !state->relayed && route_may_open(state))
        route_open(vm, peer, COVEY_ROUTE_ETHER);
    struct conn *conn = state->conn != NULL && works(state->conn->link) ? state->conn : NULL;
    if (conn == NULL && state->conn != NULL)
        link_ether_ask(state->conn->link);
    uint64_t size = FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES + req->send.msg->size;
    bool fits = conn != NULL && size <= link_ether_frame_bytes(conn->link);
    return fits && req->send.msg->size <= SHORT_BYTES ? conn : NULL;
}

const struct route_ops ether_ops = {.open = open_ether,
                                    .on_accept = connect_ether,
                                    .on_open = accept_ether,
                                    .on_late = relay,
                                    .choose_short = choose_short,
                                    .works = works,
                                    .waiting = link_ether_waiting};
