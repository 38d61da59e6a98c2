/*
 * tasker.h - a task of this host that starts the others in the daemon's place.
 */
#ifndef COVEY_DAEMON_TASKER_H
#define COVEY_DAEMON_TASKER_H

#include "daemon/base/failure.h"
#include "daemon/post/post.h"
#include "daemon/process/process.h"

/* What one task is started with, beside what the tasker's own environment holds. */
struct tasker_order {
    const struct control_spawn *head;
    const struct strings *argv, *env;
    const uint8_t *request; /* all this as it came */
    size_t size;
};

/* Hands the task to the tasker, if there is one that takes it. Returns 1; 0: start it; or an enum
 * covey_error, with *why, when the program cannot be started by anybody. */
int tasker_hand(struct task *task, const struct tasker_order *order, struct failure *why);

/* A spawned task has enrolled from this process. */
void tasker_on_enrol(struct task *task, pid_t pid);

#endif
