/*
 * daemon.h - struct daemon: all that the rooms of coveyd share, in named parts. The essay stands in
 * daemon/root/daemon.c; who this daemon is, in self.h; what it asks of its parts, in part.h.
 *
 * A room sees of an upper room no more than the name of a struct here.
 */
#ifndef COVEY_DAEMON_BASE_DAEMON_H
#define COVEY_DAEMON_BASE_DAEMON_H

#include "daemon/base/conf.h"
#include "daemon/base/files.h"
#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/base/options.h"
#include "daemon/base/part.h"
#include "daemon/base/runtime.h"
#include "daemon/base/self.h"
#include "proto/node/node.h"
#include "proto/wire/frame.h"

struct daemon_counters {
    uint64_t frames_from_tasks, frames_to_tasks, frames_to_hosts, frames_from_hosts,
        frames_detoured;
    uint64_t bytes_from_tasks, bytes_to_tasks;
    uint64_t frames_spread; /* data frames made of multicasts that came from other hosts */
    uint64_t frames_refused, frames_undeliverable;
    uint64_t callers_refused; /* connections that did not become a task */
    uint64_t streams_refused; /* tasks that broke the protocol */
    uint64_t tasks_spawned, tasks_enrolled, tasks_ended, spawns_failed;
};

/* Bytes of what waits here; see budget.h. */
struct budget {
    size_t tasks, hosts; /* queues for them */
    size_t bags;
    size_t incoming; /* requests to bags, and logs, that are not whole yet */
    size_t outgoing; /* and those, and answers, that go out part by part */
};

/* What each part has for its own; its file alone opens it. */
struct daemon_own {
#define PART_STATE(name) struct name *name;
    DAEMON_PARTS_WITH_STATE(PART_STATE)
#undef PART_STATE
};

#define DAEMON_SIGNALS 3
#define DAEMON_STATES (sizeof(struct daemon_own) / sizeof(void *))

/* Who takes the frames of a kind that are for this daemon; see daemon/root/dispatch.c. */
struct daemon_taker {
    part_handler *handle; /* NULL: nobody */
    enum part_number part;
    bool request;
};

/* Who leads the log of what is agreed, as the parts saw it last. */
struct daemon_office {
    uint32_t leader;
    uint64_t generation;
    bool leads; /* this host, and may propose */
};

struct daemon {
    struct self self; /* who and where it is */
    const struct options *options;
    struct conf conf;
    struct log log;
    struct loop *loop;
    struct runtime runtime;
    struct files files;

    struct media *media; /* by which datagrams go */
    struct node *node;
    struct node_config node_config;
    struct loop_alarm *alarm; /* of the node and the parts */

    struct tasks *tasks; /* of this host */
    struct budget budget;
    struct daemon_counters counters;

    const struct part *const *parts; /* PARTS of them */
    struct part_due due[PARTS];
    union {
        struct daemon_own own;
        void *states[DAEMON_STATES]; /* the same by the part's number */
    };
    struct daemon_taker takers[UINT8_MAX + 1]; /* by kind of frame */

    struct loop_signal *signals[DAEMON_SIGNALS];
    struct daemon_office office;
    char *topology; /* the text of the file that the configuration names; see topology.h */
    bool joined;
    int ready_fd; /* where whoever started it waits to hear; -1: told */
    int exit_status;
};

/* The part was given something: it is stepped in the next round, which loop_wake() makes come now.
 */
static inline void part_want(struct daemon *d, enum part_number part)
{
    d->due[part].wanted = true;
}

#endif
