/*
 * monitor.h - what this daemon knows of its host, and the request HOST_STAT. Essay in monitor.c.
 */
#ifndef COVEY_DAEMON_MONITOR_H
#define COVEY_DAEMON_MONITOR_H

#include "daemon/post/post.h"
#include "proto/model/figure.h"

/* All that is known, as fresh as may be. */
void monitor_look(struct daemon *d, uint64_t now_us, struct figures *figures);

/* Answers a request with them. */
void monitor_answer(struct daemon *d, uint32_t to, uint32_t request);

#endif
