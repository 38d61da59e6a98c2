/*
 * What was found of collective calls: the times of all algorithms for people or scripts, and the
 * table of the best ones in the form of covey_collectives(5).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/bench/bench_collective.h"

#include "tools/bench/bench_stat.h"
#include "tools/list/cells.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

#define BETTER 0.95 /* than the one of the size before: otherwise that one stays */

struct bench_finding bench_finding_of(const struct bench_row *row)
{
    struct bench_finding f = {.row = row};
    if (sscanf(row->label, "%23s %d %23s", f.operation, &f.members, f.chosen) != 3)
        f.members = 0;
    for (int i = 0; i < row->series_count; i++) {
        f.us[i] = bench_series_median(&row->series[i]);
        bool algorithm = strcmp(row->series[i].name, BENCH_CHOICE) != 0;
        f.best = algorithm && f.us[i] < f.us[f.best] ? i : f.best;
    }
    return f;
}

int bench_finding_series(const struct bench_finding *f, const char *algorithm)
{
    for (int i = 0; i < f->row->series_count; i++) {
        if (strcmp(f->row->series[i].name, algorithm) == 0)
            return i;
    }
    return -1;
}

/* ---- the table for people ---- */

static int print_collective_table(const struct bench *bench)
{
    static const char *const headings[] = {"OPERATION", ">MEMBERS", ">BYTES", "BEST", ">US",
                                           "CHOSEN",    ">RATIO",   "OTHERS", NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < bench->row_count; i++) {
        struct bench_finding f = bench_finding_of(&bench->rows[i]);
        struct cells cells = {.count = 0};
        int chosen = bench_finding_series(&f, f.chosen);
        cells_add(&cells, "%s", f.operation);
        cells_add(&cells, "%d", f.members);
        cells_add(&cells, "%" PRId64, f.row->bytes);
        cells_add(&cells, "%s", f.row->series[f.best].name);
        cells_add(&cells, "%.1f", f.us[f.best]);
        cells_add(&cells, "%s", f.chosen);
        if (chosen >= 0)
            cells_add(&cells, "%.2f", f.us[chosen] / f.us[f.best]);
        else
            cells_add(&cells, "-");
        char text[256] = "";
        size_t used = 0;
        for (int k = 0; k < f.row->series_count && used < sizeof text; k++) {
            if (k != f.best)
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %.1f",
                                         used ? ", " : "", f.row->series[k].name, f.us[k]);
        }
        cells_add(&cells, "%s", text);
        table_add(table, cells.list);
    }
    printf("collectives on %d hosts, %d tasks, route %s; %d rounds\n", bench->host_count,
           bench->plan.tasks, covey_route_name(bench->plan.route), bench->plan.rounds);
    int status = report_table("bench", table);
    if (status == TOOL_OK)
        puts("US: a call, the root going round. CHOSEN: by the table that is in force; RATIO: its "
             "time over the best.");
    return status;
}

/* ---- JSON ---- */

static int print_collective_json(const struct bench *bench)
{
    json_t *rows = json_array();
    for (int i = 0; i < bench->row_count; i++) {
        struct bench_finding f = bench_finding_of(&bench->rows[i]);
        json_t *list = json_array();
        for (int k = 0; k < f.row->series_count; k++)
            report_add(&list,
                       json_pack("{s:s, s:f}", "name", f.row->series[k].name, "us", f.us[k]));
        report_add(&rows,
                   json_pack("{s:s, s:i, s:I, s:s, s:s, s:o}", "operation", f.operation, "members",
                             f.members, "bytes", (json_int_t)f.row->bytes, "best",
                             f.row->series[f.best].name, "chosen", f.chosen, "algorithms", list));
    }
    return report_print(
        "bench", json_pack("{s:s, s:s, s:i, s:i, s:i, s:o}", "benchmark", bench->name, "route",
                           covey_route_name(bench->plan.route), "hosts", bench->host_count, "tasks",
                           bench->plan.tasks, "rounds", bench->plan.rounds, "rows", rows));
}

/* ---- the table for the library ---- */

/* A row holds up to where the next one, measured for `next` bytes, begins: half way, as sizes go.
 */
static void write_row(FILE *file, const struct bench_finding *f, int algorithm, int most,
                      int64_t next)
{
    /* The largest team's rows hold for all larger ones. */
    if (f->members == most)
        fprintf(file, "%-14s *", f->operation);
    else
        fprintf(file, "%-14s %d", f->operation, f->members);
    if (next < 0)
        fprintf(file, " *");
    else
        fprintf(file, " %.0f", sqrt((double)f->row->bytes * (double)next));
    fprintf(file, " %s\n", f->row->series[algorithm].name);
}

int bench_collective_write(const struct bench *bench, int most)
{
    FILE *file = fopen(bench->write, "we");
    if (!file)
        return tool_error("bench", "%s: %s", bench->write, strerror(errno));
    fprintf(file, "# covey bench %s: %d tasks on %d hosts, route %s; see covey_collectives(5)\n",
            bench->name, bench->plan.tasks, bench->host_count, covey_route_name(bench->plan.route));
    const char *before = NULL;
    struct bench_finding last = {.members = 0};
    int taken = 0;
    for (int i = 0; i < bench->row_count; i++) {
        struct bench_finding f = bench_finding_of(&bench->rows[i]);
        bool goes_on =
            last.row && strcmp(last.operation, f.operation) == 0 && last.members == f.members;
        /* The one that the size before took stays unless another is clearly better. */
        const char *usual = goes_on ? before : NULL;
        int kept = usual ? bench_finding_series(&f, usual) : -1;
        int take = kept >= 0 && f.us[f.best] > BETTER * f.us[kept] ? kept : f.best;
        const char *name = f.row->series[take].name;
        if (last.row && (!goes_on || strcmp(name, before) != 0))
            write_row(file, &last, taken, most, goes_on ? f.row->bytes : -1);
        last = f;
        taken = take;
        before = name;
    }
    if (last.row)
        write_row(file, &last, taken, most, -1);
    int failed = ferror(file);
    failed = fclose(file) != 0 || failed;
    return failed ? tool_error("bench", "%s: it could not be written", bench->write) : TOOL_OK;
}

int bench_print_collective(struct bench *bench)
{
    int status = bench->json ? print_collective_json(bench) : print_collective_table(bench);
    return status == TOOL_OK && bench->write ? bench_collective_write(bench, bench->plan.tasks)
                                             : status;
}
