/*
 * ps.h - the requests about the tasks of this host: TASKS and SIGNAL.
 */
#ifndef COVEY_DAEMON_PS_H
#define COVEY_DAEMON_PS_H

#include "daemon/post/post.h"

/* A console that somebody started; one that a task runs, a script for example, is that task. */
bool ps_hides(const struct task *task);

#endif
