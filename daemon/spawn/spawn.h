/*
 * spawn.h - the request SPAWN: starting tasks as children of this daemon, or by the host's tasker.
 */
#ifndef COVEY_DAEMON_SPAWN_H
#define COVEY_DAEMON_SPAWN_H

#include "daemon/post/post.h"

#define SPAWN_ROUND_US 5000u /* no round of the loop starts tasks for longer */

/* Starts a task as a child of this daemon that was handed to another, from the request as it came,
 * under a new cookie. Returns 0 or an error, with *why. */
int spawn_again(struct task *task, const uint8_t *request, size_t size, struct failure *why);

#endif
