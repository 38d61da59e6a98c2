/*
 * task.h - the tasks of this host: the table, and what is known of each.
 *
 * A task is either spawned by this daemon (its child, or that of a tasker) or a process that
 * enrolled by itself. It ends, and is destroyed, when the child was reaped and its output is read,
 * or when the stream of a process that was not spawned closes.
 */
#ifndef COVEY_DAEMON_TASK_H
#define COVEY_DAEMON_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/wire/control.h"

struct daemon;
struct loop_fd;
struct loop_child;
struct loop_timer;
struct ledger;
struct stream;
struct task_page;

/* One output pipe of a child; see output.c. */
struct output {
    struct task *task;
    struct loop_fd *watch; /* NULL: closed */
    int fd;
    uint8_t number; /* 1 or 2 */
    uint8_t *bytes; /* OUTPUT_BYTES_MAX, NULL while nothing is held */
    size_t used;    /* the start of a line whose end has not come */
};

/* A frame for a spawned task that has not enrolled yet. */
struct pending {
    struct pending *next;
    struct frame frame;
    int fds[FRAME_FDS_MAX];
    int nfds;
    uint8_t payload[];
};

/* What a task of another host has in the queue of one here; see backlog.c. */
struct backlog {
    uint32_t source;
    bool cut;                /* it went beyond its credit */
    uint64_t older, younger; /* bytes of the two generations */
    uint64_t mark;           /* when so much was written, the older one has left the queue */
};

struct backlogs {
    struct backlog *items;
    size_t count, capacity;
};

/* Whose queue is too long, so that a task that sends there is not read; its own, too. */
enum blocked_by {
    BLOCKED_BY_HOST = 1,
    BLOCKED_BY_TASK,
    BLOCKED_BY_FDS,    /* descriptors wait for the task */
    BLOCKED_BY_ANSWERS /* that it waits for itself, of the host */
};

struct blocked {
    bool any;
    enum blocked_by by;
    uint32_t whom; /* host index (this one: what waits to be cast or agreed on) or tid */
};

/* The way to a task and from it, and what waits on it; see connection.c and daemon/post/intake.c.
 */
struct task_way {
    struct stream *stream;  /* NULL: not enrolled or closed */
    struct ledger *ledger;  /* how far this daemon is with the stream; as long as that */
    struct task_page *page; /* what the task counts, to be looked at; NULL: it shows nothing */
    struct loop_fd *watch;
    struct task *next_dirty;
    bool dirty;
    bool broken; /* a frame for it was lost: it is disconnected next */
    struct blocked blocked;
    struct pending *pending, **pending_end;
    size_t pending_bytes;
    unsigned pending_fds; /* in pending */
    unsigned counted_fds; /* of what waits for it, in tasks.fds; */
    size_t counted_bytes; /* in budget.tasks */
    uint64_t queued_ever; /* bytes */
    struct backlogs backlogs;
    uint8_t *asked; /* by host: its requests without an answer yet; NULL: there were none */
};

/* How a task ends; see exit.c. */
struct task_end {
    bool killed;    /* it was asked for */
    bool dismissed; /* by its parent, or because that has ended */
    bool left;      /* the task said so itself; its process may go on */
    bool reaped;
    struct loop_child *child;
    struct loop_timer *linger, *kill;
    uint8_t kind; /* enum covey_exit_kind */
    int32_t value;
};

/* Who is told of its end; see watch.c. */
struct watchers {
    uint32_t *tids;
    size_t count, capacity;
};

/* When it was spawned, and what it used of processors until the last two looks at this host; see
 * daemon/monitor/monitor.c. */
struct task_times {
    uint64_t started_us; /* 0: it was not spawned */
    uint64_t base_us, last_us;
};

struct task {
    struct daemon *daemon;
    struct task *next, *previous; /* in tasks.first */
    uint32_t tid;
    uint32_t parent, sink;
    uint64_t cookie; /* 0: not spawned */
    struct task_times times;
    pid_t pid;
    uint8_t role, route, tether;
    bool print;             /* the sink's library prints its output; see control.h */
    bool enrolled;          /* a stream was attached once */
    bool bulk;              /* it had claims to contention domains; see contention.c */
    bool served;            /* it asked for what all daemons agree on; see services.c */
    bool has_packet_socket; /* for ether links; see direct.c */
    char command[CONTROL_COMMAND_MAX + 1];
    struct task_way way;
    struct input *input; /* NULL: standard input is empty; see input.c */
    struct output output[2];
    uint32_t output_unacked;
    struct watchers watchers;
    struct handed *handed; /* another task starts this one; see tasker.c */
    struct task_end end;
};

/* The last number is the daemon's own, for what it wants of the services itself. */
#define TASK_LOCAL_MAX (TID_LOCAL_MAX - 1)
#define TASK_LOCAL_DAEMON TID_LOCAL_MAX

/* How a task of late ended; looked up by local number. */
#define TASKS_REMEMBERED 4096
struct tasks_past {
    uint32_t tid;
    uint8_t kind;
    int32_t value;
};

struct tasks {
    struct task **by_local; /* TID_LOCAL_MAX + 1 */
    struct task *first;
    struct task *first_dirty;
    uint32_t last_local;
    uint32_t count;
    uint32_t peak;            /* the most since memory was given back */
    bool held;                /* some task is held back or broken */
    struct loop_timer *later; /* descriptors for tasks could not be sent, see STREAM_LATER */
    unsigned fds;             /* that wait for tasks */
    uint64_t stamp;           /* of the last message for a task here, see proto/wire/stamp.h */
    bool stamp_stays; /* the next message gets that one, too: it is the same for another task */
    struct tasks_past past[TASKS_REMEMBERED];
};

int tasks_create(struct daemon *d);   /* 0 or -ENOMEM; needs the loop */
void tasks_destroy(struct daemon *d); /* and all tasks; also when there is no table */

/* A new task with the next free tid; NULL: no memory, or tasks_max are there. */
struct task *task_create(struct daemon *d);

/* Removes the task from the table and frees it; its end is remembered. Only the owner of the event
 * that ends it calls this: see exit.c. */
void task_destroy(struct task *task);

/* The task of this host with that tid, NULL: none. */
struct task *task_find(const struct tasks *tasks, uint32_t tid);

/* The spawned task with that cookie that has not enrolled, NULL: none. */
struct task *task_find_cookie(const struct tasks *tasks, uint64_t cookie);

/* How it ended, NULL when that is not known (any more). */
const struct tasks_past *task_past(const struct tasks *tasks, uint32_t tid);

uint8_t task_state(const struct task *task); /* enum covey_task_state */

#endif
