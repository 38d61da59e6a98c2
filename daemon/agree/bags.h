/*
 * bags.h - the bags that this daemon holds, and those of which it has copies.
 */
#ifndef COVEY_DAEMON_BAGS_H
#define COVEY_DAEMON_BAGS_H

#include "daemon/post/route.h"
#include "proto/wire/command.h"

struct bags;

int bags_create(struct daemon *d);    /* 0 or -ENOMEM */
void bags_destroy(struct bags *bags); /* NULL is fine */

route_handler bags_on_request; /* of a task that uses a bag */
route_handler bags_on_log;     /* of the daemon that holds one */
route_handler bags_on_log_ack; /* of one that has a copy */
route_handler bags_on_look;    /* of a task: how it stands with a bag */

/* The VM has agreed on who has which part in a bag. */
void bags_on_notice(struct daemon *d, const struct event *event);
/* What it had agreed on is lost. */
void bags_state_lost(struct daemon *d);
/* Whether anything here waits for news of it. */
bool bags_any(const struct daemon *d);

void bags_task_gone(struct daemon *d, const struct control_gone *gone);
void bags_host_gone(struct daemon *d, uint32_t host);
void bags_host_added(struct daemon *d);

/* Once a round of the loop: says what is to be said. Returns when to call again. */
uint64_t bags_settle(struct daemon *d, uint64_t now_us);

#endif
