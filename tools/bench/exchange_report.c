/*
 * What covey bench exchange found, as tables or as JSON: how long the messages took by each
 * algorithm, and apart from that how many phases it made and how long the ordering took. Whether it
 * was worth it is exchange_worth.c's.
 */
#include <inttypes.h>
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

/* ---- figures ---- */

int exchange_best(const struct bench_row *row)
{
    int best = 0;
    for (int i = 1; i < row->series_count; i++) {
        if (bench_series_median(&row->series[i]) < bench_series_median(&row->series[best]))
            best = i;
    }
    return best;
}

/* Microseconds of the row's bound on its link; 0: the link's rate is not known. */
static double exchange_bound_us(const struct bench *bench, const struct bench_row *row)
{
    double rate = bench->simulation.rate_bps;
    return rate > 0 ? row->bound_bytes * 8e6 / rate : 0;
}

void exchange_size_text(int64_t bytes, char *text, size_t size)
{
    const char *units[] = {"", " KiB", " MiB", " GiB"};
    int unit = 0;
    for (; unit < 3 && bytes >= 1024 && bytes % 1024 == 0; unit++)
        bytes /= 1024;
    snprintf(text, size, "%" PRId64 "%s", bytes, units[unit]);
}

/* ---- tables ---- */

static void add_ms(struct cells *cells, double us)
{
    double ms = us / 1e3;
    cells_add(cells, "%.*f", ms < 10 ? 3 : ms < 100 ? 2 : 1, ms);
}

/* Milliseconds by each algorithm. */
static int print_times(const struct bench *bench)
{
    struct cells head = {.count = 0};
    cells_add(&head, ">D");
    cells_add(&head, ">BYTES");
    for (int i = 0; i < bench->rows[0].series_count; i++)
        cells_add(&head, ">%s", bench->rows[0].series[i].name);
    cells_add(&head, ">BOUND");
    cells_add(&head, "BEST");
    cells_add(&head, ">TO BOUND");
    struct table *table = table_create(head.list);
    for (int k = 0; k < bench->row_count; k++) {
        const struct bench_row *row = &bench->rows[k];
        struct cells cells = {.count = 0};
        double bound_us = exchange_bound_us(bench, row);
        int best = exchange_best(row);
        cells_add(&cells, "%s", row->label);
        cells_add(&cells, "%" PRId64, row->bytes);
        for (int i = 0; i < row->series_count; i++)
            add_ms(&cells, bench_series_median(&row->series[i]));
        if (bound_us > 0)
            add_ms(&cells, bound_us);
        else
            cells_add(&cells, "-");
        cells_add(&cells, "%s", row->series[best].name);
        if (bound_us > 0)
            cells_add(&cells, "%.2f", bench_series_median(&row->series[best]) / bound_us);
        else
            cells_add(&cells, "-");
        table_add(table, cells.list);
    }
    return report_table("bench", table);
}

/* The mean over all sizes of one density, which stand together. */
struct cost {
    double phases[BENCH_SERIES_MAX], order_s[BENCH_SERIES_MAX], learn_s;
    int rows;
};

/* Phases, and microseconds of ordering. */
static int print_costs(const struct bench *bench)
{
    struct cells head = {.count = 0};
    cells_add(&head, ">D");
    cells_add(&head, ">D+LOG2 D");
    for (int i = 0; i < bench->rows[0].series_count; i++)
        cells_add(&head, ">%s", bench->rows[0].series[i].name);
    for (int i = 0; i < bench->rows[0].series_count; i++)
        cells_add(&head, ">%s us", bench->rows[0].series[i].name);
    cells_add(&head, ">LEARN us");
    struct table *table = table_create(head.list);
    for (int k = 0, next; k < bench->row_count; k = next) {
        next = k;
        struct cost cost = {.rows = 0};
        const struct bench_row *row = &bench->rows[k];
        for (; next < bench->row_count && strcmp(bench->rows[next].label, row->label) == 0;
             next++) {
            const struct bench_series *series = bench->rows[next].series;
            for (int i = 0; i < bench->rows[next].series_count; i++) {
                cost.phases[i] += series[i].phases / series[i].rounds;
                cost.order_s[i] += series[i].order_s;
                cost.learn_s += series[i].learn_s / bench->rows[next].series_count;
            }
            cost.rows++;
        }
        struct cells cells = {.count = 0};
        double density = strtod(row->label, NULL);
        cells_add(&cells, "%s", row->label);
        cells_add(&cells, "%.1f", density + log2(density));
        for (int i = 0; i < row->series_count; i++)
            cells_add(&cells, "%.1f", cost.phases[i] / cost.rows);
        for (int i = 0; i < row->series_count; i++)
            cells_add(&cells, "%.0f", cost.order_s[i] / cost.rows * 1e6);
        cells_add(&cells, "%.0f", cost.learn_s / cost.rows * 1e6);
        table_add(table, cells.list);
    }
    return report_table("bench", table);
}

static int print_tables(const struct bench *bench)
{
    const struct bench_simulation *simulation = &bench->simulation;
    const char *sizes = bench->plan.exchange.unequal ? "sizes differ, BYTES on average" : "";
    bool tree = *bench->plan.exchange.topology;
    if (simulation->ranks > 0)
        printf("exchange in virtual time, %d ranks, %s, alpha %.0f us, %.4g Mbit/s, %d patterns",
               simulation->ranks, tree ? "links of the topology" : "ports alone",
               simulation->alpha_us, simulation->rate_bps / 1e6, bench->plan.rounds);
    else
        printf("exchange, %d tasks on %d hosts, %d patterns", bench->plan.tasks, bench->host_count,
               bench->plan.rounds);
    printf("%s%s\n", *sizes ? "; " : "", sizes);
    if (bench->row_count == 0)
        return TOOL_OK;
    int status = print_times(bench);
    puts("Milliseconds that the messages took, at the slowest rank; BOUND: the bytes of the "
         "busiest\n"
         "rank or link at its rate. Ordering is not counted: phases of the orders, and "
         "microseconds\n"
         "in which they were made, once for a pattern; LEARN: in which ranks told who sends what.");
    if (status == TOOL_OK)
        status = print_costs(bench);
    return status == TOOL_OK ? exchange_worth_print(bench) : status;
}

/* ---- JSON ---- */

static int print_exchange_json(const struct bench *bench)
{
    const struct bench_simulation *simulation = &bench->simulation;
    json_t *rows = json_array();
    for (int i = 0; i < bench->row_count; i++) {
        const struct bench_row *row = &bench->rows[i];
        json_t *list = json_array();
        double bound_us = exchange_bound_us(bench, row);
        for (int k = 0; k < row->series_count; k++) {
            const struct bench_series *series = &row->series[k];
            struct bench_spread spread = bench_series_spread(series);
            report_add(&list,
                       json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "name", series->name,
                                 "us", spread.median, "min_us", spread.min, "max_us", spread.max,
                                 "phases", series->phases / series->rounds, "order_us",
                                 series->order_s * 1e6, "learn_us", series->learn_s * 1e6,
                                 "order_fraction", exchange_fraction(series)));
        }
        report_add(&rows,
                   json_pack("{s:i, s:I, s:f, s:o, s:s, s:o, s:o}", "density", atoi(row->label),
                             "bytes", (json_int_t)row->bytes, "bound_bytes", row->bound_bytes,
                             "bound_us", report_positive(bound_us), "best",
                             row->series[exchange_best(row)].name, "ordering",
                             exchange_worth_json(row), "algorithms", list));
    }
    int ranks = simulation->ranks > 0 ? simulation->ranks : bench->plan.tasks;
    json_t *whole =
        json_pack("{s:s, s:i, s:b, s:b, s:i, s:o}", "benchmark", "exchange", "ranks", ranks,
                  "simulated", simulation->ranks > 0, "unequal", bench->plan.exchange.unequal,
                  "patterns", bench->plan.rounds, "rows", rows);
    return report_print("bench", whole);
}

/* ---- the table for the library ---- */

/* Rows become those of a collective call; densities are its members. */
static int write_table(struct bench *bench)
{
    int most = 0;
    for (int i = 0; i < bench->row_count; i++) {
        char *label = bench->rows[i].label;
        int density = atoi(label);
        most = density > most ? density : most;
        snprintf(label, sizeof bench->rows[i].label, "exchange %d -", density);
    }
    return bench_collective_write(bench, most);
}

int bench_exchange_report(struct bench *bench)
{
    int status = bench->json ? print_exchange_json(bench) : print_tables(bench);
    if (status == TOOL_OK && bench->map)
        status = exchange_map_draw(bench);
    if (status == TOOL_OK && bench->plot)
        status = exchange_plot_draw(bench);
    return status == TOOL_OK && bench->write ? write_table(bench) : status;
}
