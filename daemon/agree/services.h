/*
 * services.h - the requests of the tasks here about groups, locks, tokens and meetings: commands
 * and questions to whoever leads (agreement.h).
 */
#ifndef COVEY_DAEMON_SERVICES_H
#define COVEY_DAEMON_SERVICES_H

#include "daemon/post/post.h"
#include "proto/wire/command.h"

part_handler services_on_service; /* of a task here */

/* What the leader says, from this daemon itself while it leads. */
void services_applied(struct daemon *d, uint64_t session, uint64_t applied);
void services_event(struct daemon *d, const struct event *event);

/* What this daemon itself wants agreed on: a daemon's command, or a task's under the number
 * TASK_LOCAL_DAEMON, of which a refusal is logged; and its session, by which its end will be known,
 * begins if it has none. */
void services_propose(struct daemon *d, const struct command *command);
void services_enter(struct daemon *d);

#endif
