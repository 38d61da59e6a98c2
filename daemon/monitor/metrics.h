/*
 * metrics.h - the figures and counters of this daemon for Prometheus, over HTTP on a port or a
 * local socket; not unless covey.conf says so. Essay in metrics.c.
 */
#ifndef COVEY_DAEMON_METRICS_H
#define COVEY_DAEMON_METRICS_H

#include "daemon/root/daemon.h"

struct metrics;

/* Listens, if that is wanted. 0 or -1. */
int metrics_open(struct daemon *d, struct failure *why);
void metrics_close(struct metrics *metrics); /* NULL is fine */

#endif
