/*
 * daemon.h - the one struct that owns everything in coveyd. The essay stands in daemon.c.
 */
#ifndef COVEY_DAEMON_DAEMON_H
#define COVEY_DAEMON_DAEMON_H

#include "daemon/base/conf.h"
#include "daemon/base/files.h"
#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/base/options.h"
#include "daemon/base/runtime.h"
#include "daemon/table/task.h"
#include "proto/node/node.h"
#include "proto/wire/control.h"

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
    size_t tasks, hosts;   /* queues for them */
    size_t bags, incoming; /* and requests to bags, and logs, that are not whole yet */
};

struct daemon {
    const struct options *options;
    struct conf conf;
    struct log log;
    struct loop *loop;
    struct runtime runtime;
    char name[HOST_NAME_MAX_BYTES + 1];
    char program[256]; /* where coveyd itself is */
    struct files files;
    struct control_bootstrap invitation; /* how this daemon joins: options->join */

    struct udp *udp;
    struct fault_line *faults; /* before the socket; NULL: none are wanted */
    struct loop_fd *udp_watch;
    uint64_t read_us; /* when the socket was read in the middle of a large frame; 0: not in one */
    double receive_rate;     /* of large frames, bytes per us; 0: not known */
    uint64_t read_at_us;     /* it is left alone until then; 0: it is watched */
    struct segment *segment; /* raw Ethernet */
    struct node *node;
    struct loop_alarm *node_alarm;
    struct node_config node_config;

    struct local *local; /* the socket on which tasks call */
    struct tasks tasks;
    uint64_t stamp;       /* of the last message for a task here, see proto/wire/stamp.h */
    struct spawn *spawns; /* requests whose tasks are being started, the oldest first */
    struct spawn *spawns_last;
    size_t spawns_bytes;         /* that they take */
    uint32_t tasker;             /* the task that starts the others; 0: the daemon */
    bool given_back;             /* a tasker did, and not all of it is started */
    struct launch *launches;     /* hosts being added */
    struct agreement *agreement; /* the agreed state; and what tasks here want of it */
    struct services *services;
    struct bags *bags;             /* what tasks share their work by */
    struct contention *contention; /* tokens of contention domains */
    struct casting *casting;  /* messages for tasks of many hosts; NULL before this one joined */
    struct monitor *monitor;  /* how busy the host is */
    struct gauge *gauge;      /* how fast it is */
    struct metrics *metrics;  /* where others see it; NULL: nowhere */
    struct ending *ending;    /* how the daemon ends */
    struct removal *removals; /* hosts being removed */
    bool halt_wanted;
    struct loop_signal *on_term, *on_int, *on_hup;

    struct budget budget;
    struct daemon_counters counters;
    char *topology; /* the text of the file that the configuration names; see topology.h */
    bool joined;
    int ready_fd; /* where whoever started it waits to hear; -1: told */
    struct loop_timer *ready_look;
    int exit_status;
};

/* Prepares a daemon: files, sockets, engines. NULL and *why on failure. `ready_fd` gets one line,
 * "ok INDEX" or the reason, when it is known whether the daemon has joined; it is then closed. */
struct daemon *daemon_create(const struct options *options, const struct conf *conf,
                             const struct control_bootstrap *invitation, int ready_fd,
                             struct failure *why);

/* Runs until the daemon ends; returns its exit status. */
int daemon_run(struct daemon *d);
void daemon_destroy(struct daemon *d); /* NULL is fine */

/* This host's index; 0 before it joined. Its daemon's tid. */
uint32_t daemon_host(const struct daemon *d);
uint32_t daemon_tid(const struct daemon *d);
bool daemon_coordinates(const struct daemon *d);

/* Sends a datagram by the lane of the address, through the faults that are wanted. */
void daemon_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size);

#endif
