/* links: tests/unit/lib/engine/one_peer.c libcovey-sources */
/*
 * route_test.c - links that cannot be opened now, and strangers at the port where links come in.
 */
#include <CUnit/CUnit.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/drive/route_links.h"
#include "lib/engine/conn.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/member/part.h"
#include "lib/member/routes.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/message.h"
#include "tests/unit/lib/engine/one_peer.h"
#include "tests/unit/runner.h"

enum { STRANGERS = 200, ROOM = 64 };

struct task {
    struct one_peer one;
    struct link stub;
    int daemon; /* the other end of its stream */
};

static void begin(struct task *t)
{
    int ends[2];
    *t = (struct task){.stub = {.ops = &one_peer_no_ops}};
    one_peer_begin(&t->one, 0x40001, 0x80003, &t->stub, COVEY_ROUTE_UDP);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    t->daemon = ends[1];
    stream_destroy(t->one.vm->home.daemon);
    t->one.vm->home.daemon = stream_create(ends[0]);
    t->one.vm->home.lost = 0; /* it had none at first */
    t->one.vm->links.listener_watch.fd = -1;
    t->one.peer->forced_route = COVEY_ROUTE_TCP;
}

static void end(struct task *t)
{
    struct covey *vm = t->one.vm;
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next)
        conn_close(vm, conn, false);
    conn_bury(vm);
    if (vm->links.listener_watch.fd >= 0)
        close(vm->links.listener_watch.fd);
    t->one.conn = conn_create(vm, &t->stub, NULL, COVEY_ROUTE_UDP);
    one_peer_end(&t->one);
    close(t->daemon);
}

/* ---- an opening that failed ------------------------------------------------------------------ */

static int choose(struct task *t)
{
    static struct covey_msg msg;
    struct covey_req req = {.send.msg = &msg};
    struct conn *conn;
    return route_choose(t->one.vm, t->one.peer, &req, &conn);
}

static void what_failed_is_tried_again_later(void)
{
    struct task t;
    begin(&t);
    CU_ASSERT_EQUAL(choose(&t), 0); /* it is being opened */
    struct route_state *state = &t.one.peer->routes[COVEY_ROUTE_TCP];
    CU_ASSERT_EQUAL(state->opening, OPENING_ASKED);
    uint64_t pause_us = 0;
    for (int i = 0; i < 20; i++) {
        route_failed(t.one.vm, t.one.peer, COVEY_ROUTE_TCP, "no room");
        uint64_t now_us = clock_us();
        CU_ASSERT_EQUAL(choose(&t), COVEY_EROUTE); /* not at once */
        CU_ASSERT(state->deadline_us > now_us && state->deadline_us < now_us + 600000000);
        CU_ASSERT(state->deadline_us - now_us + 1000000 > pause_us);
        pause_us = state->deadline_us - now_us;
        state->deadline_us = now_us;
        CU_ASSERT_EQUAL(choose(&t), 0);
        CU_ASSERT_EQUAL(state->opening, OPENING_ASKED);
    }
    CU_ASSERT(pause_us > 100000000); /* each pause was longer, up to some minutes */
    end(&t);
}

/* ---- strangers ------------------------------------------------------------------------------- */

/* The other task asks: from now on there is a port. */
static uint16_t listen_for_links(struct task *t)
{
    struct control_link open = {.route = COVEY_ROUTE_TCP, .has_key = true};
    CU_ASSERT_PTR_NULL_FATAL(tcp_ops.on_open(t->one.vm, t->one.peer, &open, NULL, 0));
    CU_ASSERT_FATAL(t->one.vm->links.listener_watch.fd >= 0);
    return t->one.vm->links.listener_port;
}

static int stranger(uint16_t port)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CU_ASSERT_FATAL(fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
    return fd;
}

static void take_in(struct task *t)
{
    route_listener_ready(t->one.vm, &t->one.vm->links.listener_watch, EPOLLIN);
    conn_bury(t->one.vm);
}

static bool is_closed(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void the_oldest_stranger_makes_room(void)
{
    struct task t;
    int fds[STRANGERS];
    begin(&t);
    uint16_t port = listen_for_links(&t);
    for (int i = 0; i < STRANGERS; i++) {
        fds[i] = stranger(port);
        take_in(&t);
    }
    for (int i = 0; i < STRANGERS; i++) {
        CU_ASSERT_EQUAL(is_closed(fds[i]), i < STRANGERS - ROOM);
        close(fds[i]);
    }
    end(&t);
}

static rlim_t limit_files(rlim_t most)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    rlim_t before = files.rlim_cur;
    files.rlim_cur = most;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &files), 0);
    return before;
}

/* Without descriptors a stranger goes; where there is none the listener rests for a moment. */
static void no_descriptors(void)
{
    struct task t;
    begin(&t);
    uint16_t port = listen_for_links(&t);
    struct watch *listener = &t.one.vm->links.listener_watch;
    int first = stranger(port);
    take_in(&t);
    int second = stranger(port), last = dup(0);
    rlim_t before = limit_files((rlim_t)last + 1);
    take_in(&t);
    CU_ASSERT(is_closed(first));
    CU_ASSERT_EQUAL(listener->events, EPOLLIN);
    int taken = dup(0); /* what it had */
    CU_ASSERT(taken >= 0);
    take_in(&t);
    CU_ASSERT_EQUAL(listener->events, 0);
    CU_ASSERT(t.one.vm->links.accept_again_us > 0 &&
              t.one.vm->wait.check_at_us <= t.one.vm->links.accept_again_us);
    close(taken);
    parts_check(t.one.vm, t.one.vm->links.accept_again_us);
    CU_ASSERT_EQUAL(listener->events, EPOLLIN);
    take_in(&t);
    CU_ASSERT_FALSE(is_closed(second));
    limit_files(before);
    close(last);
    close(first);
    close(second);
    end(&t);
}

/* Programs go through the routes by it: numbers without gaps, then 0. */
static void whom_a_route_reaches(void)
{
    int both = COVEY_REACH_INSIDE | COVEY_REACH_OUTSIDE, route = 0;
    CU_ASSERT_EQUAL(covey_route_reach(COVEY_ROUTE_AUTO), both);
    CU_ASSERT_EQUAL(covey_route_reach(COVEY_ROUTE_SHM), COVEY_REACH_INSIDE);
    CU_ASSERT_EQUAL(covey_route_reach(COVEY_ROUTE_ETHER), COVEY_REACH_OUTSIDE);
    while (covey_route_reach(route) != 0)
        route++;
    CU_ASSERT_EQUAL(route, ROUTES);
    CU_ASSERT_EQUAL(covey_route_reach(-1), 0);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"whom a route reaches", whom_a_route_reaches},
        {"what failed is tried again later", what_failed_is_tried_again_later},
        {"the oldest stranger makes room", the_oldest_stranger_makes_room},
        {"no descriptors", no_descriptors},
    };
    return covey_test_main("route", cases, sizeof cases / sizeof cases[0]);
}
