/*
 * stats.h - the request STATS: every counter of this daemon.
 */
#ifndef COVEY_DAEMON_STATS_H
#define COVEY_DAEMON_STATS_H

#include "daemon/post/post.h"

/* Calls fn with each counter. */
typedef void stats_fn(void *context, const char *name, uint64_t value);
void stats_walk(const struct daemon *d, stats_fn *fn, void *context);

#endif
