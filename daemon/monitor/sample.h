/*
 * sample.h - what one look at a host finds: counters that only grow, and what is so just now; and
 * the figures that two looks make.
 */
#ifndef COVEY_DAEMON_SAMPLE_H
#define COVEY_DAEMON_SAMPLE_H

#include "daemon/base/cgroup.h"
#include "daemon/monitor/procfs.h"
#include "proto/model/figure.h"

#define SAMPLE_PATH_MAX 256

/* Where to look. */
struct sample_source {
    char procfs[SAMPLE_PATH_MAX]; /* where /proc is */
    double cores;                 /* that the host may use, the group's limit included */
    double net_rate;              /* of its network card, bytes a second; FIGURE_UNKNOWN */
    bool limited;                 /* by `group`: its own use counts then, not the machine's */
    struct cgroup_cpu group;
    char *text; /* SAMPLE_TEXT_BYTES, to read into */
};
#define SAMPLE_TEXT_BYTES (256 * 1024)

/* What lacks of memory: pages since the machine started, faults those that read from a disk; and
 * the share of the last 10 s. */
struct sample_paging {
    bool has_swap, has_faults, has_pressure;
    uint64_t swapped_in, swapped_out, faults;
    double pressure;
};

struct sample {
    uint64_t at_us;
    bool has_stat, has_memory, has_load, has_pressure, has_network, has_disks;
    bool has_usage, has_throttled; /* of the group */
    struct procfs_stat stat;
    uint64_t memory_total, memory_free;
    double load[3];
    uint64_t running;
    double pressure;
    uint64_t received, sent;
    struct procfs_disks disks;
    struct sample_paging paging;
    uint64_t usage_us, throttled; /* throttled: in so many periods */
    uint64_t ended_us; /* of processors since the base: of this daemon's tasks that have ended */
};

/* `procfs` and the cores of this process; 0, or -1: memory is exhausted. */
int sample_source_init(struct sample_source *source, const char *procfs, uint32_t cores);
void sample_source_fini(struct sample_source *source);

/* A number that hosts of one machine, or of one limited group, share; 0: it cannot be told. */
uint64_t sample_machine(const struct sample_source *source);

void sample_take(const struct sample_source *source, uint64_t now_us, struct sample *sample);

/* Sets all that follows of two looks, `base` the earlier one (or the same: no rates). Pure. */
void sample_figures(const struct sample_source *source, const struct sample *base,
                    const struct sample *last, struct figures *figures);

#endif
