/*
 * cgroup.h - how much of a resource the control groups of this process leave, versions 1 and 2.
 */
#ifndef COVEY_DAEMON_CGROUP_H
#define COVEY_DAEMON_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of memory, or processes, before the tightest of this process's groups refuses more; false
 * when none of them has a limit. Memory that only caches files counts as free. */
bool cgroup_memory_left(uint64_t *bytes);
bool cgroup_pids_left(uint64_t *count);

#endif
