/*
 * contention.h - the tokens of contention domains (proto/contention/contention.h): this daemon's
 * tasks and their claims, and the arbiter while it leads.
 */
#ifndef COVEY_DAEMON_CONTENTION_H
#define COVEY_DAEMON_CONTENTION_H

#include "daemon/post/route.h"

struct contention;

int contention_create(struct daemon *d);                /* 0 or -ENOMEM */
void contention_destroy(struct contention *contention); /* NULL is fine */

route_handler contention_on_ask; /* of a task here, or of a daemon for one of its tasks */
route_handler contention_on_end;

/* What they held or wanted is given up. */
void contention_task_gone(struct daemon *d, const struct task *task);
void contention_host_gone(struct daemon *d, uint32_t host);

/* Once a round of the loop; returns when it must be called again. */
uint64_t contention_settle(struct daemon *d, uint64_t now_us);

/* The i-th counter, or NULL. */
const char *contention_stat(const struct daemon *d, size_t i, uint64_t *value);

#endif
