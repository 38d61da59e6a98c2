/*
 * web_look.h - one look at a VM: all that the live page shows of it is asked for here, and is in
 * `struct web_look`.
 */
#ifndef COVEY_TOOLS_WEB_LOOK_H
#define COVEY_TOOLS_WEB_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/base/tool.h"

#define WEB_LINE_BYTES 240
#define WEB_LINES_A_LOOK 64
#define WEB_TASKS_A_LOOK 10000
#define WEB_PEERS_A_LOOK 256 /* tasks that are asked to whom they have sent */

/* A line of a daemon's log. */
struct web_line {
    char host[64];
    char text[WEB_LINE_BYTES];
};

/* A list that could not be had is empty. Hosts are in the order of their indices; one that does not
 * answer is COVEY_HOST_SUSPECT and has no tasks. */
struct web_look {
    char trouble[200]; /* why something is not known; "": all is */
    struct covey_host *hosts;
    struct covey_host_stat *stats; /* by host */
    int host_count;
    struct covey_task *tasks;
    struct covey_task_stat *task_stats; /* by task */
    int task_count;
    int tasks_left_out; /* of more than WEB_TASKS_A_LOOK */
    bool has_peers;
    struct covey_task_peer *peers; /* who has sent to whom */
    int peer_count;
    struct covey_bag_info *bags;
    int bag_count;
    struct covey_held *held;
    int held_count;
    bool has_topology; /* it was asked for this time */
    struct covey_topology_node *nodes;
    int node_count;
    struct covey_topology_link *links;
    int link_count;
    struct web_line *lines;
    int line_count;
};

struct web_looker;

/* `tool` stays the caller's, who does not use it meanwhile. NULL: memory is exhausted. */
struct web_looker *web_looker_create(struct tool *tool);
void web_looker_destroy(struct web_looker *looker);

/* Asks; a VM that does not answer makes a look with trouble, and is joined again by the next one.
 * NULL: memory is exhausted. */
struct web_look *web_look_take(struct web_looker *looker);
void web_look_free(struct web_look *look);

#endif
