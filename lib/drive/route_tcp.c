/*
 * route_tcp.c - streams between tasks. The daemons give both tasks the key of the link, the opener
 * connects to the accepter's port, and both prove the key (link_tcp.c). Which task a stream is of
 * shows only when it proves its key, so until then it has no peer, and there may be but few of
 * those: the oldest makes room for a new one, or anyone who connects and says nothing could keep
 * all others out.
 *
 * Within the host a stream is a pair of Unix sockets, one of which travels with LINK_OPEN: what is
 * written to one end lies at the other at once, as in a ring, which messages of one host need to
 * keep their order (order.c).
 */
#include "lib/drive/route_links.h"
#include "lib/engine/conn.h"
#include "lib/engine/peer.h"
#include "lib/engine/route.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/member/routes.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/wire/control.h"
#include "proto/wire/cursor.h"

#include <errno.h>
#include <netinet/in.h>
#include <sodium.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANDSHAKE_US 5000000u
#define UNPROVED_MAX 64 /* accepted connections that have not proved their key */
#define ACCEPTS_MAX 64  /* a time, so that links go on, too */
#define ACCEPT_AGAIN_US 100000u

static int listener_socket(int family, uint16_t *port)
{
    int off = 0;
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    struct sockaddr *address =
        family == AF_INET6 ? (struct sockaddr *)&any6 : (struct sockaddr *)&any4;
    socklen_t size = family == AF_INET6 ? sizeof any6 : sizeof any4;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, address, size) != 0 || listen(fd, 128) != 0 ||
        getsockname(fd, address, &size) != 0) {
        close(fd);
        return -1;
    }
    struct cursor c =
        cursor_reader(family == AF_INET6 ? (void *)&any6.sin6_port : (void *)&any4.sin_port, 2);
    *port = cursor_get_u16(&c);
    return fd;
}

static bool listener_start(struct covey *vm)
{
    if (vm->links.listener_watch.fd >= 0)
        return true;
    int fd = listener_socket(AF_INET6, &vm->links.listener_port);
    if (fd < 0)
        fd = listener_socket(AF_INET, &vm->links.listener_port);
    if (fd < 0)
        return false;
    vm->links.listener_watch =
        (struct watch){.ready = route_listener_ready, .fd = fd, .events = EPOLLIN};
    return watch_add(vm, &vm->links.listener_watch) == COVEY_OK;
}

static bool find_key(void *context, struct link *link, uint32_t opener, uint32_t accepter,
                     const uint8_t nonce[AUTH_NONCE_BYTES], struct link_secret *secret)
{
    struct covey *vm = context;
    struct peer *peer = accepter == vm->self.tid ? peer_find(vm, opener) : NULL;
    struct route_state *state =
        peer == NULL || peer->routes == NULL ? NULL : &peer->routes[COVEY_ROUTE_TCP];
    struct conn *conn = vm->links.conns;
    while (conn != NULL && conn->link != link)
        conn = conn->next;
    if (state == NULL || conn == NULL || !state->accepting ||
        memcmp(state->accept_nonce, nonce, AUTH_NONCE_BYTES) != 0)
        return false;
    *secret = state->accept_secret;
    conn->peer = peer;
    return true;
}

/* The oldest that has not even said which link it is, or else the oldest that has not proved it;
 * the first one in the list is the latest. */
static struct conn *unproved_oldest(const struct covey *vm, unsigned *count)
{
    struct conn *oldest = NULL;
    *count = 0;
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (conn->deadline_us == 0 || conn->ready || conn->closed)
            continue;
        (*count)++;
        if (oldest == NULL || oldest->peer != NULL || conn->peer == NULL)
            oldest = conn;
    }
    return oldest;
}

/* Takes a stream in that somebody opened; the descriptor, too. */
static void route_accept_stream(struct covey *vm, int fd)
{
    unsigned count;
    struct conn *oldest = unproved_oldest(vm, &count);
    if (count >= UNPROVED_MAX)
        conn_close(vm, oldest, false);
    struct link *link = link_tcp_accept(fd, find_key, vm);
    if (link == NULL) {
        close(fd);
        return;
    }
    struct conn *conn = conn_create(vm, link, NULL, COVEY_ROUTE_TCP);
    if (conn == NULL) {
        link->ops->free(link);
        return;
    }
    conn->deadline_us = clock_us() + HANDSHAKE_US;
    wait_check_at(vm, conn->deadline_us);
}

/* Without descriptors accept() would fail again and again: one is freed, or there is a pause. */
static void no_descriptors(struct covey *vm, struct watch *watch)
{
    unsigned count;
    struct conn *oldest = unproved_oldest(vm, &count);
    if (oldest != NULL) {
        conn_close(vm, oldest, false);
        return;
    }
    vm->links.accept_again_us = clock_us() + ACCEPT_AGAIN_US;
    wait_check_at(vm, vm->links.accept_again_us);
    watch_change(vm, watch, 0);
}

void route_accept_again(struct covey *vm, uint64_t now_us)
{
    if (vm->links.accept_again_us == 0)
        return;
    if (now_us < vm->links.accept_again_us) {
        wait_check_at(vm, vm->links.accept_again_us);
        return;
    }
    vm->links.accept_again_us = 0;
    watch_change(vm, &vm->links.listener_watch, EPOLLIN);
}

void route_listener_ready(struct covey *vm, struct watch *watch, uint32_t events)
{
    bool any = false;
    (void)events;
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        int fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0) { /* without descriptors also where nobody is left */
            if (errno != EAGAIN && !any)
                no_descriptors(vm, watch);
            return;
        }
        any = true;
        route_accept_stream(vm, fd);
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static int open_stream(struct covey *vm, struct peer *peer, struct route_state *state)
{
    int ends[2];
    route_stream_drop(state);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(COVEY_ERESOURCE, "out of descriptors");
    state->has_stream = true;
    state->stream_fd = ends[0];
    int error = route_send_open(vm, peer, COVEY_ROUTE_TCP, &ends[1], 1);
    close(ends[1]);
    return error;
}

static int open_tcp(struct covey *vm, struct peer *peer, struct route_state *state)
{
    bool inside = tid_host(peer->tid) == vm->self.host;
    return inside ? open_stream(vm, peer, state)
                  : route_send_open(vm, peer, COVEY_ROUTE_TCP, NULL, 0);
}

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

static const char *connect_tcp(struct covey *vm, struct peer *peer, struct control_link *l,
                               int *fds, int nfds)
{
    (void)fds, (void)nfds;
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

/* ---- another task opens ---------------------------------------------------------------------- */

static const char *accept_tcp(struct covey *vm, struct peer *peer, struct control_link *l, int *fds,
                              int nfds)
{
    struct route_state *state = route_state_get(peer, COVEY_ROUTE_TCP);
    bool inside = tid_host(peer->tid) == vm->self.host;
    if (nfds == STREAM_FDS_LOST)
        return "it is out of descriptors";
    if (!l->has_key || state == NULL || !(inside ? nfds == 1 : listener_start(vm)))
        return "it cannot listen for streams";
    state->accepting = true;
    memcpy(state->accept_nonce, l->nonce, sizeof l->nonce);
    memcpy(state->accept_secret.key, l->key, sizeof l->key);
    state->accept_secret.encrypt = l->encrypt;
    l->port = vm->links.listener_port;
    route_answer(vm, peer->tid, l, NULL, 0);
    if (!inside)
        return NULL;
    route_accept_stream(vm, fds[0]);
    fds[0] = -1;
    return NULL;
}

const struct route_ops tcp_ops = {
    .open = open_tcp, .on_accept = connect_tcp, .on_open = accept_tcp, .needs_fds = true};
