/* covey bench overlap: what is hidden, as a table or as JSON. */
#include "tools/bench/bench_overlap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench_stat.h"
#include "tools/list/cells.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

/* The part of the communication that was hidden behind the computation, or the other way round
 * where that takes less: (communication + computation - both) / the lesser of the two, from 0 to 1.
 */
static double overlap_hidden(double communication_us, double computation_us, double both_us)
{
    double lesser = communication_us < computation_us ? communication_us : computation_us;
    double part = lesser > 0 ? (communication_us + computation_us - both_us) / lesser : 0;
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* Of the three samples of each round: what drifts does so for all of them. */
static struct bench_spread hidden_of(const struct bench_row *row)
{
    double parts[BENCH_ROUNDS_MAX];
    const struct bench_series *s = row->series;
    for (int i = 0; i < s[0].rounds; i++)
        parts[i] = overlap_hidden(s[OVERLAP_COMMUNICATION].us[i], s[OVERLAP_COMPUTATION].us[i],
                                  s[OVERLAP_BOTH].us[i]);
    return bench_spread_of(parts, (size_t)s[0].rounds);
}

static double median_of(const struct bench_row *row, int series)
{
    return bench_series_median(&row->series[series]);
}

/* ---- the programs beside ---- */

int bench_overlap_beside(struct bench *bench, const char *text)
{
    const char *command = strchr(text, '=');
    size_t length = command ? (size_t)(command - text) : 0;
    if (length == 0 || length >= sizeof bench->besides[0].name || command[1] == '\0' ||
        bench->beside_count == BENCH_BESIDE_MAX)
        return tool_usage("bench", "--beside %s: must be at most %d times NAME=COMMAND", text,
                          BENCH_BESIDE_MAX);
    struct bench_beside *beside = &bench->besides[bench->beside_count++];
    memcpy(beside->name, text, length);
    beside->command = command + 1;
    return TOOL_OK;
}

static struct bench_row *row_of(const struct bench *bench, struct bench_beside *beside,
                                int64_t bytes)
{
    for (int i = 0; i < bench->plan.size_count; i++) {
        if (bench->plan.sizes[i] == bytes)
            return &beside->rows[i];
    }
    return NULL;
}

/* Rows count what was taken in: none so far. */
static int row_make(struct bench_row *row, int64_t bytes, int32_t rounds)
{
    row->bytes = bytes;
    for (int i = 0; i < OVERLAP_SERIES; i++) {
        struct bench_series *series = bench_row_add(row, "", rounds);
        if (!series)
            return tool_error("bench", "memory is exhausted");
        series->rounds = 0;
    }
    return TOOL_OK;
}

static FILE *start_program(const struct bench *bench, const struct bench_beside *beside)
{
    size_t size = strlen(beside->command) + 64 + 24 * (size_t)bench->plan.size_count, used;
    char *command = malloc(size);
    if (!command)
        return NULL;
    used = (size_t)snprintf(command, size, "%s %d %d", beside->command, bench->plan.rounds,
                            bench->plan.batch_us);
    for (int i = 0; i < bench->plan.size_count; i++)
        used += (size_t)snprintf(command + used, size - used, " %" PRId64, bench->plan.sizes[i]);
    fflush(NULL);
    FILE *out = popen(command, "r");
    free(command);
    return out;
}

static int run_program(const struct bench *bench, struct bench_beside *beside)
{
    char line[256];
    FILE *out = start_program(bench, beside);
    if (!out)
        return tool_error("bench", "%s: cannot be started", beside->name);
    while (fgets(line, sizeof line, out)) {
        /* A line that is no sample is something else that the program or what starts it says. */
        int64_t bytes;
        double us[OVERLAP_SERIES];
        if (sscanf(line, "%" SCNd64 " %lf %lf %lf", &bytes, &us[0], &us[1], &us[2]) == 4) {
            struct bench_row *row = row_of(bench, beside, bytes);
            if (row && row->series[0].rounds != bench->plan.rounds) {
                for (int i = 0; i < OVERLAP_SERIES; i++)
                    row->series[i].us[row->series[i].rounds++] = us[i];
            }
        }
    }
    int status = pclose(out);
    for (int i = 0; i < bench->plan.size_count; i++) {
        if (beside->rows[i].series[0].rounds < bench->plan.rounds)
            return tool_error("bench", "%s measured %d of %d rounds of %" PRId64 " bytes%s",
                              beside->name, beside->rows[i].series[0].rounds, bench->plan.rounds,
                              bench->plan.sizes[i], status ? ", and failed" : "");
    }
    return TOOL_OK;
}

int bench_overlap_run_beside(struct bench *bench)
{
    int status = TOOL_OK;
    for (int i = 0; i < bench->beside_count && status == TOOL_OK; i++) {
        status = TOOL_OK;
        for (int k = 0; k < bench->plan.size_count && status == TOOL_OK; k++)
            status = row_make(&bench->besides[i].rows[k], bench->plan.sizes[k], bench->plan.rounds);
        if (status == TOOL_OK)
            status = run_program(bench, &bench->besides[i]);
    }
    return status;
}

void bench_overlap_free(struct bench *bench)
{
    for (int i = 0; i < bench->beside_count; i++) {
        for (int k = 0; k < bench->plan.size_count; k++)
            bench_row_free(&bench->besides[i].rows[k]);
    }
}

/* ---- the table ---- */

static void add_part(struct cells *cells, double part)
{
    cells_add(cells, "%.0f %%", 100 * part);
}

static void add_overlap_row(struct table *table, const char *who, const struct bench_row *row)
{
    struct cells cells = {.count = 0};
    struct bench_spread hidden = hidden_of(row);
    cells_add(&cells, "%s", who);
    cells_add(&cells, "%" PRId64, row->bytes);
    for (int i = 0; i < OVERLAP_SERIES; i++)
        cells_add_figure(&cells, median_of(row, i));
    add_part(&cells, hidden.median);
    add_part(&cells, hidden.quartile1);
    add_part(&cells, hidden.quartile3);
    table_add(table, cells.list);
}

static int print_overlap_table(const struct bench *bench)
{
    static const char *const headings[] = {
        "", ">BYTES", ">COMMUNICATION", ">COMPUTATION", ">BOTH", ">HIDDEN", ">Q1", ">Q3", NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < bench->row_count; i++)
        add_overlap_row(table, bench->rows[i].label, &bench->rows[i]);
    for (int i = 0; i < bench->beside_count; i++) {
        for (int k = 0; k < bench->plan.size_count; k++)
            add_overlap_row(table, bench->besides[i].name, &bench->besides[i].rows[k]);
    }
    printf("overlap on %s%s%s; %d rounds\n", bench->hosts[0], bench->host_count > 1 ? ", " : "",
           bench->host_count > 1 ? bench->hosts[1] : "", bench->plan.rounds);
    int status = report_table("bench", table);
    if (status == TOOL_OK)
        puts("Microseconds of a step: a face to and from the other task, computation alone, both.\n"
             "HIDDEN: (communication + computation - both) / the lesser of the two.");
    return status;
}

/* ---- JSON ---- */

static json_t *row_object(const char *key, const char *who, const struct bench_row *row)
{
    struct bench_spread hidden = hidden_of(row);
    return json_pack(
        "{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", key, who, "bytes", (json_int_t)row->bytes,
        "communication_us", median_of(row, OVERLAP_COMMUNICATION), "computation_us",
        median_of(row, OVERLAP_COMPUTATION), "both_us", median_of(row, OVERLAP_BOTH), "hidden",
        hidden.median, "quartile1", hidden.quartile1, "quartile3", hidden.quartile3);
}

static int print_overlap_json(struct bench *bench)
{
    json_t *rows = json_array(), *beside = json_array();
    for (int i = 0; i < bench->row_count; i++)
        report_add(&rows, row_object("route", bench->rows[i].label, &bench->rows[i]));
    for (int i = 0; i < bench->beside_count; i++) {
        for (int k = 0; k < bench->plan.size_count; k++)
            report_add(&beside,
                       row_object("program", bench->besides[i].name, &bench->besides[i].rows[k]));
    }
    return report_print("bench", json_pack("{s:s, s:i, s:i, s:o, s:o}", "benchmark", bench->name,
                                           "rounds", bench->plan.rounds, "batch_us",
                                           bench->plan.batch_us, "rows", rows, "beside", beside));
}

int bench_overlap_report(struct bench *bench)
{
    return bench->json ? print_overlap_json(bench) : print_overlap_table(bench);
}
