/*
 * output.h - what tasks write that this one has started.
 */
#ifndef COVEY_PVM3_OUTPUT_H
#define COVEY_PVM3_OUTPUT_H

#include "lib/covey.h"
#include "lib/pvm3/buffer.h"

/* Where the output of tasks goes that are spawned now: enum covey_output. */
int output_where(void);

/* These tasks have been started, and what they write comes to this one. */
void output_begin(const int *tids, int count);

/* Whether the message says that the output of another task will come; it was taken then. */
bool output_take(struct buffer *b);

/* A piece of output; a task has ended. */
void output_on_text(covey_msg_t *msg);
void output_on_end(int tid);

/* Waits until all tasks have ended whose output is collected. */
void output_wait(void);

#endif
