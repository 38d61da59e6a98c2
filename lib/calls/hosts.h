/*
 * hosts.h - what the VM consists of: hosts, tasks, and what they do.
 */
#ifndef COVEY_LIB_CALLS_HOSTS_H
#define COVEY_LIB_CALLS_HOSTS_H

#include "lib/covey.h"
#include <stdint.h>

struct covey;
struct figures;

/* The host table, asked from the own daemon: *hosts is freed by the caller; the number or < 0. */
int hosts_ask(struct covey *vm, struct covey_host **hosts);
/* covey_survey() inside a call. */
int tasks_survey(struct covey *vm, int64_t timeout_us, struct covey_host **hosts,
                 struct covey_task **tasks, int *task_count);
/* What a daemon answered, as covey_host_stats() gives it. */
struct covey_host_stat host_stat_of(uint32_t host, const struct figures *figures);
/* covey_host_stats() inside a call. */
int host_stats_ask(struct covey *vm, int64_t timeout_us, struct covey_host **hosts,
                   struct covey_host_stat **stats);

#endif
