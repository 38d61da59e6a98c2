/*
 * figures.h - where a task's time went, divided as in section 3 of Schmidt & Sunderam.
 */
#ifndef APPS_FIGURES_H
#define APPS_FIGURES_H

#include "covey.h"

/* All in seconds of wall clock, over the timed part of a run. Computation is measured around the
 * kernels; idle (blocked in a receive) and communication (sending and copying) are those
 * of covey_timing(). Transfers that go on behind a computation make the sum exceed elapsed_s. */
struct figures {
    double elapsed_s;
    double computation_s;
    double communication_s;
    double idle_s;
    double processor_s; /* of all threads of the task: what a loaded host does not stretch */
};

/* A monotonic clock, and the processor time of this process, in seconds. */
double figures_clock(void);
double figures_processor(void);

/* The mean over n > 0 tasks, less those that ended before they told theirs (elapsed_s 0). */
struct figures figures_mean(const struct figures *each, int n);

/* Adds figures to a message, and takes them from one. Errors: as covey_pack(), covey_unpack(). */
int figures_pack(covey_msg_t *msg, const struct figures *figures);
int figures_unpack(covey_msg_t *msg, struct figures *figures);

#endif
