/*
 * output.h - what tasks write that this one has started.
 */
#ifndef COVEY_PVM3_OUTPUT_H
#define COVEY_PVM3_OUTPUT_H

#include "lib/pvm3/message/buffer.h"

/* Where the output of tasks goes that are spawned now: enum covey_output. */
int output_where(void);

/* These tasks have been started, by the resource manager if it is not 0; what they write may come
 * to this one. */
void output_begin(const int *tids, int count, int manager);

/* This task has started them for another: what they write is passed on to a tid, in a context and
 * with a tag. */
void output_forward(const int *tids, int count, int parent, const int target[3]);

/* Whether the message says that the output of another task will come; it was taken then. */
bool output_take(struct buffer *b);

/* A piece of output; a task has ended. */
void output_on_text(covey_msg_t *msg);
void output_on_end(int tid);

/* Waits until all tasks have ended whose output is collected. */
void output_wait(void);

#endif
