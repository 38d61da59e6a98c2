/*
 * tracer.h - who is told of this task's events, and what this task does when it is that itself.
 */
#ifndef COVEY_PVM3_TRACER_H
#define COVEY_PVM3_TRACER_H

#include "lib/pvm3/core/export.h"
#include "lib/pvm3/message/buffer.h"

/* The membership has begun: this task was spawned by pvm_spawn(), or by other means; then the
 * VM's tracer, if it has one, sees it. */
void tracer_start(bool spawned, int tracer);

/* What tasks need to know that are spawned now. `tracer` is the VM's, or 0. Returns 0 or an error.
 */
int tracer_export(struct exports *e, int tracer);

/* The same of where output and events go: tid, context and tag each. */
int tracer_export_targets(struct exports *e, const int targets[6]);

/* These have been started. */
void tracer_on_spawn(const int *tids, int count, int flags, const char *program);

/* Whether the message directs this task's events and output; it was taken then. */
bool tracer_take(struct buffer *b);

/* A message for the program, which may be of a task whose end the tracer will be told; that has
 * ended. */
void tracer_on_message(struct buffer *b);
void tracer_on_end(int tid, int status);

void tracer_clear(void);

#endif
