/*
 * routes.h - the table of routes: one row for each way by which messages go between tasks. Nothing
 * else names a route to find out what it can: what is asked is a column here.
 *
 * A row has two halves. What the route is and can (struct route) anybody may ask. What opens its
 * links (struct route_ops) stands above the engine's core, which calls it by vm->links.ops, for
 * opening a link ends in that core; lib/root/parts.c puts it there.
 */
#ifndef COVEY_LIB_MEMBER_ROUTES_H
#define COVEY_LIB_MEMBER_ROUTES_H

#include "lib/covey.h"
#include "proto/wire/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;
struct control_link;
struct covey;
struct covey_req;
struct link;
struct peer;
struct route_state;

#define ROUTES 5 /* enum covey_route */

/* Traffic of a pair that makes a stream worth it. */
#define STREAM_AFTER_BYTES ((uint64_t)256 * 1024)

/* ROW(number, functions, what it is and can) */
#define ROUTE_TABLE(ROW)                                                                           \
    ROW(COVEY_ROUTE_AUTO, no_ops, .name = "auto", .inside = true, .outside = true)                 \
    ROW(COVEY_ROUTE_SHM, shm_ops, .name = "shm", .inside = true, .preference = 2, .ring = true)    \
    ROW(COVEY_ROUTE_UDP, no_ops, .name = "udp", .inside = true, .outside = true,                   \
        .by_daemons = true, .blind = true)                                                         \
    ROW(COVEY_ROUTE_TCP, tcp_ops, .name = "tcp", .inside = true, .outside = true, .preference = 1, \
        .after_bytes = STREAM_AFTER_BYTES, .stream = true)                                         \
    ROW(COVEY_ROUTE_ETHER, ether_ops, .name = "ether", .outside = true, .broadcast = true,         \
        .blind = true, .home_flags = FRAME_ETHER)

struct route {
    const char *name;
    bool inside, outside; /* it reaches tasks of this host; of others */
    bool by_daemons;      /* it needs no link between the tasks */
    unsigned preference;  /* among links, where the program leaves the choice; 0: it is no link, or
                             one for short messages beside another (choose_short) */
    uint64_t
        after_bytes;    /* the traffic of a pair that makes such a link worth it, left the choice */
    bool stream;        /* bytes in order, which a kernel holds: see link_tcp.c */
    bool ring;          /* memory of both ends, which keeps messages of one host in order */
    bool broadcast;     /* one frame reaches several hosts */
    bool blind;         /* its sender does not know what is on its way: see pace.h */
    uint8_t home_flags; /* of its frames where they pass the daemons */
};

extern const struct route routes[ROUTES];

/* Functions that a route has no use for are NULL. */
struct route_ops {
    /* Gets what the link needs and asks the other task by route_send_open(). 0, or an error. */
    int (*open)(struct covey *vm, struct peer *peer, struct route_state *state);
    /* The other task has accepted: goes on. NULL, or why it cannot. Takes fds: those become -1. */
    const char *(*on_accept)(struct covey *vm, struct peer *peer, struct control_link *l, int *fds,
                             int nfds);
    /* Another task opens: answers by route_answer(). NULL, or why the link is refused. */
    const char *(*on_open)(struct covey *vm, struct peer *peer, struct control_link *l, int *fds,
                           int nfds);
    /* Lost descriptors leave the link half open. */
    bool needs_fds;
    /* Accepted, and not up in time: goes on without a link. NULL: the opening failed. */
    void (*on_late)(struct covey *vm, struct peer *peer);
    /* Left the choice: a link that suits a short message better; NULL: there is none. */
    struct conn *(*choose_short)(struct covey *vm, struct peer *peer, const struct covey_req *req);
    /* The link, when it is there, works. NULL: always. */
    bool (*works)(const struct link *link);
    /* Bytes that a link of ours holds and has not sent; NULL: it holds none. */
    size_t (*waiting)(const struct link *link);
};

#endif
