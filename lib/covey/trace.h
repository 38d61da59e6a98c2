/*
 * covey/trace.h - what a program did, and when: marks of its own in a trace, and collecting one.
 * See covey_trace(3); `covey trace` reads what is collected.
 */
#ifndef COVEY_TRACE_H
#define COVEY_TRACE_H

#include "base.h"
#include "join.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Marks in the trace of the calling task, which show up beside its calls and messages: a part of
 * the program that begins and ends (parts may lie in each other), a moment, and a number as it is
 * from now on. covey_trace_expect() tells how many seconds the part of that name that begins next
 * is predicted to take: `covey trace` shows it beside what it took. Names are words of the
 * program's, 255 bytes at most, some thousands different ones. While nobody traces, these do
 * nothing. Errors: EINVAL. */
int covey_trace_begin(covey_t *vm, const char *name);
int covey_trace_end(covey_t *vm, const char *name);
int covey_trace_mark(covey_t *vm, const char *name);
int covey_trace_count(covey_t *vm, const char *name, double value);
int covey_trace_expect(covey_t *vm, const char *name, double seconds);

/* Whether somebody traces the calling task: 1 or 0. Errors: EINVAL. */
int covey_trace_on(covey_t *vm);

/* A trace that is being collected. */
typedef struct covey_trace covey_trace_t;

/* What was collected. */
struct covey_trace_end {
    uint64_t bytes;    /* of the file */
    uint64_t untraced; /* tasks for which a host had no room */
    uint64_t silent;   /* answers of hosts that did not come in time */
};

/* Joins the VM once more, as `options` say (a console, whatever they say of that), and collects
 * from now on in the file what the task `of` does and all that descend from it; 0: all tasks of the
 * VM. The file is made anew. A VM has one trace at a time.
 * Errors: those of covey_join(); EINVAL, ENOMEM, ERESOURCE, ESYS (the file), EEXIST (the VM is
 * traced already). */
int covey_trace_open(covey_trace_t **trace, const struct covey_options *options, const char *file,
                     covey_tid_t of);

/* Fetches what is left, ends the trace and sets *trace to NULL. end may be NULL. NULL is fine.
 * Errors: ESYS (not all could be written), EDAEMON, ENOMEM. */
int covey_trace_close(covey_trace_t **trace, struct covey_trace_end *end);

/* Waits until covey_trace_stop() asks for the end, or the daemon is gone. Errors: EINVAL. */
int covey_trace_wait(covey_trace_t *trace);

/* Asks whoever traces the VM to end, and waits until the file is whole. Errors: EINVAL, EDAEMON,
 * ENOENT (nobody traces), ETIMEOUT, ENOMEM. */
int covey_trace_stop(covey_t *vm, int64_t timeout_us);

#ifdef __cplusplus
}
#endif
#endif
