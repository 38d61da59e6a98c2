/*
 * sweep.c - what the trials gave: a table with the least time of each schedule, or the JSON that
 * `covey predict tiles --measured` reads.
 */
#include "apps/tiles/sweep.h"

#include <err.h>
#include <jansson.h>
#include <stdio.h>

static const char *const schedule_names[] = {"overlap", "block"};

const double *sweep_trial(const struct sweep *sweep, int trial)
{
    return sweep->figures + PIPELINE_COMMON + (ptrdiff_t)trial * PIPELINE_FIGURES;
}

static const char *schedule_name(const double *trial)
{
    return schedule_names[trial[PIPELINE_SCHEDULE] > 0];
}

static int flushed(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    warn("cannot write the figures");
    return -1;
}

double sweep_predicted_s(const double *trial)
{
    double played_s = trial[PIPELINE_PLAYED_S];
    return played_s > 0 ? played_s : trial[PIPELINE_PREDICTED_S];
}

/* Costs are measured where a height is to be chosen; without them nothing is predicted. */
static bool has_costs(const struct sweep *sweep)
{
    return sweep->figures[PIPELINE_POINT_S] > 0;
}

const char *sweep_faces(const double *trial)
{
    bool sent = trial[PIPELINE_MESSAGES] > 0, put = trial[PIPELINE_PUTS] > 0;
    return put && sent ? "put and sent" : put ? "put" : sent ? "sent" : "none";
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_trial(const struct sweep *sweep, const double *f)
{
    printf("%-8s %8.0f %10.4f %12.4f %14.4f %9.4f", schedule_name(f), f[PIPELINE_HEIGHT],
           f[PIPELINE_TOTAL_S], f[PIPELINE_COMPUTATION_S],
           f[PIPELINE_PACKING_S] + f[PIPELINE_COMMUNICATION_S], f[PIPELINE_IDLE_S]);
    if (has_costs(sweep))
        printf(" %10.4f %+6.0f %%\n", sweep_predicted_s(f),
               100 * (sweep_predicted_s(f) / f[PIPELINE_TOTAL_S] - 1));
    else
        printf(" %10s %8s\n", "-", "-");
}

static double measured_s(const double *trial)
{
    return trial[PIPELINE_TOTAL_S];
}

/* The trial of a schedule whose time is the least; NULL: no trial had it. */
static const double *least(const struct sweep *sweep, int schedule, double time_s(const double *))
{
    const double *best = NULL;
    for (int i = 0; i < sweep->job->trial_count; i++) {
        const double *f = sweep_trial(sweep, i);
        if ((int)f[PIPELINE_SCHEDULE] == schedule && (best == NULL || time_s(f) < time_s(best)))
            best = f;
    }
    return best;
}

static void print_least(const struct sweep *sweep, int schedule)
{
    const double *measured = least(sweep, schedule, measured_s);
    const double *predicted = least(sweep, schedule, sweep_predicted_s);
    if (measured == NULL)
        return;
    printf("%s: least %.4f s at height %.0f", schedule_names[schedule], measured_s(measured),
           measured[PIPELINE_HEIGHT]);
    if (has_costs(sweep))
        printf("; predicted %.4f s at %.0f", sweep_predicted_s(predicted),
               predicted[PIPELINE_HEIGHT]);
    putchar('\n');
}

int sweep_table(const struct sweep *sweep)
{
    const double *f = sweep->figures;
    printf("tiles: %s, %lld x %lld x %lld on %.0f x %.0f x %.0f tasks; ",
           nest_name(sweep->job->problem.kind), (long long)sweep->job->problem.size[0],
           (long long)sweep->job->problem.size[1], (long long)sweep->job->problem.size[2],
           f[PIPELINE_GRID], f[PIPELINE_GRID + 1], f[PIPELINE_GRID + 2]);
    if (has_costs(sweep)) {
        printf("a point takes %.3g us, a message of N bytes %.4g + %.3g N us\n",
               1e6 * f[PIPELINE_POINT_S], 1e6 * f[PIPELINE_ALPHA_S], 1e6 * f[PIPELINE_BETA_S]);
    } else
        puts("no prediction: costs are measured if a height is to be chosen, as with --sweep");
    f = sweep_trial(sweep, 0);
    printf(
        "faces: %.0f put into the memory of neighbours, %.0f sent as messages in the first run\n",
        f[PIPELINE_PUTS], f[PIPELINE_MESSAGES]);
    printf("%-8s %8s %10s %12s %14s %9s %10s %8s\n", "schedule", "height", "total s", "computation",
           "communication", "idle", "predicted", "off");
    for (int i = 0; i < sweep->job->trial_count; i++)
        print_trial(sweep, sweep_trial(sweep, i));
    print_least(sweep, COVEY_TILES_OVERLAP);
    print_least(sweep, COVEY_TILES_BLOCK);
    return flushed();
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *known_s(double seconds)
{
    return seconds > 0 ? json_real(seconds) : json_null();
}

static json_t *trial_json(const double *f)
{
    return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:f, s:f, s:I, s:I}",
                     "schedule", schedule_name(f), "height", (json_int_t)f[PIPELINE_HEIGHT],
                     "total_s", f[PIPELINE_TOTAL_S], "computation_s", f[PIPELINE_COMPUTATION_S],
                     "packing_s", f[PIPELINE_PACKING_S], "communication_s",
                     f[PIPELINE_COMMUNICATION_S], "idle_s", f[PIPELINE_IDLE_S], "predicted_s",
                     known_s(f[PIPELINE_PREDICTED_S]), "played_s", known_s(f[PIPELINE_PLAYED_S]),
                     "step_computation_s", f[PIPELINE_STEP_COMPUTATION_S], "step_communication_s",
                     f[PIPELINE_STEP_COMMUNICATION_S], "puts", (json_int_t)f[PIPELINE_PUTS],
                     "messages", (json_int_t)f[PIPELINE_MESSAGES]);
}

static json_t *costs_json(const double *f)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "point_s", f[PIPELINE_POINT_S], "alpha_s",
                     f[PIPELINE_ALPHA_S], "beta_s", f[PIPELINE_BETA_S], "start_s",
                     f[PIPELINE_START_S], "drag_s", f[PIPELINE_DRAG_S], "store_s",
                     f[PIPELINE_STORE_S]);
}

int sweep_json(const struct sweep *sweep)
{
    const double *f = sweep->figures;
    const int64_t *size = sweep->job->problem.size;
    json_t *trials = json_array();
    for (int i = 0; i < sweep->job->trial_count; i++)
        json_array_append_new(trials, trial_json(sweep_trial(sweep, i)));
    json_t *all = json_pack(
        "{s:s, s:s, s:i, s:[I,I,I], s:[i,i,i], s:i, s:i, s:s, s:s, s:o, s:o}", "program", "tiles",
        "loop", nest_name(sweep->job->problem.kind), "roots", (int)sweep->job->problem.roots,
        "size", (json_int_t)size[0], (json_int_t)size[1], (json_int_t)size[2], "grid",
        (int)f[PIPELINE_GRID], (int)f[PIPELINE_GRID + 1], (int)f[PIPELINE_GRID + 2], "along",
        (int)f[PIPELINE_ALONG], "tasks", (int)f[PIPELINE_TASKS], "route",
        covey_route_name(sweep->route), "shape", nest_shape_name(sweep->job->problem.shape),
        "costs", costs_json(f), "trials", trials);
    int failed = all == NULL || json_dumpf(all, stdout, JSON_INDENT(2)) != 0;
    json_decref(all);
    putchar('\n');
    if (!failed)
        return flushed();
    warnx("out of memory for the figures");
    return -1;
}
