/*
 * backlog.h - what a task of another host may have waiting in the queue of a task here.
 *
 * Credit bounds it; this sees to it that a task which ignores credit cannot make this daemon grow.
 * Tasks of this host are simply not read on (post.c); another host's is beyond our reach, so its
 * frames are dropped from then on, and each of the two tasks is told that the other is gone.
 */
#ifndef COVEY_DAEMON_BACKLOG_H
#define COVEY_DAEMON_BACKLOG_H

#include "daemon/base/daemon.h"

/* Whether a frame that came from another host may be queued for the task. */
bool backlog_admit(struct task *to, const struct frame *frame);

#endif
