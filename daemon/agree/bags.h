/*
 * bags.h - the bags that this daemon holds, and those of which it has copies.
 */
#ifndef COVEY_DAEMON_BAGS_H
#define COVEY_DAEMON_BAGS_H

#include "daemon/post/post.h"
#include "proto/wire/command.h"

/* The VM has agreed on who has which part in a bag. */
void bags_on_notice(struct daemon *d, const struct event *event);
/* What it had agreed on is lost. */
void bags_state_lost(struct daemon *d);
/* Whether anything here waits for news of it. */
bool bags_any(const struct daemon *d);

#endif
