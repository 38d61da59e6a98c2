/*
 * inlet.h - standard input on its way to a task, side by side with all else.
 */
#ifndef COVEY_TOOLS_INLET_H
#define COVEY_TOOLS_INLET_H

#include "covey.h"

struct inlet;

/* Passes standard input on to the task, which was spawned with input = 1, until its end. NULL: that
 * cannot be, and the task reads the end at once. */
struct inlet *inlet_start(covey_t *vm, covey_tid_t tid);

/* The task has ended, or the connection: reads no more. NULL is fine. */
void inlet_stop(struct inlet **inlet);

#endif
