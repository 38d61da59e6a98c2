/*
 * node_state.h - what node.c, reception.c and node_stat.c share and nobody else sees.
 */
#ifndef COVEY_PROTO_NODE_STATE_H
#define COVEY_PROTO_NODE_STATE_H

#include "proto/member.h"
#include "proto/node.h"
#include "proto/session.h"

/* One other host with which there is a session. */
struct peer {
    uint32_t index;
    struct session *session;
    uint64_t deadline_us; /* of the session; 0: step it at once */
    uint64_t close_us;    /* the session ends then; UINT64_MAX: it stays */
};

struct node {
    struct node_config config;
    struct node_owner owner;
    struct endpoint endpoint;
    struct member *member;
    struct peer *peers[HOST_INDEX_MAX + 1];
    struct peer *open[HOST_INDEX_MAX + 1]; /* those that are not NULL, close together */
    size_t open_count;
    uint64_t now_us;
    uint64_t due_us;            /* what node_step() last returned */
    uint64_t log_next_us;       /* refusals are logged again then */
    struct window_stats closed; /* sums over sessions that ended */
};

/* Takes note of the time, and of standing still (see member_on_late()). */
void node_notice(struct node *node, uint64_t now_us);
/* The peer of that row, made if there is none; NULL: no memory. */
struct peer *node_peer(struct node *node, const struct row *row);
void node_log(struct node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));
void node_stat_closed(struct node *node, const struct session *session);

#endif
