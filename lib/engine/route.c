/*
 * route.c - which way a message takes, and how a direct link comes to be.
 *
 * Opening a link: the opener sends LINK_OPEN through the daemons; the accepter answers LINK_ACCEPT
 * (or LINK_REFUSE). For shm the opener's ring memory and both doorbells travel with these frames.
 * For tcp the daemons give both tasks the key of the link, the opener connects to the accepter's
 * port, and both prove the key (link_tcp.c). For ether the opener's daemon first sees to it that
 * the two hosts reach each other so; once accepted, frames go through the daemons, flagged
 * FRAME_ETHER, or straight where both daemons allow it (direct.c). While a link is being opened
 * messages go through the daemon, unless the program forced the route: then they wait. A task that
 * may choose has up to two links to another: ether for short messages, tcp for the others. An
 * opening that failed is not tried again for a while, each time a longer one: what was in its way,
 * a host out of descriptors or in a flood, goes. What the accepter does is in route_accept.c.
 */
#include "lib/engine/route.h"
#include "lib/engine/conn.h"
#include "lib/engine/direct.h"
#include "lib/engine/home.h"
#include "lib/engine/order.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route_accept.h"
#include "lib/engine/vm.h"
#include "lib/engine/watch.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"

#include <errno.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define OPENING_US 10000000u
#define OPENING_TRIES 3
#define REOPEN_US 10000000u /* after an opening that failed; then twice as long, and so on */
#define REOPEN_DOUBLED_MAX 5
#define SHORT_BYTES 4096 /* where raw Ethernet is measured to be ahead, if one frame has them */
#define FILES_SPARE 4
#define TCP_AFTER_BYTES                                                                            \
    ((uint64_t)256 * 1024) /* traffic of a pair that makes a stream worth it                       \
                            */

static const char *const names[ROUTES] = {"auto", "shm", "udp", "tcp", "ether"};

const char *covey_route_name(int route)
{
    return route < 0 || route >= ROUTES ? "unknown" : names[route];
}

int covey_route_parse(const char *name)
{
    for (int route = 0; name != NULL && route < ROUTES; route++) {
        if (strcasecmp(name, names[route]) == 0)
            return route;
    }
    return error_set(COVEY_EINVAL, "unknown route '%s': auto, shm, udp, tcp or ether",
                     name == NULL ? "" : name);
}

/* Ether, forced for all tasks, is meant for those on other hosts: within one there is no segment,
 * and a program whose tasks are on several hosts, and several on one, would not run with it. */
static int wanted(const struct covey *vm, uint32_t tid, const struct peer *peer)
{
    if (peer != NULL && peer->forced_route >= 0)
        return peer->forced_route;
    bool inside = tid_host(tid) == vm->self.host;
    return inside && vm->self.route == COVEY_ROUTE_ETHER ? COVEY_ROUTE_AUTO : vm->self.route;
}

int route_wanted(const struct covey *vm, const struct peer *peer)
{
    return wanted(vm, peer->tid, peer);
}

bool route_is_forced(struct covey *vm, uint32_t tid, int route)
{
    return wanted(vm, tid, peer_find(vm, tid)) == route;
}

struct route_state *route_state_get(struct peer *peer, int route)
{
    if (peer->routes == NULL)
        peer->routes = calloc(ROUTES, sizeof *peer->routes);
    return peer->routes == NULL ? NULL : &peer->routes[route];
}

static void stream_drop(struct route_state *state)
{
    if (state->has_stream)
        close(state->stream_fd);
    state->has_stream = false;
}

void route_free_all(struct peer *peer)
{
    if (peer->routes != NULL)
        stream_drop(&peer->routes[COVEY_ROUTE_TCP]);
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
    stream_drop(state);
    snprintf(state->why, sizeof state->why, "route %s to t%x: %s", names[route], peer->tid, why);
    struct conn *pending = state->pending;
    state->pending = NULL;
    if (pending != NULL)
        conn_close(vm, pending, false);
    outgo_pump(vm, peer);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int send_open(struct covey *vm, struct peer *peer, int route, const int *fds, int nfds)
{
    uint8_t payload[64];
    struct cursor c = cursor_writer(payload, sizeof payload);
    struct control_link open = {.route = (uint8_t)route};
    memcpy(open.nonce, peer->routes[route].nonce, sizeof open.nonce);
    control_put_link_open(&c, &open);
    struct frame frame = home_frame(vm, FRAME_LINK_OPEN, peer->tid, (size_t)(c.at - payload));
    return home_send_frame(vm, &frame, payload, fds, nfds);
}

/* The doorbell that comes with the answer must find room below the limit, or the link would stay
 * half open. The lowest free number was taken: so many descriptors are in use. */
static bool room_for_answer(int newest)
{
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) == 0 && (rlim_t)newest + FILES_SPARE < files.rlim_cur;
}

static int open_shm(struct covey *vm, struct peer *peer, struct route_state *state)
{
    int memory;
    struct link *link = link_shm_open(&memory);
    if (link == NULL)
        return error_set(COVEY_ERESOURCE, "no memory for a ring: %s", strerror(errno));
    if (!room_for_answer(memory)) {
        link->ops->free(link);
        close(memory);
        return error_set(COVEY_ERESOURCE, "out of descriptors");
    }
    state->pending = conn_create(vm, link, peer, COVEY_ROUTE_SHM);
    int error = COVEY_ENOMEM;
    if (state->pending != NULL)
        error = send_open(vm, peer, COVEY_ROUTE_SHM, (int[]){memory, vm->wait.doorbell}, 2);
    else
        link->ops->free(link);
    close(memory);
    return error;
}

/* The stream within the host is a pair of Unix sockets: what is written to one end lies at the
 * other at once, as in a ring, which messages of one host need to keep their order (order.c). */
static int open_stream(struct covey *vm, struct peer *peer, struct route_state *state)
{
    int ends[2];
    stream_drop(state);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(COVEY_ERESOURCE, "out of descriptors");
    state->has_stream = true;
    state->stream_fd = ends[0];
    int error = send_open(vm, peer, COVEY_ROUTE_TCP, &ends[1], 1);
    close(ends[1]);
    return error;
}

static void open_start(struct covey *vm, struct peer *peer, int route)
{
    struct route_state *state = &peer->routes[route];
    state->opening = OPENING_ASKED;
    state->deadline_us = clock_us() + OPENING_US;
    wait_check_at(vm, state->deadline_us);
    randombytes_buf(state->nonce, sizeof state->nonce);
    bool inside = tid_host(peer->tid) == vm->self.host;
    int error;
    if (route == COVEY_ROUTE_SHM)
        error = open_shm(vm, peer, state);
    else if (route == COVEY_ROUTE_TCP && inside)
        error = open_stream(vm, peer, state);
    else
        error = send_open(vm, peer, route, NULL, 0);
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
        open_start(vm, peer, route);
}

/* Whether none is being opened, and none was in vain not long ago. */
static bool may_open(struct route_state *state)
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
    if (!there && may_open(state))
        open_start(vm, peer, route);
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

/* The direct link that suits a peer best: a stream also on one host if no rings can be shared. */
static int route_direct(const struct covey *vm, const struct peer *peer)
{
    if (tid_host(peer->tid) != vm->self.host)
        return COVEY_ROUTE_TCP;
    struct route_state *shm = peer->routes == NULL ? NULL : &peer->routes[COVEY_ROUTE_SHM];
    bool refused = shm != NULL && shm->opening == OPENING_FAILED && clock_us() < shm->deadline_us;
    return refused ? COVEY_ROUTE_TCP : COVEY_ROUTE_SHM;
}

bool route_takes_stream(const struct covey *vm, const struct peer *peer)
{
    bool failed = peer->routes != NULL && peer->routes[COVEY_ROUTE_TCP].opening == OPENING_FAILED;
    return route_wanted(vm, peer) == COVEY_ROUTE_AUTO &&
           route_direct(vm, peer) == COVEY_ROUTE_TCP &&
           peer->out.traffic_bytes >= TCP_AFTER_BYTES && !failed;
}

/* The link straight over raw Ethernet, if it is there and works. */
static struct conn *ether_conn(const struct peer *peer)
{
    struct conn *conn = peer->routes == NULL ? NULL : peer->routes[COVEY_ROUTE_ETHER].conn;
    return conn == NULL || link_ether_is_astray(conn->link) ? NULL : conn;
}

/* Raw Ethernet costs less a message than a stream, and more a byte. It is opened beside the stream,
 * which takes the rest, and all while the segment is dead. Where it does not go straight between
 * the tasks it is no gain. */
static struct conn *route_short(struct covey *vm, struct peer *peer, const struct covey_req *req)
{
    struct route_state *state = vm->self.direct ? route_state_get(peer, COVEY_ROUTE_ETHER) : NULL;
    if (state == NULL || req_is_paced(req))
        return NULL;
    if (state->conn == NULL && !state->relayed && may_open(state))
        open_start(vm, peer, COVEY_ROUTE_ETHER);
    struct conn *conn = ether_conn(peer);
    if (conn == NULL && state->conn != NULL)
        link_ether_ask(state->conn->link);
    uint64_t size = FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES + req->send.msg->size;
    bool fits = conn != NULL && size <= link_ether_frame_bytes(conn->link);
    return fits && req->send.msg->size <= SHORT_BYTES ? conn : NULL;
}

int route_choose(struct covey *vm, struct peer *peer, struct covey_req *req, struct conn **conn)
{
    bool same_host = tid_host(peer->tid) == vm->self.host;
    switch (route_wanted(vm, peer)) {
    case COVEY_ROUTE_UDP:
        *conn = NULL;
        return 1;
    case COVEY_ROUTE_SHM:
        if (same_host)
            return choose_direct(vm, peer, COVEY_ROUTE_SHM, true, req, conn);
        snprintf(req->text, sizeof req->text,
                 "route shm: t%x is on another host: take udp, tcp or auto", peer->tid);
        return COVEY_EROUTE;
    case COVEY_ROUTE_TCP:
        return choose_direct(vm, peer, COVEY_ROUTE_TCP, true, req, conn);
    case COVEY_ROUTE_ETHER: /* on another host: else it is not wanted, nor can be forced */
        return choose_direct(vm, peer, COVEY_ROUTE_ETHER, true, req, conn);
    default:
        break;
    }
    *conn = NULL;
    int direct = route_direct(vm, peer);
    if (direct == COVEY_ROUTE_TCP && peer->out.traffic_bytes < TCP_AFTER_BYTES)
        return 1;
    if (!same_host && (*conn = route_short(vm, peer, req)) != NULL)
        return 1;
    return choose_direct(vm, peer, direct, false, req, conn);
}

void route_expect_bulk(struct peer *peer)
{
    if (peer->out.traffic_bytes < TCP_AFTER_BYTES)
        peer->out.traffic_bytes = TCP_AFTER_BYTES;
}

void route_open_ahead(struct covey *vm, struct peer *peer)
{
    struct conn *conn;
    int route = route_wanted(vm, peer);
    route_expect_bulk(peer);
    if (route == COVEY_ROUTE_AUTO)
        route = route_direct(vm, peer);
    if (route != COVEY_ROUTE_UDP &&
        !(route == COVEY_ROUTE_SHM && tid_host(peer->tid) != vm->self.host))
        choose_direct(vm, peer, route, false, NULL, &conn);
}

uint8_t route_flags(const struct covey *vm, const struct peer *peer)
{
    bool ether = route_wanted(vm, peer) == COVEY_ROUTE_ETHER && peer->out.carrier == NULL;
    return ether ? FRAME_ETHER : 0;
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

void route_check(struct covey *vm, struct peer *peer, uint64_t now_us)
{
    for (int route = 0; route < ROUTES && peer->routes != NULL; route++) {
        struct route_state *state = &peer->routes[route];
        if (state->opening != OPENING_ASKED && state->opening != OPENING_CONNECTING)
            continue;
        if (now_us >= state->deadline_us && state->opening == OPENING_CONNECTING &&
            route == COVEY_ROUTE_ETHER)
            relay(vm, peer);
        else if (now_us >= state->deadline_us)
            route_failed(vm, peer, route, "no link within 10 s");
        else
            wait_check_at(vm, state->deadline_us);
    }
}

/* ---- the accepter's answer --------------------------------------------------------------------
 */

static socklen_t socket_address(const struct control_link *l, struct sockaddr_storage *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    struct cursor port = cursor_writer(&v4->sin_port, 2);
    memset(out, 0, sizeof *out);
    if (l->has_address && l->address.family == ADDRESS_IPV6) {
        struct cursor scope = cursor_reader(l->address.bytes + 18, 4);
        v6->sin6_family = AF_INET6;
        memcpy(&v6->sin6_addr, l->address.bytes, 16);
        v6->sin6_scope_id = cursor_get_u32(&scope);
        port = cursor_writer(&v6->sin6_port, 2);
        cursor_put_u16(&port, l->port);
        return sizeof *v6;
    }
    struct cursor ip = cursor_writer(&v4->sin_addr, 4);
    v4->sin_family = AF_INET;
    if (l->has_address)
        cursor_put_bytes(&ip, l->address.bytes, 4);
    else
        cursor_put_u32(&ip, INADDR_LOOPBACK);
    cursor_put_u16(&port, l->port);
    return sizeof *v4;
}

/* A socket that is connected or will be; < 0: errno. */
static int connect_socket(struct route_state *state, const struct control_link *l)
{
    struct sockaddr_storage address;
    socklen_t size = socket_address(l, &address);
    bool inside = state->has_stream;
    state->has_stream = false;
    if (inside)
        return state->stream_fd;
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, size) == 0 || errno == EINPROGRESS)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static const char *connect_tcp(struct covey *vm, struct peer *peer, const struct control_link *l)
{
    struct route_state *state = &peer->routes[COVEY_ROUTE_TCP];
    int fd = connect_socket(state, l);
    if (fd < 0)
        return strerror(errno);
    struct stream_auth auth;
    uint8_t challenge[AUTH_NONCE_BYTES];
    randombytes_buf(challenge, sizeof challenge);
    stream_auth_open(&auth, state->secret.key, vm->self.tid, peer->tid, state->nonce, challenge);
    auth.encrypt = state->secret.encrypt;
    struct link *link = link_tcp_open(fd, &auth);
    if (link == NULL) {
        close(fd);
        return "out of memory";
    }
    state->opening = OPENING_CONNECTING;
    state->pending = conn_create(vm, link, peer, COVEY_ROUTE_TCP);
    if (state->pending != NULL)
        return NULL;
    link->ops->free(link);
    return "out of memory or descriptors";
}

static void open_ether(struct covey *vm, struct peer *peer, const struct control_link *l, int *fds,
                       int nfds)
{
    struct route_state *state = &peer->routes[COVEY_ROUTE_ETHER];
    struct conn *conn =
        direct_take_port(vm, l, fds, nfds) ? direct_create(vm, peer, l, true) : NULL;
    state->opening = OPENING_CONNECTING;
    state->pending = conn;
    if (conn == NULL)
        relay(vm, peer);
}

static void on_accept(struct covey *vm, struct peer *peer, struct control_link *l, int *fds,
                      int nfds)
{
    struct route_state *state = &peer->routes[l->route];
    if (l->route == COVEY_ROUTE_SHM && nfds == 1 && state->pending != NULL &&
        link_shm_connect(state->pending->link, fds[0])) {
        fds[0] = -1;
        conn_ready_now(state->pending);
        return;
    }
    if (l->route == COVEY_ROUTE_ETHER) {
        open_ether(vm, peer, l, fds, nfds);
        return;
    }
    if (nfds == STREAM_FDS_LOST) { /* the other task takes the link for ready */
        home_lost(vm, COVEY_ERESOURCE, "out of descriptors: a link to another task is lost");
        return;
    }
    const char *why = "a wrong answer";
    if (l->route == COVEY_ROUTE_TCP)
        why = connect_tcp(vm, peer, l);
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
    int route = kind == FRAME_LINK_KEY ? COVEY_ROUTE_TCP : l->route;
    struct route_state *state = kind == FRAME_LINK_OPEN ? NULL : asked(peer, l, route);
    if (kind == FRAME_LINK_OPEN)
        route_on_open(vm, peer, l, fds, nfds);
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
    if (direct == COVEY_ROUTE_TCP && peer->out.traffic_bytes >= TCP_AFTER_BYTES && ether_conn(peer))
        return COVEY_ROUTE_ETHER;
    return up ? direct : COVEY_ROUTE_UDP;
}
