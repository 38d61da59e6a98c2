/*
 * trace.h - a trace in memory: what all tasks did, on one clock. A file becomes one by
 * trace_read(); what is made of it (other forms, reasons) are functions over it.
 */
#ifndef COVEY_TOOLS_TRACE_H
#define COVEY_TOOLS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/trace/trace_record.h"

#define TRACE_NONE UINT32_MAX
#define TRACE_EVENTS_MAX 100000000u
#define TRACE_HOSTS_MAX 4096u
#define TRACE_TIME_MAX ((uint64_t)4000000000000000000) /* ns in a file: a hundred years */

/* Times are nanoseconds since the trace began. */
struct trace_event {
    uint64_t begin_ns, end_ns;
    uint64_t bytes;
    uint64_t sequence; /* of a message, among those of its pair; else the record's */
    double value;      /* of a count */
    uint32_t task;
    uint32_t peer; /* a tid; of a collective: the team's context */
    int32_t tag;
    uint32_t name;  /* of the call; of a mark or a lock: its own; in names */
    uint32_t match; /* the other end of a message; TRACE_NONE: not in the trace */
    uint8_t kind;   /* enum trace_kind */
    bool call;      /* it is a call of its task, too */
};

struct trace_task {
    uint32_t tid, parent, host; /* an index */
    char command[64];
    bool ended;
    uint64_t dropped;
    size_t first, count; /* of its events, which are in the order in which they began */
    uint64_t begin_ns, end_ns;
};

/* A question to a host's daemon: on the collector's clock, and its answer on the host's. */
struct trace_look {
    uint64_t before_ns, after_ns, host_ns;
};

struct trace_host {
    uint32_t index;
    char name[64];
    struct trace_look *looks;
    size_t look_count, look_room;
    uint32_t untraced;
};

/* What is round the tasks, in the order of time; what is not known is negative. */
struct seen_host {
    uint64_t at_ns;
    uint32_t host; /* of hosts of the trace */
    double busy;   /* share of its cores */
    double used_bytes, total_bytes;
    double received, sent; /* bytes a second */
};

struct seen_bag {
    uint64_t at_ns, put, done, ready, leased; /* items */
    uint32_t name;                            /* in names */
    int workers;
};

struct seen_node {
    char name[64];
    bool is_switch;
};

struct seen_link {
    uint32_t a, b; /* nodes */
    double bits;   /* a second, each way */
};

struct seen_log {
    uint32_t host; /* TRACE_NONE: no host's */
    char *text;
};

struct trace_seen {
    struct seen_host *hosts;
    struct seen_bag *bags;
    struct seen_node *nodes;
    struct seen_link *links;
    struct seen_log *logs;
    size_t host_count, bag_count, node_count, link_count, log_count;
    size_t host_room, bag_room, node_room, link_room, log_room;
};

struct trace {
    struct trace_host *hosts;
    struct trace_task *tasks;
    struct trace_event *events; /* by task */
    char **names;               /* 0: "" */
    size_t host_count, task_count, event_count, name_count;
    size_t host_room, task_room, event_room, name_room;
    struct trace_seen seen;
    uint64_t begin_ns; /* on the clock of who collected */
    uint64_t end_ns;
    uint64_t dropped, untraced, clamped; /* messages that seemed to arrive before they left */
    bool cut;                            /* the file ends in the middle */
    char error[160];                     /* why trace_read() failed */
};

/* Fills the trace, which is zeroed before; false: error says why. What is behind a damaged place is
 * left out (cut). Free it in any case. */
bool trace_read(struct trace *trace, const uint8_t *bytes, size_t size);
void trace_free(struct trace *trace);

/* ---- the steps of that, and what tests make traces by ---- */

uint32_t trace_text(struct trace *trace, const char *text); /* its number, TRACE_NONE: no memory */
uint32_t trace_host(struct trace *trace, uint32_t index, const char *name);
uint32_t trace_task(struct trace *trace, uint32_t host, uint32_t tid);
uint32_t trace_find(const struct trace *trace, uint32_t tid); /* TRACE_NONE: it is not in it */
struct trace_event *trace_event(struct trace *trace); /* a new one, zeroed; NULL: no memory */
bool trace_look(struct trace_host *host, const struct trace_look *look);
bool trace_grow(void **items, size_t *room, size_t count, size_t size); /* for one more */

/* Lines that tell what was seen then; those that cannot be are left out. False: no memory. */
bool seen_take(struct trace *trace, uint64_t at_ns, const char *text, size_t size);
void seen_shift(struct trace *trace); /* to times since the trace began */
void seen_free(struct trace_seen *seen);

/* Times of events, which are on the hosts' clocks, become times on one. */
bool trace_clock(struct trace *trace); /* false: no memory */
/* By task and time; spans of tasks. False: no memory. */
bool trace_sort(struct trace *trace);
/* Which message is which: by pair and number. False: no memory. */
bool trace_match(struct trace *trace);
/* No message arrives before it left: hosts' clocks are moved as far as that needs. */
bool trace_mend(struct trace *trace);

/* For qsort(): by task and time, and what contains something before it; 0: the same interval. */
struct trace_interval {
    uint32_t task;
    uint64_t begin_ns, end_ns;
};
int trace_order(struct trace_interval x, struct trace_interval y);

const char *trace_kind_name(int kind); /* "?" for none */
bool trace_is_send(const struct trace_event *e);
bool trace_is_receive(const struct trace_event *e);

#endif
