/*
 * cgroup.h - how much of a resource the control groups of this process leave, versions 1 and 2.
 */
#ifndef COVEY_DAEMON_CGROUP_H
#define COVEY_DAEMON_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of memory, or processes, before the tightest of this process's groups refuses more; false
 * when none of them has a limit. Memory that only caches files counts as free. */
bool cgroup_memory_left(uint64_t *bytes);
bool cgroup_pids_left(uint64_t *count);

/* Where the group is that has the tightest limit of memory; false: there is none, or its name has
 * no room. */
bool cgroup_memory_group(char *directory, size_t size);

/* The group, of this process or above, that leaves it the fewest processors. */
struct cgroup_cpu {
    char directory[256];
    char usage[256];    /* version 1: a file with what it used, in ns, if there is one; else "" */
    double cores;       /* quota over period; may be less than 1 */
    uint64_t period_us; /* of the quota */
};

/* False: no group limits the processors, or its name is too long for this. */
bool cgroup_cpu_find(struct cgroup_cpu *group);

#endif
