/*
 * What covey predict found, as a table or as JSON.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tools/list/report.h"
#include "tools/list/table.h"
#include "tools/predict/predict.h"

enum { COLUMNS_PREDICTED = 7 }; /* those before what was measured */

void predict_problem(const struct predict *p, char *text, size_t size)
{
    const struct covey_problem *problem = &p->problem;
    if (p->what == COVEY_MODEL_MATMUL)
        snprintf(text, size, "N = %" PRId64, problem->size);
    else if (p->what == COVEY_MODEL_SORT)
        snprintf(text, size, "%" PRId64 " keys", problem->size);
    else if (p->what == PREDICT_ALLTOALL)
        snprintf(text, size, "blocks of %" PRId64 " bytes", problem->size);
    else
        snprintf(text, size, "%d x %d pixels, at most %d iterations", problem->width,
                 problem->height, problem->iterations);
}

/* The medians would need all runs; one host mostly has one. */
static double run_measured_s(const struct predict *p, int hosts)
{
    double sum_s = 0;
    int count = 0;
    for (int i = 0; i < p->measured_count; i++) {
        if (p->measured[i].hosts != hosts)
            continue;
        sum_s += p->measured[i].total_s;
        count++;
    }
    return count > 0 ? sum_s / count : 0;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Four significant digits or so. */
#define SECONDS(s) CELL("%.*f", predict_digits(s), s)

int predict_digits(double seconds)
{
    return seconds < 0.1 ? 6 : seconds < 100 ? 3 : 1;
}

static struct table *make_table(const struct predict *p)
{
    const char *headings[] = {">HOSTS",         ">TASKS", ">TOTAL S",  ">COMPUTATION",
                              ">COMMUNICATION", ">IDLE",  ">SPEED-UP", ">MEASURED S",
                              ">OFF BY",        NULL};
    if (p->measured_count == 0) /* nor the cells below it */
        headings[COLUMNS_PREDICTED] = NULL;
    struct table *table = table_create(headings);
    for (int i = 0; i < p->n; i++) {
        const struct covey_prediction *row = &p->rows[i];
        double found_s = run_measured_s(p, row->hosts), speedup = p->rows[0].total_s / row->total_s;
        bool found = found_s > 0;
        TABLE_ROW(table, CELL("%d", row->hosts), CELL("%d", row->tasks), SECONDS(row->total_s),
                  SECONDS(row->computation_s), SECONDS(row->communication_s), SECONDS(row->idle_s),
                  CELL("%.2f", speedup * p->rows[0].hosts), found ? SECONDS(found_s) : "-",
                  CELL(found ? "%+.0f %%" : "-", found ? 100 * (row->total_s / found_s - 1) : 0));
    }
    return table;
}

static struct table *make_alltoall_table(const struct predict *p)
{
    const char *const headings[] = {">HOSTS", ">PHASES",   ">BOUND S", ">SCHEDULED",
                                    ">RING",  ">PAIRWISE", NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < p->n; i++) {
        const struct covey_alltoall_prediction *row = &p->alltoall[i];
        TABLE_ROW(table, CELL("%" PRIu32, row->ranks), CELL("%" PRIu32, row->phases),
                  SECONDS(row->bound_s), SECONDS(row->scheduled_s), SECONDS(row->ring_s),
                  SECONDS(row->pairwise_s));
    }
    return table;
}

/* What others do on the hosts now. */
static int print_present(const struct predict *p)
{
    const char *const headings[] = {"HOST", ">COMPETING", ">LINK OUT", ">LINK IN", NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < p->calibration->host_count; i++) {
        const struct covey_calibration_host *host = &p->calibration->hosts[i];
        TABLE_ROW(table, host->name, CELL("%.2f", host->demand),
                  CELL("%.0f %%", 100 * host->link_out), CELL("%.0f %%", 100 * host->link_in));
    }
    int status = report_table("predict", table);
    if (p->paging > 0)
        printf("%d host%s left out, for want of memory\n", p->paging,
               p->paging == 1 ? " pages and is" : "s page and are");
    if (p->unknown > 0)
        printf("%d host%s taken to be at rest: the load is not known\n", p->unknown,
               p->unknown == 1 ? " is" : "s are");
    return status;
}

int predict_print(const struct predict *p)
{
    char problem[128];
    predict_problem(p, problem, sizeof problem);
    printf("%s, %s; calibrated %s on %d host%s%s\n", p->name, problem, p->calibration->date,
           p->calibration->host_count, p->calibration->host_count == 1 ? "" : "s",
           p->problem.paper ? "; the paper's equations" : "");
    int status = p->now ? print_present(p) : TOOL_OK;
    if (status == TOOL_OK)
        status = report_table("predict",
                              p->what == PREDICT_ALLTOALL ? make_alltoall_table(p) : make_table(p));
    if (status != TOOL_OK)
        return status;
    if (p->what == PREDICT_ALLTOALL) {
        puts("BOUND: the load of the bottleneck link. SCHEDULED: in phases without contention "
             "(Faraj "
             "and Yuan).\nRING: the algorithm linear, round the ring at once. PAIRWISE: one after "
             "another.");
    } else {
        int break_even = p->rows[p->break_even].hosts, last = p->rows[p->n - 1].hosts;
        printf("break-even: %d host%s%s\n", break_even, break_even == 1 ? "" : "s",
               break_even == last ? ", the most that were looked at" : "; more hosts gain no time");
        printf("most efficient: %d host%s (slope %.2f)\n", p->rows[p->efficient].hosts,
               p->rows[p->efficient].hosts == 1 ? "" : "s", p->tolerance);
    }
    return TOOL_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* null: it was not asked for. */
static json_t *present_object(const struct predict *p)
{
    json_t *hosts = json_array();
    for (int i = 0; p->now && i < p->calibration->host_count; i++) {
        const struct covey_calibration_host *host = &p->calibration->hosts[i];
        report_add(&hosts,
                   json_pack("{s:o, s:f, s:f, s:f}", "name", report_text(host->name), "demand",
                             host->demand, "link_out", host->link_out, "link_in", host->link_in));
    }
    json_t *object =
        json_pack("{s:o, s:i, s:i}", "hosts", hosts, "paging", p->paging, "unknown", p->unknown);
    if (p->now)
        return object;
    json_decref(object);
    return json_null();
}

static json_t *row_object(const struct predict *p, int i)
{
    const struct covey_prediction *row = &p->rows[i];
    const struct covey_alltoall_prediction *all = &p->alltoall[i];
    if (p->what == PREDICT_ALLTOALL)
        return json_pack("{s:i, s:i, s:f, s:f, s:f, s:f}", "hosts", (int)all->ranks, "phases",
                         (int)all->phases, "bound_s", all->bound_s, "scheduled_s", all->scheduled_s,
                         "ring_s", all->ring_s, "pairwise_s", all->pairwise_s);
    double found_s = run_measured_s(p, row->hosts);
    return json_pack("{s:i, s:i, s:f, s:f, s:f, s:f, s:o}", "hosts", row->hosts, "tasks",
                     row->tasks, "total_s", row->total_s, "computation_s", row->computation_s,
                     "communication_s", row->communication_s, "idle_s", row->idle_s, "measured_s",
                     report_positive(found_s));
}

int predict_print_json(const struct predict *p)
{
    char problem[128];
    json_t *rows = json_array();
    predict_problem(p, problem, sizeof problem);
    for (int i = 0; i < p->n; i++)
        report_add(&rows, row_object(p, i));
    bool demo = p->what != PREDICT_ALLTOALL;
    return report_print(
        "predict",
        json_pack("{s:s, s:s, s:s, s:b, s:o, s:f, s:o, s:o, s:o}", "program", p->name, "problem",
                  problem, "calibrated", p->calibration->date, "paper", p->problem.paper, "now",
                  present_object(p), "tolerance", p->tolerance, "break_even",
                  demo ? json_integer(p->rows[p->break_even].hosts) : json_null(), "efficient",
                  demo ? json_integer(p->rows[p->efficient].hosts) : json_null(), "rows", rows));
}
