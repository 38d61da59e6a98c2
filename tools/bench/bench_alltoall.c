/*
 * What covey bench alltoall found: each algorithm's completion times and throughput beside the peak
 * of the network, and whether the library's choice is the best one.
 *
 * The peak is Faraj & Yuan's, section 3, net of headers: the bottleneck link carries the blocks of
 * all pairs of tasks that it parts, in full Ethernet frames, of whose 1538 bytes on the wire 1448
 * are of TCP.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench_collective.h"
#include "tools/bench/bench_exchange.h"
#include "tools/bench/bench_stat.h"
#include "tools/list/cells.h"
#include "tools/list/report.h"
#include "tools/list/table.h"
#include "tools/vm/vm_topology.h"

#define WIRE_SHARE (1448.0 / 1538.0)

enum { SIZE_BYTES = 32 };

/* ---- the peak ---- */

/* The VM's network, and how many of the tasks are on each node. */
struct network {
    struct covey_topology_node *nodes;
    struct covey_topology_link *links;
    int node_count, link_count;
    int *tasks;
    bool *seen;
};

/* False: a task's host is not in the network. */
static bool place_tasks(const struct bench *bench, struct network *n)
{
    for (int i = 0; i < bench->plan.tasks; i++) {
        int node = vm_topology_host(n->nodes, n->node_count, bench->hosts[i % bench->host_count]);
        if (node < 0)
            return false;
        n->tasks[node]++;
    }
    return true;
}

/* The neighbours of what is seen, but not over the link that is cut; false: there are none left. */
static bool spread(const struct network *n, int cut)
{
    bool more = false;
    for (int i = 0; i < n->link_count; i++) {
        const struct covey_topology_link *link = &n->links[i];
        if (i == cut || n->seen[link->a] == n->seen[link->b])
            continue;
        n->seen[link->a] = n->seen[link->b] = true;
        more = true;
    }
    return more;
}

/* Seconds for each byte of a block on the link that takes longest; rate > 0 is that of all. */
static double bottleneck(const struct network *n, int tasks, double rate)
{
    double longest = 0;
    for (int i = 0; i < n->link_count; i++) {
        /* The tasks on the side of the link's end a. */
        int behind = 0;
        memset(n->seen, 0, (size_t)n->node_count * sizeof *n->seen);
        n->seen[n->links[i].a] = true;
        while (spread(n, i))
            ;
        for (int k = 0; k < n->node_count; k++)
            behind += n->seen[k] ? n->tasks[k] : 0;
        double load = (double)behind * (tasks - behind);
        double bps = rate > 0 ? rate : (double)n->links[i].rate_bps;
        longest = fmax(longest, load * 8 / bps);
    }
    return longest;
}

/* Sets *seconds for each byte of a block at the peak; 0: it is not known. An exit status. */
static int find_peak(struct bench *bench, double *seconds)
{
    covey_topology_t *topology = NULL;
    int error = covey_vm_topology(bench->tool->vm, &topology);
    *seconds = 0;
    if (error < 0 && error != COVEY_ENOENT)
        return tool_failed(bench->tool, "bench", error);
    if (topology) {
        struct network n = {.node_count = 0};
        double took = -1;
        n.node_count = covey_topology_nodes(topology, &n.nodes);
        n.link_count = covey_topology_links(topology, &n.links);
        if (n.node_count > 0 && n.link_count >= 0) {
            n.tasks = calloc((size_t)n.node_count, sizeof *n.tasks);
            n.seen = calloc((size_t)n.node_count, sizeof *n.seen);
        }
        if (n.tasks && n.seen)
            took = place_tasks(bench, &n)
                       ? bottleneck(&n, bench->plan.tasks, bench->simulation.rate_bps)
                       : 0;
        covey_free(n.nodes);
        covey_free(n.links);
        free(n.tasks);
        free(n.seen);
        *seconds = took;
    }
    covey_topology_free(&topology);
    if (*seconds < 0)
        return tool_error("bench", "memory is exhausted");
    if (*seconds <= 0) {
        /* All hosts on one switch, and tasks dealt out among them. */
        int all = bench->plan.tasks, hosts = bench->host_count;
        int least = all / hosts, most = (all + hosts - 1) / hosts;
        double load = 0, rate = bench->simulation.rate_bps;
        if (all >= hosts)
            load = fmax(most * (all - most), least * (all - least));
        else
            load = all - 1;
        *seconds = rate > 0 ? load * 8 / rate : 0;
    }
    return TOOL_OK;
}

/* ---- figures ---- */

/* One series; a share of the peak of 0 is not known. */
struct figure {
    struct bench_spread us;
    double mbit_s, peak;
};

static struct figure figure_of(const struct bench *bench, const struct bench_row *row, int at,
                               double seconds)
{
    const struct bench_series *series = &row->series[at];
    double tasks = bench->plan.tasks, bits = tasks * (tasks - 1) * (double)row->bytes * 8;
    struct figure f = {.us = bench_series_spread(series)};
    f.mbit_s = bits / fmax(f.us.median, 1e-3);
    f.peak = seconds * 1e6 * (double)row->bytes / WIRE_SHARE / fmax(f.us.median, 1e-3);
    return f;
}

/* Of the first row: the schedule is the same for all sizes. NULL: there is none. */
static const struct bench_series *schedule_of(const struct bench *bench)
{
    struct bench_finding f = bench_finding_of(&bench->rows[0]);
    int at = bench_finding_series(&f, "scheduled");
    return at < 0 ? NULL : &bench->rows[0].series[at];
}

static bool choice_is_best(const struct bench_finding *f)
{
    return strcmp(f->row->series[f->best].name, f->chosen) == 0;
}

/* ---- for people ---- */

static int print_alltoall_table(const struct bench *bench, double seconds)
{
    const struct bench_series *schedule = schedule_of(bench);
    printf("alltoall on %d hosts, %d tasks, route %s; %d rounds\n", bench->host_count,
           bench->plan.tasks, covey_route_name(bench->plan.route), bench->plan.rounds);
    if (schedule)
        printf("the schedule: %.0f phases, made once in %.3f ms, apart from the times below\n",
               schedule->phases, schedule->order_s * 1e3);
    else
        puts("no schedule: the VM has no topology with all these hosts; see: covey topology --vm");
    static const char *const headings[] = {">BYTES", "ALGORITHM", ">US",    ">QUARTILE1",
                                           ">3",     ">MBIT/S",   ">%PEAK", NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < bench->row_count; i++) {
        for (int k = 0; k < bench->rows[i].series_count; k++) {
            char size[SIZE_BYTES];
            struct cells cells = {.count = 0};
            struct figure f = figure_of(bench, &bench->rows[i], k, seconds);
            exchange_size_text(bench->rows[i].bytes, size, sizeof size);
            cells_add(&cells, "%s", size);
            cells_add(&cells, "%s", bench->rows[i].series[k].name);
            cells_add(&cells, "%.1f", f.us.median);
            cells_add(&cells, "%.1f", f.us.quartile1);
            cells_add(&cells, "%.1f", f.us.quartile3);
            cells_add(&cells, "%.1f", f.mbit_s);
            cells_add(&cells, f.peak > 0 ? "%.1f" : "-", 100 * f.peak);
            table_add(table, cells.list);
        }
    }
    int status = report_table("bench", table);
    for (int i = 0; i < bench->row_count && status == TOOL_OK; i++) {
        struct bench_finding f = bench_finding_of(&bench->rows[i]);
        const char *best = bench->rows[i].series[f.best].name;
        int chosen = bench_finding_series(&f, f.chosen);
        char size[SIZE_BYTES];
        exchange_size_text(bench->rows[i].bytes, size, sizeof size);
        if (choice_is_best(&f))
            printf("%s: %s is the best, and the library's choice\n", size, best);
        else if (chosen >= 0)
            printf("%s: %s is the best; the library's choice, %s, takes %.2f times as long\n", size,
                   best, f.chosen, f.us[chosen] / fmax(f.us[f.best], 1e-3));
    }
    return status;
}

/* ---- for scripts ---- */

static json_t *schedule_object(const struct bench_series *schedule)
{
    if (!schedule)
        return json_null();
    return json_pack("{s:I, s:f}", "phases", (json_int_t)schedule->phases, "made_us",
                     schedule->order_s * 1e6);
}

static int print_alltoall_json(const struct bench *bench, double seconds)
{
    json_t *rows = json_array();
    for (int i = 0; i < bench->row_count; i++) {
        const struct bench_row *row = &bench->rows[i];
        struct bench_finding f = bench_finding_of(row);
        json_t *list = json_array();
        for (int k = 0; k < row->series_count; k++) {
            struct figure g = figure_of(bench, row, k, seconds);
            report_add(&list, json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "name",
                                        row->series[k].name, "us", g.us.median, "min_us", g.us.min,
                                        "quartile1_us", g.us.quartile1, "quartile3_us",
                                        g.us.quartile3, "max_us", g.us.max, "mbit_s", g.mbit_s,
                                        "peak", report_positive(g.peak)));
        }
        report_add(&rows,
                   json_pack("{s:I, s:o, s:s, s:s, s:b, s:o}", "bytes", (json_int_t)row->bytes,
                             "peak_us",
                             report_positive(seconds * 1e6 * (double)row->bytes / WIRE_SHARE),
                             "best", row->series[f.best].name, "chosen", f.chosen, "choice_is_best",
                             (int)choice_is_best(&f), "algorithms", list));
    }
    return report_print(
        "bench", json_pack("{s:s, s:s, s:i, s:i, s:i, s:o, s:o}", "benchmark", bench->name, "route",
                           covey_route_name(bench->plan.route), "hosts", bench->host_count, "tasks",
                           bench->plan.tasks, "rounds", bench->plan.rounds, "schedule",
                           schedule_object(schedule_of(bench)), "rows", rows));
}

int bench_print_alltoall(struct bench *bench)
{
    double seconds = 0;
    if (bench->row_count == 0)
        return tool_error("bench",
                          "the sizes are too large for so many tasks; see: man covey-bench");
    int status = find_peak(bench, &seconds);
    if (status == TOOL_OK)
        status = (bench->json ? print_alltoall_json : print_alltoall_table)(bench, seconds);
    return status == TOOL_OK && bench->write ? bench_collective_write(bench, bench->plan.tasks)
                                             : status;
}
