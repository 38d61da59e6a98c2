/*
 * sample.c - one look reads each file once, into one buffer; two looks make the figures. What a
 * control group limits is taken from the group and not from the machine, for the machine's rest is
 * not ours.
 */
#include "daemon/monitor/sample.h"

#include "daemon/monitor/nic.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SATURATED 0.9 /* busy so far, tasks wait for each other */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

/* ---- reading ---- */

/* The whole file, or as much of it as there is room for, ended by a NUL. */
static bool read_path(const char *path, char *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t used = 0;
    ssize_t n = -1;
    while (fd >= 0 && used < SAMPLE_TEXT_BYTES - 1 &&
           (n = read(fd, text + used, SAMPLE_TEXT_BYTES - 1 - used)) > 0)
        used += (size_t)n;
    if (fd >= 0)
        close(fd);
    text[used] = '\0';
    return fd >= 0 && n >= 0 && used > 0;
}

static bool read_sample_file(const struct sample_source *source, const char *directory,
                             const char *name)
{
    char path[2 * SAMPLE_PATH_MAX];
    int size = snprintf(path, sizeof path, "%s/%s", directory, name);
    return size > 0 && (size_t)size < sizeof path && read_path(path, source->text);
}

int sample_source_init(struct sample_source *source, const char *procfs, uint32_t cores)
{
    *source = (struct sample_source){
        .cores = cores, .net_rate = nic_rate(NIC_FOLDER), .text = malloc(SAMPLE_TEXT_BYTES)};
    snprintf(source->procfs, sizeof source->procfs, "%s", procfs);
    source->limited = cgroup_cpu_find(&source->group) && source->group.cores < source->cores;
    if (source->limited)
        source->cores = source->group.cores;
    return source->text == NULL ? -1 : 0;
}

void sample_source_fini(struct sample_source *source)
{
    free(source->text);
    source->text = NULL;
}

/* FNV-1a */
static uint64_t hash(uint64_t sum, const char *text)
{
    for (; *text != '\0'; text++)
        sum = (sum ^ (unsigned char)*text) * HASH_PRIME;
    return sum;
}

uint64_t sample_machine(const struct sample_source *source)
{
    if (!read_sample_file(source, source->procfs, "sys/kernel/random/boot_id"))
        return 0;
    return hash(hash(HASH_START, source->text), source->limited ? source->group.directory : "");
}

static void take_group(const struct sample_source *source, struct sample *s)
{
    const struct cgroup_cpu *group = &source->group;
    if (read_sample_file(source, group->directory, "cpu.stat")) {
        s->has_throttled = procfs_number(source->text, "nr_throttled", &s->throttled);
        s->has_usage = procfs_number(source->text, "usage_usec", &s->usage_us);
    }
    if (group->usage[0] != '\0' && read_path(group->usage, source->text)) {
        s->usage_us = strtoull(source->text, NULL, 10) / 1000;
        s->has_usage = true;
    }
    if (read_sample_file(source, group->directory, "cpu.pressure"))
        s->has_pressure = procfs_pressure(source->text, &s->pressure);
}

/* Swapping is the machine's, whoever of it swaps: its disk is busy with it. Of a group that limits
 * the memory the pressure is the group's, where it has such a file (version 2). */
static void take_paging(const struct sample_source *source, struct sample *s)
{
    char group[SAMPLE_PATH_MAX];
    if (read_sample_file(source, source->procfs, "vmstat")) {
        s->paging.has_swap = procfs_number(source->text, "pswpin", &s->paging.swapped_in) &&
                             procfs_number(source->text, "pswpout", &s->paging.swapped_out);
        s->paging.has_faults = procfs_number(source->text, "pgmajfault", &s->paging.faults);
    }
    if ((cgroup_memory_group(group, sizeof group) &&
         read_sample_file(source, group, "memory.pressure")) ||
        read_sample_file(source, source->procfs, "pressure/memory"))
        s->paging.has_pressure = procfs_pressure(source->text, &s->paging.pressure);
}

void sample_take(const struct sample_source *source, uint64_t now_us, struct sample *s)
{
    *s = (struct sample){.at_us = now_us};
    if (read_sample_file(source, source->procfs, "stat"))
        s->has_stat = procfs_stat(source->text, &s->stat);
    if (read_sample_file(source, source->procfs, "loadavg"))
        s->has_load = procfs_load(source->text, s->load, &s->running);
    if (read_sample_file(source, source->procfs, "net/dev"))
        s->has_network = procfs_network(source->text, &s->received, &s->sent);
    if (read_sample_file(source, source->procfs, "diskstats"))
        s->has_disks = procfs_disks(source->text, &s->disks);
    uint64_t left;
    if (read_sample_file(source, source->procfs, "meminfo"))
        s->has_memory = procfs_memory(source->text, &s->memory_total, &s->memory_free);
    if (s->has_memory && cgroup_memory_left(&left) && left < s->memory_free)
        s->memory_free = left;
    if (source->limited)
        take_group(source, s);
    else if (read_sample_file(source, source->procfs, "pressure/cpu"))
        s->has_pressure = procfs_pressure(source->text, &s->pressure);
    take_paging(source, s);
}

/* ---- figures ---- */

static double rate(bool known, uint64_t before, uint64_t now, double interval_s)
{
    if (!known || interval_s <= 0 || now < before) /* a counter that began anew */
        return FIGURE_UNKNOWN;
    return (double)(now - before) / interval_s;
}

static double at_most(double value, double most)
{
    return value < most ? value : most;
}

/* How much of its quota the group used: what it had, or in how many periods it was stopped. */
static double group_busy(const struct sample_source *source, const struct sample *base,
                         const struct sample *last, double interval_s)
{
    double used =
        rate(base->has_usage && last->has_usage, base->usage_us, last->usage_us, interval_s);
    if (used >= 0)
        return at_most(used / 1e6 / source->cores, 1);
    double stopped = rate(base->has_throttled && last->has_throttled, base->throttled,
                          last->throttled, interval_s);
    return stopped < 0 ? FIGURE_UNKNOWN
                       : at_most(stopped * (double)source->group.period_us / 1e6, 1);
}

static double machine_busy(const struct sample *base, const struct sample *last)
{
    const struct procfs_stat *a = &base->stat, *b = &last->stat;
    if (!base->has_stat || !last->has_stat || b->total <= a->total || b->busy < a->busy)
        return FIGURE_UNKNOWN;
    return at_most((double)(b->busy - a->busy) / (double)(b->total - a->total), 1);
}

static double machine_interrupting(const struct sample *base, const struct sample *last)
{
    const struct procfs_stat *a = &base->stat, *b = &last->stat;
    if (machine_busy(base, last) < 0 || b->interrupting < a->interrupting)
        return FIGURE_UNKNOWN;
    return at_most((double)(b->interrupting - a->interrupting) / (double)(b->total - a->total), 1);
}

/* How many compete for the processors. Who is alone on a core is one whatever it needs of it; where
 * all is busy, only the number of those that are ready says how many share it. Tasks that have
 * ended do not compete any more: who starts right after them would be planned beside their load. */
static double demand(const struct sample_source *source, const struct sample *base,
                     const struct sample *last, double busy)
{
    double ready = last->has_stat && last->stat.has_running ? (double)last->stat.running
                   : last->has_load                         ? (double)last->running
                                                            : 0;
    if (busy < 0)
        return last->has_load && !source->limited ? last->load[0] : FIGURE_UNKNOWN;
    double cores = source->cores > 1 ? source->cores : 1;
    double whole = at_most(source->cores, 1); /* a quota of less than one counts as one */
    double ended = last->at_us > base->at_us
                       ? (double)last->ended_us / (double)(last->at_us - base->at_us) / whole
                       : 0;
    double least = busy * cores > ended ? busy * cores - ended : 0;
    bool counts = least >= SATURATED * cores && !source->limited && ready - 1 > least; /* but us */
    return counts ? ready - 1 : least;
}

static void set_present(const struct sample *last, double *v)
{
    for (int i = 0; i < 3 && last->has_load; i++)
        v[FIGURE_load_1m + i] = last->load[i];
    if (last->has_pressure)
        v[FIGURE_cpu_pressure] = last->pressure;
    if (last->paging.has_pressure)
        v[FIGURE_memory_pressure] = last->paging.pressure;
    if (!last->has_memory)
        return;
    v[FIGURE_memory_total_bytes] = (double)last->memory_total;
    v[FIGURE_memory_free_bytes] = (double)last->memory_free;
    v[FIGURE_memory_used_bytes] = (double)(last->memory_total - last->memory_free);
}

static void set_paging(const struct sample *base, const struct sample *last, double interval_s,
                       double *v)
{
    bool swap = base->paging.has_swap && last->paging.has_swap,
         faults = base->paging.has_faults && last->paging.has_faults;
    double in = rate(swap, base->paging.swapped_in, last->paging.swapped_in, interval_s);
    double out = rate(swap, base->paging.swapped_out, last->paging.swapped_out, interval_s);
    double page_bytes = (double)sysconf(_SC_PAGESIZE);
    v[FIGURE_swap_in_bytes_per_s] = in < 0 ? in : in * page_bytes;
    v[FIGURE_swap_out_bytes_per_s] = out < 0 ? out : out * page_bytes;
    v[FIGURE_major_faults_per_s] =
        rate(faults, base->paging.faults, last->paging.faults, interval_s);
}

void sample_figures(const struct sample_source *source, const struct sample *base,
                    const struct sample *last, struct figures *figures)
{
    double *v = figures->values;
    double interval_s = (double)(last->at_us - base->at_us) / 1e6;
    double busy =
        source->limited ? group_busy(source, base, last, interval_s) : machine_busy(base, last);
    v[FIGURE_interval_s] = interval_s;
    v[FIGURE_cores] = source->cores;
    v[FIGURE_cpu_busy] = busy;
    v[FIGURE_demand] = demand(source, base, last, busy);
    set_present(last, v);
    const struct procfs_stat *x = &base->stat, *y = &last->stat;
    bool disks = base->has_disks && last->has_disks,
         network = base->has_network && last->has_network;
    v[FIGURE_interrupts_per_s] =
        rate(x->has_interrupts && y->has_interrupts, x->interrupts, y->interrupts, interval_s);
    v[FIGURE_switches_per_s] =
        rate(x->has_switches && y->has_switches, x->switches, y->switches, interval_s);
    const struct procfs_disks *p = &base->disks, *q = &last->disks;
    v[FIGURE_disk_read_bytes_per_s] = rate(disks, p->read, q->read, interval_s);
    v[FIGURE_disk_written_bytes_per_s] = rate(disks, p->written, q->written, interval_s);
    v[FIGURE_disk_busy] = at_most(rate(disks, p->busy_ms, q->busy_ms, interval_s * 1000), 1);
    v[FIGURE_net_received_bytes_per_s] = rate(network, base->received, last->received, interval_s);
    v[FIGURE_net_sent_bytes_per_s] = rate(network, base->sent, last->sent, interval_s);
    v[FIGURE_net_rate_bytes_per_s] = source->net_rate;
    v[FIGURE_interrupt_busy] = source->limited ? FIGURE_UNKNOWN : machine_interrupting(base, last);
    set_paging(base, last, interval_s, v);
}
