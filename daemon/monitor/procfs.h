/*
 * procfs.h - the texts of /proc and of control groups, taken apart. Pure: a text goes in, ended by
 * a NUL, of a file that may be of another kernel, cut off, or no such file at all; numbers come
 * out. Each function sets its outputs and returns true only if it found what it looks for.
 */
#ifndef COVEY_DAEMON_PROCFS_H
#define COVEY_DAEMON_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

/* /proc/stat: what all processors did since the machine started, in ticks; interrupts and context
 * switches; how many are running or ready now. A line that is missing leaves 0. */
struct procfs_stat {
    uint64_t busy, total;  /* waiting for a disk is idle; guests are in user time already */
    uint64_t interrupting; /* of busy: serving interrupts, and what these left to be done */
    uint64_t interrupts, switches;
    uint64_t running;
    bool has_interrupts, has_switches, has_running;
};
bool procfs_stat(const char *text, struct procfs_stat *stat);

/* /proc/meminfo, in bytes. What caches hold and would give back counts as free. */
bool procfs_memory(const char *text, uint64_t *total, uint64_t *free_bytes);

/* /proc/loadavg: averages of 1, 5 and 15 minutes, and how many are running or ready now. */
bool procfs_load(const char *text, double load[3], uint64_t *running);

/* /proc/pressure/cpu or memory, or cpu.pressure or memory.pressure of a control group: the share of
 * the last 10 s in which something waited, 0 to 1. */
bool procfs_pressure(const char *text, double *some);

/* /proc/net/dev: bytes over all interfaces but the loopback. */
bool procfs_network(const char *text, uint64_t *received, uint64_t *sent);

/* /proc/diskstats: bytes of whole disks, and how long each of them was busy, together; their
 * partitions, and what is made of memory or of other disks, would count twice. */
struct procfs_disks {
    uint64_t read, written; /* bytes */
    uint64_t busy_ms;       /* 0 in Linux 2.4 */
};
bool procfs_disks(const char *text, struct procfs_disks *disks);

/* /proc/PID/stat: ticks of processors that the process used, and pages of memory that it holds. */
bool procfs_process(const char *text, uint64_t *ticks, uint64_t *pages);

/* The number of a line `NAME NUMBER`, as in /proc/vmstat or cpu.stat of a control group. */
bool procfs_number(const char *text, const char *name, uint64_t *number);

#endif
