/*
 * services.h - the requests of the tasks here about groups, locks, tokens and meetings: commands
 * and questions to whoever leads (agreement.h).
 */
#ifndef COVEY_DAEMON_SERVICES_H
#define COVEY_DAEMON_SERVICES_H

#include "daemon/post/route.h"
#include "proto/wire/command.h"

struct services;

int services_create(struct daemon *d);            /* 0 or -ENOMEM; the loop is there */
void services_destroy(struct services *services); /* NULL is fine */

route_handler services_on_service; /* of a task here */
route_handler services_on_applied; /* of the leader */
route_handler services_on_event;   /* of the leader: for a task here */

/* The same from this daemon itself, while it leads. */
void services_applied(struct daemon *d, uint64_t session, uint64_t applied);
void services_event(struct daemon *d, const struct event *event);

/* What this daemon itself wants agreed on: a daemon's command, or a task's under the number
 * TASK_LOCAL_DAEMON, of which a refusal is logged; and its session, by which its end will be known,
 * begins if it has none. */
void services_propose(struct daemon *d, const struct command *command);
void services_enter(struct daemon *d);

/* So many commands wait that no task should add to them. */
bool services_full(const struct daemon *d);

void services_task_gone(struct daemon *d, const struct task *task);

/* Once a round of the loop: sends what is to be proposed to whoever leads now. */
void services_settle(struct daemon *d);

#endif
