/*
 * tasker.h - a task of this host that starts the others in the daemon's place.
 */
#ifndef COVEY_DAEMON_TASKER_H
#define COVEY_DAEMON_TASKER_H

#include "daemon/base/failure.h"
#include "daemon/base/process.h"
#include "daemon/post/route.h"

/* TASKER: a task takes over, or gives back; ORDER_TOLD: what came of an order. */
route_handler tasker_on_tasker, tasker_on_told;

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

/* A spawned task has enrolled from this process; its stream has closed. */
void tasker_on_enrol(struct task *task, pid_t pid);
void tasker_on_close(struct task *task);

/* The task is no tasker any more: what it has not started is the daemon's again. */
void tasker_gone(struct daemon *d, uint32_t tid);

/* In every round: starts more of what was given back. */
void tasker_settle(struct daemon *d);

/* What a handed task holds of all this. */
void tasker_forget(struct task *task);

#endif
