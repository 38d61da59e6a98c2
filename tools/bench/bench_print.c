/*
 * What a benchmark found, as a table or as JSON. A ratio is Covey's time over the raw program's,
 * the median of the ratios of samples taken one after the other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/bench/bench.h"
#include "tools/bench/bench_stat.h"
#include "tools/list/cells.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

#define MTU_USUAL 1500
#define AROUND_FRAME_BYTES 38 /* preamble, addresses and type, checksum, gap */

/* Whether a row is a size of messages. */
static bool sized(const struct bench *bench)
{
    return bench->plan.what != BENCH_SPAWN && bench->plan.what != BENCH_BARRIER;
}

/* Whether the processor time of tasks and daemons was taken. */
static bool timed(const struct bench *bench)
{
    return sized(bench) && bench->plan.what != BENCH_BCAST;
}

/* The row's series of that name, or NULL. */
static const struct bench_series *series_find(const struct bench_row *row, const char *name)
{
    for (int i = 0; i < row->series_count; i++) {
        if (strcmp(row->series[i].name, name) == 0)
            return &row->series[i];
    }
    return NULL;
}

/* The names of all raw series, each once: a datagram does not hold every size. */
static int raw_names(const struct bench *bench, const char *names[BENCH_SERIES_MAX])
{
    int count = 0;
    for (int i = 0; i < bench->row_count; i++) {
        for (int k = 1; k < bench->rows[i].series_count; k++) {
            const char *name = bench->rows[i].series[k].name;
            bool known = false;
            for (int j = 0; j < count; j++)
                known |= strcmp(names[j], name) == 0;
            if (!known && count < BENCH_SERIES_MAX)
                names[count++] = name;
        }
    }
    return count;
}

/* What Covey's own series, the first one, is called. */
static const char *covey_name(const struct bench *bench)
{
    return bench->row_count > 0 ? bench->rows[0].series[0].name : "covey";
}

static double cpu_per_gb(double seconds, double bytes)
{
    return bytes > 0 ? seconds / (bytes / 1e9) : 0;
}

/* ---- alpha and beta ---- */

int bench_fit(const struct bench *bench, const char *name, bench_fit_fn *fn,
              struct covey_line *line)
{
    double bytes[BENCH_SIZES_MAX], seconds[BENCH_SIZES_MAX];
    size_t n = 0;
    for (int i = 0; i < bench->row_count; i++) {
        const struct bench_series *series = series_find(&bench->rows[i], name);
        if (!series)
            continue;
        bytes[n] = (double)bench->rows[i].bytes;
        seconds[n++] = bench_series_spread(series).median / 1e6;
    }
    return n < 3 || fn(bytes, seconds, n, line) != 0 ? -1 : 0;
}

/* What a wire takes for a byte when full frames follow each other with nothing but bytes in them,
 * in seconds; 0: its rate was not said. */
static double wire_beta_s(const struct bench *bench)
{
    double mtu = bench->mtu > 0 ? bench->mtu : MTU_USUAL, rate = bench->simulation.rate_bps;
    bool two = bench->plan.what == BENCH_PINGPONG || bench->plan.what == BENCH_STREAM;
    return two && rate > 0 ? 8 * (mtu + AROUND_FRAME_BYTES) / (mtu * rate) : 0;
}

/* In a run so disturbed that the longest message took less than the shortest there are no ends, but
 * still a nearest line. */
static int fit_series(const struct bench *bench, const char *name, struct covey_line *line)
{
    int status = bench_fit(bench, name, covey_line_fit_ends, line);
    return status == 0 ? 0 : bench_fit(bench, name, covey_line_fit, line);
}

static void print_fit(const struct bench *bench, const char *name)
{
    struct covey_line line;
    double wire_s = wire_beta_s(bench);
    if (fit_series(bench, name, &line) != 0)
        return;
    printf("%s: alpha %.2f us, beta %.4f ns/byte (%.0f MB/s), R2 %.3f, off by at most %.0f %%",
           name, line.alpha_s * 1e6, line.beta_s * 1e9, 1e-6 / line.beta_s, line.r2,
           100 * line.worst);
    if (wire_s > 0)
        printf("; %.3f of the wire's", line.beta_s / wire_s);
    putchar('\n');
}

static void print_bench_head(const struct bench *bench)
{
    const struct bench_plan *plan = &bench->plan;
    bool two = plan->what == BENCH_PINGPONG || plan->what == BENCH_STREAM;
    printf("%s on %s%s%s", bench->name, bench->hosts[0], bench->host_count > 1 ? ", " : "",
           bench->host_count > 1 ? bench->hosts[1] : "");
    if (bench->host_count > 2)
        printf(" and %d more", bench->host_count - 2);
    if (!two)
        printf(", %d tasks", plan->tasks);
    if (plan->what != BENCH_SPAWN)
        printf(", route %s", covey_route_name(plan->route));
    for (int i = 0; i < plan->more_count; i++)
        printf("%s%s", i + 1 < plan->more_count ? ", " : " and ",
               covey_route_name(plan->more_routes[i]));
    if (two)
        printf(", messages %s", bench_pack_name(plan->pack));
    printf("; %d rounds\n", plan->rounds);
}

/* How to read it; the raw programs come first, so that Covey's line is the last. */
static void print_foot(const struct bench *bench)
{
    const char *names[BENCH_SERIES_MAX];
    int count = raw_names(bench, names);
    static const char *const texts[] = {
        [BENCH_PINGPONG] = "half a round trip",
        [BENCH_STREAM] = "a message of many in one direction",
        [BENCH_SPAWN] = "a task: until all are started, have run and ended, have joined the VM",
        [BENCH_BARRIER] = "a barrier; of the raw programs, half a round trip",
        [BENCH_MCAST] = "until all have confirmed it; of the raw programs, half a round trip",
        [BENCH_BCAST] = "until all have confirmed it; one: to one alone; tcp-each: by tcp to each",
    };
    printf("US: %s. RATIO: Covey's time over %s.\n", texts[bench->plan.what],
           bench->plan.what == BENCH_BCAST ? "that one"
           : bench->plan.more_count > 0    ? "the other one's, over the first route"
                                           : "the raw one's");
    if (bench->plan.pause_us > 0)
        printf("Each message is sent after a pause of %d us, when its receiver is asleep.\n",
               bench->plan.pause_us);
    else if (bench->plan.what != BENCH_SPAWN && bench->plan.what != BENCH_BCAST)
        printf("A raw receiver sleeps until it is woken; with -spin it looks for %d us first.\n",
               bench->plan.spin_us);
    if (!sized(bench))
        return;
    if (timed(bench))
        puts("TASKS, DAEMONS: CPU seconds per GB (10^9 bytes) moved.");
    double beta_s = wire_beta_s(bench);
    if (beta_s > 0)
        printf("wire: beta %.4f ns/byte (%.0f MB/s): frames of %d bytes, and %d around each\n",
               beta_s * 1e9, 1e-6 / beta_s, bench->mtu > 0 ? bench->mtu : MTU_USUAL,
               AROUND_FRAME_BYTES);
    for (int i = 0; i < count; i++)
        print_fit(bench, names[i]);
    print_fit(bench, covey_name(bench));
}

int bench_print_table(struct bench *bench)
{
    struct cells headings = {.count = 0};
    const char *names[BENCH_SERIES_MAX];
    int count = raw_names(bench, names);
    cells_add(&headings, sized(bench) ? ">BYTES" : "WHAT");
    cells_add(&headings, ">US");
    cells_add(&headings, ">MIN");
    cells_add(&headings, ">Q1");
    cells_add(&headings, ">Q3");
    if (sized(bench))
        cells_add(&headings, ">MB/S");
    if (timed(bench)) {
        cells_add(&headings, ">TASKS");
        cells_add(&headings, ">DAEMONS");
    }
    for (int i = 0; i < count; i++) {
        cells_add(&headings, ">%s", names[i]);
        cells_add(&headings, ">RATIO");
    }
    struct table *table = table_create(headings.list);
    for (int i = 0; i < bench->row_count; i++) {
        struct cells cells = {.count = 0};
        const struct bench_row *row = &bench->rows[i];
        const struct bench_series *covey = &row->series[0];
        struct bench_spread spread = bench_series_spread(covey);
        if (sized(bench))
            cells_add(&cells, "%" PRId64, row->bytes);
        else
            cells_add(&cells, "%s", row->label);
        cells_add_figure(&cells, spread.median);
        cells_add_figure(&cells, spread.min);
        cells_add_figure(&cells, spread.quartile1);
        cells_add_figure(&cells, spread.quartile3);
        if (sized(bench))
            cells_add_figure(&cells, (double)row->bytes / spread.median);
        if (timed(bench)) {
            cells_add_figure(&cells, cpu_per_gb(covey->task_cpu_s, covey->bytes));
            cells_add_figure(&cells, cpu_per_gb(covey->daemon_cpu_s, covey->bytes));
        }
        for (int k = 0; k < count; k++) {
            const struct bench_series *raw = series_find(row, names[k]);
            if (!raw || raw->rounds != covey->rounds) {
                cells_add(&cells, "-");
                cells_add(&cells, "-");
            } else {
                cells_add_figure(&cells, bench_series_spread(raw).median);
                cells_add(&cells, "%.2f",
                          bench_median_ratio(covey->us, raw->us, (size_t)covey->rounds));
            }
        }
        table_add(table, cells.list);
    }
    print_bench_head(bench);
    int status = report_table("bench", table);
    if (status == TOOL_OK)
        print_foot(bench);
    return status;
}

/* ---- JSON ---- */

static json_t *fit_object(const struct bench *bench, const char *name)
{
    struct covey_line line;
    if (fit_series(bench, name, &line) != 0)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f}", "alpha_us", line.alpha_s * 1e6, "beta_ns_per_byte",
                     line.beta_s * 1e9, "r2", line.r2, "worst", line.worst);
}

/* null: it was not taken, as of a broadcast, or nothing was moved. */
static json_t *cpu_object(const struct bench *bench, double seconds, double bytes)
{
    return timed(bench) && bytes > 0 ? json_real(cpu_per_gb(seconds, bytes)) : json_null();
}

int bench_print_json(struct bench *bench)
{
    const struct bench_plan *plan = &bench->plan;
    json_t *rows = json_array();
    for (int i = 0; i < bench->row_count; i++) {
        const struct bench_row *row = &bench->rows[i];
        json_t *list = json_array();
        for (int k = 0; k < row->series_count; k++) {
            const struct bench_series *series = &row->series[k];
            const struct bench_series *covey = &row->series[0];
            struct bench_spread spread = bench_series_spread(series);
            double mb_s = spread.median > 0 ? (double)row->bytes / spread.median : 0;
            double ratio = bench_median_ratio(covey->us, series->us, (size_t)series->rounds);
            report_add(&list,
                       json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "name",
                                 series->name, "us", spread.median, "min_us", spread.min, "q1_us",
                                 spread.quartile1, "q3_us", spread.quartile3, "max_us", spread.max,
                                 "mb_per_s", mb_s, "ratio", ratio, "task_cpu_s_per_gb",
                                 cpu_object(bench, series->task_cpu_s, series->bytes),
                                 "daemon_cpu_s_per_gb",
                                 cpu_object(bench, series->daemon_cpu_s, series->bytes)));
        }
        report_add(&rows, json_pack("{s:s, s:I, s:o}", "what", row->label, "bytes",
                                    (json_int_t)row->bytes, "series", list));
    }
    const char *names[BENCH_SERIES_MAX];
    int count = raw_names(bench, names);
    json_t *fits = json_object();
    json_object_set_new(fits, covey_name(bench), fit_object(bench, covey_name(bench)));
    for (int i = 0; i < count; i++)
        json_object_set_new(fits, names[i], fit_object(bench, names[i]));
    json_t *hosts = json_array();
    for (int i = 0; i < bench->host_count; i++)
        report_add(&hosts, report_text(bench->hosts[i]));
    json_t *whole = json_pack(
        "{s:s, s:s, s:s, s:o, s:i, s:i, s:i, s:i, s:i, s:f, s:o, s:o}", "benchmark", bench->name,
        "route", covey_route_name(plan->route), "pack", bench_pack_name(plan->pack), "hosts", hosts,
        "tasks", plan->tasks, "rounds", plan->rounds, "batch_us", plan->batch_us, "raw_spin_us",
        plan->spin_us, "pause_us", plan->pause_us, "wire_ns_per_byte", wire_beta_s(bench) * 1e9,
        "rows", rows, "fits", fits);
    return report_print("bench", whole);
}
