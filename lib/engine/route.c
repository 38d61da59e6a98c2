/*
 * route.c - which way a message takes, and how a direct link comes to be.
 *
 * Opening a link: the opener sends LINK_OPEN through the daemons; the accepter answers LINK_ACCEPT
 * (or LINK_REFUSE). What travels with these frames, and what both ends then do, each route has in a
 * file of its own (route_links.h), which is called by the table of routes (routes.h). While a link
 * is being opened messages go through the daemon, unless the program forced the route: then they
 * wait. A task that may choose has up to two links to another: one for short messages (raw
 * Ethernet), one for the others. An opening that failed is not tried again for a while, each time a
 * longer one: what was in its way, a host out of descriptors or in a flood, goes.
 */
#include "lib/engine/route.h"
#include "lib/engine/conn.h"
#include "lib/engine/order.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/link/stream.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPENING_US 10000000u
#define OPENING_TRIES 3
#define REOPEN_US 10000000u /* after an opening that failed; then twice as long, and so on */
#define REOPEN_DOUBLED_MAX 5

/* Ether, forced for all tasks, is meant for those on other hosts: within one there is no segment,
 * and a program whose tasks are on several hosts, and several on one, would not run with it. */
static int wanted(const struct covey *vm, uint32_t tid, const struct peer *peer)
{
    if (peer != NULL && peer->forced_route >= 0)
        return peer->forced_route;
    bool beyond = tid_host(tid) == vm->self.host && !routes[vm->self.route].inside;
    return beyond ? COVEY_ROUTE_AUTO : vm->self.route;
}

int route_wanted(const struct covey *vm, const struct peer *peer)
{
    return wanted(vm, peer->tid, peer);
}

bool route_is_broadcast(struct covey *vm, uint32_t tid)
{
    return routes[wanted(vm, tid, peer_find(vm, tid))].broadcast;
}

bool route_is_memory(struct covey *vm, uint32_t tid)
{
    int route = wanted(vm, tid, peer_find(vm, tid));
    return route == COVEY_ROUTE_AUTO || route == COVEY_ROUTE_SHM;
}

struct route_state *route_state_get(struct peer *peer, int route)
{
    if (peer->routes == NULL)
        peer->routes = calloc(ROUTES, sizeof *peer->routes);
    return peer->routes == NULL ? NULL : &peer->routes[route];
}

void route_stream_drop(struct route_state *state)
{
    if (state->has_stream)
        close(state->stream_fd);
    state->has_stream = false;
}

void route_free_all(struct peer *peer)
{
    for (int route = 0; peer->routes != NULL && route < ROUTES; route++)
        route_stream_drop(&peer->routes[route]);
    free(peer->routes);
    peer->routes = NULL;
}

void route_failed(struct covey *vm, struct peer *peer, int route, const char *why)
{
    struct route_state *state = route_state_get(peer, route);
    if (state == NULL)
        return;
    state->opening = OPENING_FAILED;
    state->deadline_us = clock_us() + ((uint64_t)REOPEN_US << state->failed);
    state->failed += state->failed < REOPEN_DOUBLED_MAX;
    route_stream_drop(state);
    snprintf(state->why, sizeof state->why, "route %s to t%x: %s", routes[route].name, peer->tid,
             why);
    struct conn *pending = state->pending;
    state->pending = NULL;
    if (pending != NULL)
        conn_close(vm, pending, false);
    outgo_pump(vm, peer);
}

/* ---- opening --------------------------------------------------------------------------------- */

int route_send_open(struct covey *vm, struct peer *peer, int route, const int *fds, int nfds)
{
    uint8_t payload[64];
    struct cursor c = cursor_writer(payload, sizeof payload);
    struct control_link open = {.route = (uint8_t)route};
    memcpy(open.nonce, peer->routes[route].nonce, sizeof open.nonce);
    control_put_link_open(&c, &open);
    struct frame frame = home_frame(vm, FRAME_LINK_OPEN, peer->tid, (size_t)(c.at - payload));
    return home_send_frame(vm, &frame, payload, fds, nfds);
}

void route_open(struct covey *vm, struct peer *peer, int route)
{
    struct route_state *state = &peer->routes[route];
    state->opening = OPENING_ASKED;
    state->deadline_us = clock_us() + OPENING_US;
    wait_check_at(vm, state->deadline_us);
    randombytes_buf(state->nonce, sizeof state->nonce);
    int error = vm->links.ops[route]->open(vm, peer, state);
    if (error != COVEY_OK)
        route_failed(vm, peer, route, covey_error_text());
}

/* The other task may have ended: the news of that comes later than the end of its stream. If it has
 * not, it answers when it is asked again. */
void route_broke(struct covey *vm, struct peer *peer, int route, const char *why)
{
    struct route_state *state = route_state_get(peer, route);
    if (state == NULL)
        return;
    if (++state->broken >= OPENING_TRIES)
        route_failed(vm, peer, route, why);
    else if (!peer->gone && !peer->leaving && vm->home.lost == 0 && !vm->wait.closing)
        route_open(vm, peer, route);
}

/* Whether none is being opened, and none was in vain not long ago. */
bool route_may_open(struct route_state *state)
{
    if (state->opening == OPENING_FAILED && clock_us() >= state->deadline_us) {
        state->opening = OPENING_NONE;
        state->broken = 0;
    }
    return state->opening == OPENING_NONE;
}

/* A link of that route; `must`: nothing else will do. */
static int choose_direct(struct covey *vm, struct peer *peer, int route, bool must,
                         struct covey_req *req, struct conn **conn)
{
    struct route_state *state = route_state_get(peer, route);
    *conn = NULL;
    if (state == NULL)
        return must ? COVEY_ENOMEM : 1;
    bool there = state->conn != NULL || state->relayed;
    if (!there && route_may_open(state))
        route_open(vm, peer, route);
    *conn = state->conn;
    bool home = tid_host(peer->tid) == vm->self.host && *conn != NULL && !order_may_leave_home(vm);
    if (home && must)
        return order_await_home(vm);
    if (home)
        *conn = NULL;
    if (there || state->conn != NULL || !must)
        return 1;
    if (state->opening != OPENING_FAILED)
        return 0;
    snprintf(req->text, sizeof req->text, "%s", state->why);
    return COVEY_EROUTE;
}

/* Whether it may lead there: of those to tasks of this host rings are not always to be had. */
static bool is_refused(const struct peer *peer, int route)
{
    const struct route_state *state = peer->routes == NULL ? NULL : &peer->routes[route];
    return state != NULL && state->opening == OPENING_FAILED && clock_us() < state->deadline_us;
}

/* The direct link that suits a peer best, or if that is refused the next best. */
static int route_direct(const struct covey *vm, const struct peer *peer)
{
    bool inside = tid_host(peer->tid) == vm->self.host;
    int best = COVEY_ROUTE_AUTO, least = COVEY_ROUTE_AUTO;
    for (int i = 0; i < ROUTES; i++) {
        const struct route *route = &routes[i];
        if (route->preference == 0 || !(inside ? route->inside : route->outside))
            continue;
        if (least == COVEY_ROUTE_AUTO || route->preference < routes[least].preference)
            least = i;
        if (route->preference > routes[best].preference && !is_refused(peer, i))
            best = i;
    }
    return best != COVEY_ROUTE_AUTO ? best : least;
}

bool route_takes_stream(const struct covey *vm, const struct peer *peer)
{
    if (route_wanted(vm, peer) != COVEY_ROUTE_AUTO)
        return false;
    int route = route_direct(vm, peer);
    bool failed = peer->routes != NULL && peer->routes[route].opening == OPENING_FAILED;
    return routes[route].stream && peer->out.traffic_bytes >= routes[route].after_bytes && !failed;
}

/* A link for short messages beside the one that takes the rest. */
static struct conn *choose_short(struct covey *vm, struct peer *peer, const struct covey_req *req)
{
    struct conn *conn = NULL;
    for (int i = 0; i < ROUTES && conn == NULL; i++) {
        if (routes[i].outside && vm->links.ops[i]->choose_short != NULL)
            conn = vm->links.ops[i]->choose_short(vm, peer, req);
    }
    return conn;
}

int route_choose(struct covey *vm, struct peer *peer, struct covey_req *req, struct conn **conn)
{
    bool inside = tid_host(peer->tid) == vm->self.host;
    int wants = route_wanted(vm, peer);
    const struct route *route = &routes[wants];
    *conn = NULL;
    if (route->by_daemons)
        return 1;
    if (!(inside ? route->inside : route->outside)) {
        snprintf(req->text, sizeof req->text,
                 "route %s: t%x is on another host: take udp, tcp or auto", route->name, peer->tid);
        return COVEY_EROUTE;
    }
    if (wants != COVEY_ROUTE_AUTO)
        return choose_direct(vm, peer, wants, true, req, conn);
    int direct = route_direct(vm, peer);
    if (peer->out.traffic_bytes < routes[direct].after_bytes)
        return 1;
    if (!inside && (*conn = choose_short(vm, peer, req)) != NULL)
        return 1;
    return choose_direct(vm, peer, direct, false, req, conn);
}

void route_expect_bulk(struct peer *peer)
{
    if (peer->out.traffic_bytes < STREAM_AFTER_BYTES)
        peer->out.traffic_bytes = STREAM_AFTER_BYTES;
}

void route_open_ahead(struct covey *vm, struct peer *peer)
{
    struct conn *conn;
    int route = route_wanted(vm, peer);
    route_expect_bulk(peer);
    if (route == COVEY_ROUTE_AUTO)
        route = route_direct(vm, peer);
    bool inside = tid_host(peer->tid) == vm->self.host;
    if (!routes[route].by_daemons && (inside ? routes[route].inside : routes[route].outside))
        choose_direct(vm, peer, route, false, NULL, &conn);
}

uint8_t route_flags(const struct covey *vm, const struct peer *peer)
{
    return peer->out.carrier == NULL ? routes[route_wanted(vm, peer)].home_flags : 0;
}

void route_check(struct covey *vm, struct peer *peer, uint64_t now_us)
{
    for (int route = 0; route < ROUTES && peer->routes != NULL; route++) {
        struct route_state *state = &peer->routes[route];
        if (state->opening != OPENING_ASKED && state->opening != OPENING_CONNECTING)
            continue;
        if (now_us >= state->deadline_us && state->opening == OPENING_CONNECTING &&
            vm->links.ops[route]->on_late != NULL)
            vm->links.ops[route]->on_late(vm, peer);
        else if (now_us >= state->deadline_us)
            route_failed(vm, peer, route, "no link within 10 s");
        else
            wait_check_at(vm, state->deadline_us);
    }
}

/* ---- what daemons and other tasks say of links ----------------------------------------------- */

void route_answer(struct covey *vm, uint32_t tid, const struct control_link *l, const int *fds,
                  int nfds)
{
    uint8_t payload[512];
    struct cursor c = cursor_writer(payload, sizeof payload);
    bool refuse = l->error != 0;
    if (refuse)
        control_put_link_refuse(&c, l);
    else
        control_put_link_accept(&c, l);
    uint8_t kind = refuse ? FRAME_LINK_REFUSE : FRAME_LINK_ACCEPT;
    struct frame frame = home_frame(vm, kind, tid, (size_t)(c.at - payload));
    home_send_frame(vm, &frame, payload, fds, nfds);
    const struct peer *peer = peer_find(vm, tid);
    if (peer != NULL)
        order_note_home(vm, peer); /* nothing goes by the link before the other task knows of it */
}

static void refuse(struct covey *vm, uint32_t tid, struct control_link *l, const char *why)
{
    l->error = COVEY_EROUTE;
    snprintf(l->text, sizeof l->text, "%s", why);
    route_answer(vm, tid, l, NULL, 0);
}

/* Another task opens a link. */
static void on_open(struct covey *vm, struct peer *peer, struct control_link *l, int *fds, int nfds)
{
    bool known = l->route < ROUTES && vm->links.ops[l->route]->on_open != NULL;
    const char *why = nfds == STREAM_FDS_LOST ? "it is out of descriptors"
                                              : "it does not take links of that route";
    if (known && (nfds != STREAM_FDS_LOST || !vm->links.ops[l->route]->needs_fds))
        why = vm->links.ops[l->route]->on_open(vm, peer, l, fds, nfds);
    if (why != NULL)
        refuse(vm, peer->tid, l, why);
}

static void on_accept(struct covey *vm, struct peer *peer, struct control_link *l, int *fds,
                      int nfds)
{
    const struct route_ops *ops = vm->links.ops[l->route];
    if (ops->needs_fds && nfds == STREAM_FDS_LOST) { /* the other task takes the link for ready */
        home_lost(vm, COVEY_ERESOURCE, "out of descriptors: a link to another task is lost");
        return;
    }
    const char *why =
        ops->on_accept == NULL ? "a wrong answer" : ops->on_accept(vm, peer, l, fds, nfds);
    if (why != NULL)
        route_broke(vm, peer, l->route, why);
}

/* The state that a frame about an opening of ours belongs to; NULL: an old one's. */
static struct route_state *asked(struct peer *peer, const struct control_link *l, int route)
{
    if (peer->routes == NULL || route >= ROUTES)
        return NULL;
    struct route_state *state = &peer->routes[route];
    bool same = memcmp(state->nonce, l->nonce, sizeof l->nonce) == 0;
    return same && state->opening == OPENING_ASKED ? state : NULL;
}

static void take_key(struct route_state *state, const struct control_link *l)
{
    memcpy(state->secret.key, l->key, sizeof l->key);
    state->secret.encrypt = l->encrypt;
}

static void dispatch(struct covey *vm, uint8_t kind, struct peer *peer, struct control_link *l,
                     int *fds, int nfds)
{
    int route = kind == FRAME_LINK_KEY ? COVEY_ROUTE_TCP : l->route; /* it alone has such frames */
    struct route_state *state = kind == FRAME_LINK_OPEN ? NULL : asked(peer, l, route);
    if (kind == FRAME_LINK_OPEN)
        on_open(vm, peer, l, fds, nfds);
    else if (state != NULL && kind == FRAME_LINK_KEY)
        take_key(state, l);
    else if (state != NULL && kind == FRAME_LINK_ACCEPT)
        on_accept(vm, peer, l, fds, nfds);
    else if (state != NULL && kind == FRAME_LINK_REFUSE)
        route_failed(vm, peer, route, l->text);
}

void route_on_link_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload,
                         int *fds, int nfds)
{
    static void (*const gets[])(struct cursor *, struct control_link *) = {
        [FRAME_LINK_OPEN] = control_get_link_open,
        [FRAME_LINK_KEY] = control_get_link_key,
        [FRAME_LINK_ACCEPT] = control_get_link_accept,
        [FRAME_LINK_REFUSE] = control_get_link_refuse,
    };
    struct control_link l;
    struct cursor c = cursor_reader(payload, frame->length);
    gets[frame->kind](&c, &l);
    struct peer *peer = cursor_ok(&c) ? peer_get(vm, frame->source) : NULL;
    if (peer != NULL && !peer->gone && !peer->leaving)
        dispatch(vm, frame->kind, peer, &l, fds, nfds);
    for (int i = 0; i < nfds; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

/* ---- what the program chooses ---------------------------------------------------------------- */

/* The program wants another try. */
static void forgive(struct peer *peer, int route)
{
    if (peer->routes == NULL || peer->routes[route].opening != OPENING_FAILED)
        return;
    peer->routes[route].opening = OPENING_NONE;
    peer->routes[route].broken = peer->routes[route].failed = 0;
}

void route_force(struct covey *vm, struct peer *only, int route)
{
    if (only != NULL) {
        only->forced_route = route;
        forgive(only, route);
        return;
    }
    vm->self.route = route;
    for (int i = 0; i < PEER_BUCKETS; i++) {
        for (struct peer *peer = vm->known.peers[i]; peer != NULL; peer = peer->next) {
            peer->forced_route = -1;
            forgive(peer, route);
        }
    }
}

int route_taken(struct covey *vm, uint32_t tid)
{
    const struct peer *peer = peer_find(vm, tid);
    int route = wanted(vm, tid, peer);
    if (route != COVEY_ROUTE_AUTO || peer == NULL || peer->out.sequence == 0)
        return route;
    int direct = route_direct(vm, peer);
    bool up = peer->routes != NULL && peer->routes[direct].conn != NULL;
    for (int i = 0; i < ROUTES && peer->out.traffic_bytes >= routes[direct].after_bytes; i++) {
        const struct conn *conn = peer->routes == NULL ? NULL : peer->routes[i].conn;
        const struct route_ops *ops = vm->links.ops[i];
        if (conn != NULL && ops->choose_short != NULL && ops->works(conn->link))
            return i;
    }
    return up ? direct : COVEY_ROUTE_UDP;
}
