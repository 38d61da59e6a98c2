/*
 * output.h - the output of tasks: whole lines from their pipes to whoever receives it.
 */
#ifndef COVEY_DAEMON_OUTPUT_H
#define COVEY_DAEMON_OUTPUT_H

#include "daemon/post/post.h"

/* Takes over the reading ends of the two pipes of a task. */
void output_start(struct task *task, int out, int err);

/* The process has ended: reads what lies in the pipes, whatever was acknowledged so far. */
void output_drain(struct task *task);

/* Reads what lies in the pipes, and no more, for a sink that asks whether all is there: not far
 * beyond what may be under way. */
void output_catch_up(struct task *task);

/* Passes on an unfinished last line and closes both pipes. */
void output_close(struct task *task);

/* The task has ended, and all of its output was sent: tells its sink so. */
void output_tell_end(const struct task *task);

/* Nobody receives it any more: read on and throw it away. */
void output_discard(struct task *task);

#endif
