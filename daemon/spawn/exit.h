/*
 * exit.h - how tasks end: signals to them, reaping them, and the order in which that is told.
 */
#ifndef COVEY_DAEMON_EXIT_H
#define COVEY_DAEMON_EXIT_H

#include "daemon/base/daemon.h"

/* Reaps the child of the task when it ends. 0 or -ENOMEM. */
int exit_watch(struct task *task);

/* Ends the task: SIGTERM to its process group, after 3 s SIGKILL. */
void exit_end(struct task *task);

/* The same, and that it ends by these signals is no fault: its parent wants it, or has ended. */
void exit_dismiss(struct task *task);

/* Sends a signal to the task's process group, or to the process when it is not our child.
 * Returns 0 or -errno. */
int exit_signal(struct task *task, int number);

/* An output pipe of the task has ended: the task may have ended with it. Destroys it then. */
void exit_check(struct task *task);

/* Of tasks that another one starts. The process has ended: how, is told within a second or not at
 * all. It was told: destroys the task. It could not be started after all: it ends in the next round
 * of the loop. */
void exit_handed(struct task *task);
void exit_told(struct task *task, uint8_t kind, int32_t value);
void exit_unstarted(struct task *task);

#endif
