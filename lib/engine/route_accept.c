/*
 * route_accept.c - the accepter's half of a direct link: other tasks' LINK_OPENs are answered, and
 * the streams that they then open are taken in. Which task a stream is of shows only when it proves
 * its key, so until then it has no peer, and there may be but few of those: the oldest makes room
 * for a new one, or anyone who connects and says nothing could keep all others out.
 */
#include "lib/engine/route_accept.h"
#include "lib/engine/conn.h"
#include "lib/engine/direct.h"
#include "lib/engine/home.h"
#include "lib/engine/order.h"
#include "lib/engine/peer.h"
#include "lib/engine/route.h"
#include "lib/engine/vm.h"
#include "lib/engine/watch.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/msg/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
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

void route_accept_stream(struct covey *vm, int fd)
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

static void answer(struct covey *vm, uint32_t tid, const struct control_link *l, const int *fds,
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
    answer(vm, tid, l, NULL, 0);
}

static void accept_shm(struct covey *vm, struct peer *peer, struct control_link *l, int *fds)
{
    const char *why;
    struct link *link = link_shm_accept(fds[0], fds[1], &why);
    if (link == NULL) {
        refuse(vm, peer->tid, l, why);
        return;
    }
    fds[1] = -1; /* the link's now */
    struct conn *conn = conn_create(vm, link, peer, COVEY_ROUTE_SHM);
    if (conn == NULL || route_state_get(peer, COVEY_ROUTE_SHM) == NULL) {
        refuse(vm, peer->tid, l, "out of memory");
        if (conn == NULL)
            link->ops->free(link);
        return;
    }
    answer(vm, peer->tid, l, &vm->wait.doorbell, 1);
    conn_ready_now(conn);
}

/* Within the host the stream itself comes with what asks for it. */
static void accept_tcp(struct covey *vm, struct peer *peer, struct control_link *l, int *fds,
                       int nfds)
{
    struct route_state *state = route_state_get(peer, COVEY_ROUTE_TCP);
    bool inside = tid_host(peer->tid) == vm->self.host;
    if (!l->has_key || state == NULL || !(inside ? nfds == 1 : listener_start(vm))) {
        refuse(vm, peer->tid, l, "it cannot listen for streams");
        return;
    }
    state->accepting = true;
    memcpy(state->accept_nonce, l->nonce, sizeof l->nonce);
    memcpy(state->accept_secret.key, l->key, sizeof l->key);
    state->accept_secret.encrypt = l->encrypt;
    l->port = vm->links.listener_port;
    answer(vm, peer->tid, l, NULL, 0);
    if (!inside)
        return;
    route_accept_stream(vm, fds[0]);
    fds[0] = -1;
}

/* Unless the link goes straight what follows comes by the stream of the daemon. */
static void accept_ether(struct covey *vm, struct peer *peer, struct control_link *l, int *fds,
                         int nfds)
{
    l->direct = route_state_get(peer, COVEY_ROUTE_ETHER) != NULL &&
                direct_take_port(vm, l, fds, nfds) && direct_create(vm, peer, l, false) != NULL;
    l->has_key = l->has_address = false;
    answer(vm, peer->tid, l, NULL, 0);
}

void route_on_open(struct covey *vm, struct peer *peer, struct control_link *l, int *fds, int nfds)
{
    if (l->route == COVEY_ROUTE_SHM && nfds == 2 && tid_host(peer->tid) == vm->self.host)
        accept_shm(vm, peer, l, fds);
    else if (l->route == COVEY_ROUTE_TCP && nfds != STREAM_FDS_LOST)
        accept_tcp(vm, peer, l, fds, nfds);
    else if (l->route == COVEY_ROUTE_ETHER)
        accept_ether(vm, peer, l, fds, nfds);
    else
        refuse(vm, peer->tid, l,
               nfds == STREAM_FDS_LOST ? "it is out of descriptors"
                                       : "it does not take links of that route");
}
