/*
 * part.h - the parts of the daemon: one for each subject, with all that the daemon asks of it.
 *
 * A part is one row: its name in DAEMON_PARTS and a `const struct part NAME_part` in the file of
 * its subject. From the row follow its number, its state in struct daemon, and its place in the
 * loops below. A lower room tells the upper rooms what has happened through these loops and calls
 * none of them by name. The table of all parts is daemon/root/parts.c.
 *
 * A round of the daemon steps a part only when somebody wanted that, or when the time has come that
 * its last step named. A part is wanted when a frame was given to one of its handlers, when a task
 * or a host has ended, when this host has joined and when another host leads; whoever gives it
 * something by another way says part_want() (daemon.h). A part that waits for something that nobody
 * tells it, as for a host to be gone, wants itself in its step.
 */
#ifndef COVEY_DAEMON_PART_H
#define COVEY_DAEMON_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/failure.h"
#include "proto/wire/control.h"

struct daemon;
struct task;

/* Parts with a state, `struct NAME`, in the order in which a round steps them; and without one. */
#define DAEMON_PARTS_WITH_STATE(X)                                                                 \
    X(hosts)                                                                                       \
    X(launches)                                                                                    \
    X(spawns)                                                                                      \
    X(duty)                                                                                        \
    X(tasker)                                                                                      \
    X(agreement)                                                                                   \
    X(bags)                                                                                        \
    X(services)                                                                                    \
    X(ending)                                                                                      \
    X(openings)                                                                                    \
    X(casting)                                                                                     \
    X(contention)                                                                                  \
    X(gauge)                                                                                       \
    X(monitor)                                                                                     \
    X(term)                                                                                        \
    X(metrics)                                                                                     \
    X(local)                                                                                       \
    X(trace)                                                                                       \
    X(ready)                                                                                       \
    X(notify)
#define DAEMON_PARTS_WITHOUT(X)                                                                    \
    X(watch)                                                                                       \
    X(mcast)                                                                                       \
    X(exit)                                                                                        \
    X(input)                                                                                       \
    X(output)                                                                                      \
    X(logs)                                                                                        \
    X(ps)                                                                                          \
    X(work)                                                                                        \
    X(stats)
#define DAEMON_PARTS(X)                                                                            \
    DAEMON_PARTS_WITH_STATE(X)                                                                     \
    DAEMON_PARTS_WITHOUT(X)

enum part_number {
#define PART_NUMBER(name) PART_##name,
    DAEMON_PARTS(PART_NUMBER)
#undef PART_NUMBER
        PARTS
};

/* One request, one handler, in the file of its subject. Returns NULL, or why it was refused. */
typedef const char *part_handler(struct daemon *d, uint32_t source, struct cursor *payload);

/* A kind of frames that a daemon takes itself. */
struct part_kind {
    uint8_t kind;
    part_handler *handle; /* NULL ends a list */
    bool request;         /* its payload begins with a request number, which a REPLY repeats */
};

/* What all of the daemon's tasks, and who started the daemon, learn when it ends. */
enum part_ending {
    PART_ENDING_BEGINS, /* no new tasks; those that run are asked to end */
    PART_ENDING_KILLS   /* those that still run are ended */
};

/* Any function may be NULL. */
struct part {
    const char *name;
    const struct part_kind *kinds;

    /* Its state, zeros at first; freed behind destroy(). 0: it has none, or makes and frees its
     * own. */
    size_t state_bytes;
    /* Fills the state: 0, or -1 and *why. All but the node is there. destroy() is called also when
     * create() failed, and unless there is no state of state_bytes. */
    int (*create)(struct daemon *d, struct failure *why);
    void (*destroy)(struct daemon *d);
    void (*joined)(struct daemon *d); /* this host has an index now */

    /* Does what is due, before the node sends; returns when it must be called again, UINT64_MAX:
     * when it is wanted. */
    uint64_t (*settle)(struct daemon *d, uint64_t now_us);
    /* At the end of each round: what was sent is with the system. */
    void (*round_end)(struct daemon *d);

    void (*task_enrolled)(struct task *task); /* its stream is there */
    /* A task that is watched here has ended; `own`: if it is of this host, it is still there. */
    void (*task_gone)(struct daemon *d, const struct control_gone *gone, const struct task *own);
    /* The stream of a task here has closed. True: that is seen to, and the task may be destroyed.
     */
    bool (*task_closed)(struct task *task);
    void (*task_free)(struct task *task); /* frees what it has of the task */
    /* enum node_host_event; the end of a host comes when all that it had cast has arrived. */
    void (*host_event)(struct daemon *d, const struct host *host, int event);

    void (*ending)(struct daemon *d, enum part_ending event, const char *text);
    bool (*full)(const struct daemon *d); /* so much waits that no task should add to it */
    bool (*passed)(
        const struct daemon *d); /* nothing waits that a leaving host must still pass on */
    const char *(*stat)(const struct daemon *d, size_t i, uint64_t *value); /* NULL at the end */
};

#define PART_DECLARE(name) extern const struct part name##_part;
DAEMON_PARTS(PART_DECLARE)
#undef PART_DECLARE

/* What a part's next step waits for; see above. */
struct part_due {
    bool wanted;
    uint64_t at_us;
};

/* Each calls what its name says of every part, in the order of the table; destruction in the
 * opposite order. `d->parts` is the table. */
int parts_create(struct daemon *d, struct failure *why);
void parts_destroy(struct daemon *d);
void parts_joined(struct daemon *d);
uint64_t parts_settle(struct daemon *d); /* of those that are due; returns when the next one is */
void parts_round_end(struct daemon *d);
void parts_task_enrolled(struct daemon *d, struct task *task);
void parts_task_gone(struct daemon *d, const struct control_gone *gone, const struct task *own);
void parts_task_closed(struct daemon *d, struct task *task); /* until one has seen to it */
void parts_task_free(struct daemon *d, struct task *task);
void parts_host_event(struct daemon *d, const struct host *host, int event);
void parts_ending(struct daemon *d, enum part_ending event, const char *text);
bool parts_full(const struct daemon *d);   /* any is */
bool parts_passed(const struct daemon *d); /* all have */
void parts_want(struct daemon *d);         /* all are to be stepped in the next round */

#endif
