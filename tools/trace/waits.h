/*
 * waits.h - what tasks waited for: found in a trace in memory.
 */
#ifndef COVEY_TOOLS_TRACE_WAITS_H
#define COVEY_TOOLS_TRACE_WAITS_H

#include <stdio.h>

#include "tools/trace/trace.h"

#define WAIT_CAUSES(X)                                                                             \
    X(SENDER)     /* the message had not been sent yet */                                          \
    X(TRANSFER)   /* it was on its way */                                                          \
    X(CREDIT)     /* to send: the receiver had not taken what came before */                       \
    X(TURN)       /* to send: for others on a link that they share */                              \
    X(LOCK)       /* another task had it */                                                        \
    X(COLLECTIVE) /* another member had not called yet */                                          \
    X(ITEMS)      /* of a bag: it had none to give */                                              \
    X(RESULTS)    /* of a bag: none was ready */                                                   \
    X(NEVER)      /* it waited when the trace ended */

enum wait_cause {
#define WAIT_ENUM(name) WAIT_##name,
    WAIT_CAUSES(WAIT_ENUM)
#undef WAIT_ENUM
        WAIT_CAUSE_COUNT
};

struct wait {
    uint64_t begin_ns, end_ns;
    uint64_t freed_ns;    /* when the other one did what ended it */
    uint32_t task, other; /* other: a task, or TRACE_NONE */
    uint32_t name;        /* of the call, or the lock */
    uint32_t event;
    enum wait_cause cause;
};

struct waits {
    struct wait *items; /* by task and end */
    size_t *first;      /* by task: its first one; one more: how many there are */
    size_t count;
};

bool waits_find(const struct trace *trace, struct waits *waits); /* false: no memory */
void waits_free(struct waits *waits);

/* The longest ones, `most` at most, as sentences; those of one task for another in one call are
 * one. False: no memory. */
bool waits_print(const struct trace *trace, const struct waits *waits, size_t most, FILE *out);

/* By task: time outside of calls. NULL: no memory. */
uint64_t *trace_computed(const struct trace *trace);

/* The chain of what had to end before something else could begin, from the last event back to the
 * first: calls `leg` for each time in which a task is on it, the last one first. */
typedef void trace_leg_fn(void *context, uint32_t task, uint64_t begin_ns, uint64_t end_ns);
void trace_path(const struct trace *trace, const struct waits *waits, trace_leg_fn *leg,
                void *context);

#endif
