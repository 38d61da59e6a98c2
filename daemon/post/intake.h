/*
 * intake.h - what tasks send: reading their streams, from the first frame behind their enrolment to
 * their end.
 */
#ifndef COVEY_DAEMON_INTAKE_H
#define COVEY_DAEMON_INTAKE_H

#include "daemon/table/task.h"

/* Gives the task its stream, which it then owns, and makes the ledger that goes with it, whose
 * descriptor is the caller's. 0, or -ENOMEM or -EMFILE (then there is none, and the stream is still
 * the caller's). */
int intake_attach(struct task *task, struct stream *stream, int *ledger_fd);

/* Queues what waited for the task, behind the answer to its enrolment. Call intake_read() next:
 * frames may lie in the stream already. */
void intake_welcome(struct task *task);

/* Reads and routes frames. The task may be destroyed by it. */
void intake_read(struct task *task);

/* Reads what a process that has ended left behind, and closes. */
void intake_drain(struct task *task);

/* Reads again the tasks that need no longer be held back, and disconnects those that lost a frame.
 * Whether there were any. */
bool intake_resume_all(struct daemon *d);

#endif
