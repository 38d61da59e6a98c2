/*
 * trace.h - events of PVM's calls, for the task that traces this one.
 *
 * Every call of the program has two: one with its arguments and one with its results. Calls that
 * the library makes itself have none.
 */
#ifndef COVEY_PVM3_TRACE_H
#define COVEY_PVM3_TRACE_H

#include <pvmtev.h>
#include <stdbool.h>

#include "lib/pvm3/core/abi.h"

/* Where this task's events and output go, and those of tasks that it spawns from now on. */
extern struct Pvmtracer pvmtrc, pvmctrc;

/* A call begins, or ends: whether its event is wanted. */
bool pvmtrace_begins(int event);
bool pvmtrace_ends(int event);

/* The event, with the data that trace.c lists for it: an int, a char * or a long each, and two for
 * an array: how many, and where. */
void pvmtrace_event(int kind, ...);

/* The events of a call: their data follow, or TRACE_NOTHING. */
#define TRACE_BEGIN(event, ...)                                                                    \
    do {                                                                                           \
        if (pvmtrace_begins(event))                                                                \
            pvmtrace_event((event) | TEV_EVENT_ENTRY, __VA_ARGS__);                                \
    } while (0)

#define TRACE_END(event, ...)                                                                      \
    do {                                                                                           \
        if (pvmtrace_ends(event))                                                                  \
            pvmtrace_event((event) | TEV_EVENT_EXIT, __VA_ARGS__);                                 \
    } while (0)

#define TRACE_NOTHING 0

/* The end of a call of which the tracer gets the result alone; returns the result. */
int trace_ended(int event, int result);

/* What the program does within the library is its own again: a handler. Returns what trace_leave()
 * is to be given. */
int trace_enter_program(void);
void trace_leave_program(int before);

/* Events that have been collected are sent. */
void trace_flush(void);

/* The membership has begun, or ends. */
void trace_start(void);
void trace_stop(void);

/* Whether the text is a mask. */
bool trace_mask_ok(const char *mask);

/* ---- events in the tracer's message, also those that are not of a call ----------------------- */

/* A message that grows by events. */
struct trace_writer {
    struct buffer *events;
    bool described; /* the tracer knows what data this kind of event has */
    bool failed;    /* memory is exhausted */
};

void trace_open(struct trace_writer *w, int kind, int tid);
void trace_int(struct trace_writer *w, int did, int value);
void trace_string(struct trace_writer *w, int did, const char *value);
void trace_close(struct trace_writer *w);

/* The names of all data. */
void trace_names(struct trace_writer *w);

#endif
