/*
 * linpack - solves a system of random equations, as the LINPACK benchmark does: LU factors by one
 * of the algorithms of covey_dense(3), and the solution.
 *
 * Files. linpack.c: options, and the coordinator that the user starts. system.c: the tasks, which
 * leave the work to covey_dense_lu() and covey_dense_lu_solve().
 *
 * What is timed is factoring and solving, in double precision: the team, the plan and the equations
 * are there before, and the result is judged after.
 */
#include "apps/coordinator.h"
#include "apps/linpack/system.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#define N_DEFAULT 4096
#define RESIDUAL_MOST 16 /* as HPL */

struct linpack_options {
    struct app_options common;
    struct system_job job;
    char algorithm[SYSTEM_OPTIONS / 3], more[SYSTEM_OPTIONS / 2];
};

struct linpack {
    const struct linpack_options *options;
    struct crew_solution solution;
};

/* ---- Options ----------------------------------------------------------------------------- */

static const char help[] =
    "Usage: linpack [OPTION]...\n"
    "Solves N random equations on the tasks of a virtual machine and prints where the time went.\n"
    "\n"
    "  -N, --size N          equations (4096); K, M: times 1024, 1024^2\n"
    "  -a, --algorithm NAME  local, column, block or tournament (the one with the least predicted\n"
    "                        time)\n"
    "  -O, --options TEXT    more options of covey_dense(3), such as "
    "grid=2x3,block=64,bcast=1ringM\n"
    "  -n, --tasks TASKS     number of tasks (one a host)\n"
    "  -s, --seed SEED       of the equations (1)\n" APP_OPTIONS_HELP;

static int linpack_take_own(void *program, int key, const char *argument)
{
    struct linpack_options *options = program;
    switch (key) {
    case 'N':
        return app_parse_integer("--size", argument, 1, SYSTEM_N_MAX, &options->job.n);
    case 'a':
        return app_parse_text("--algorithm", argument, options->algorithm,
                              sizeof options->algorithm);
    case 'O':
        return app_parse_text("--options", argument, options->more, sizeof options->more);
    default:
        return -1; /* there is none */
    }
}

static int linpack_parse(int argc, char **argv, struct linpack_options *options)
{
    static const struct option longs[] = {APP_LONG_OPTIONS,
                                          {"size", required_argument, NULL, 'N'},
                                          {"algorithm", required_argument, NULL, 'a'},
                                          {"options", required_argument, NULL, 'O'},
                                          {NULL, 0, NULL, 0}};
    const struct app_syntax syntax = {help, APP_SHORT_OPTIONS "N:a:O:", longs, linpack_take_own};
    *options = (struct linpack_options){.job = {.n = N_DEFAULT}};
    if (app_options_parse(&options->common, argc, argv, &syntax, options) < 0)
        return -1;
    options->job.seed = options->common.seed;
    snprintf(options->job.options, sizeof options->job.options, "%s%s%s%s",
             options->algorithm[0] != '\0' ? "lu=" : "", options->algorithm,
             options->algorithm[0] != '\0' && options->more[0] != '\0' ? "," : "", options->more);
    return 0;
}

/* ---- Results ----------------------------------------------------------------------------- */

static int linpack_collect(struct crew *crew, void *context)
{
    struct linpack *linpack = context;
    return crew_collect_solution(crew, &linpack->solution);
}

/* As HPL counts. */
static double gflops(const struct linpack *linpack)
{
    double n = (double)linpack->options->job.n, seconds = linpack->solution.figures[SYSTEM_SECONDS];
    return seconds > 0 ? (2.0 / 3 * n * n * n + 3.0 / 2 * n * n) / seconds * 1e-9 : 0;
}

static json_t *parameters_of(const struct linpack *linpack)
{
    const struct system_job *job = &linpack->options->job;
    const double *f = linpack->solution.figures;
    return json_pack("{s:I, s:s, s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f}", "n", (json_int_t)job->n,
                     "algorithm", linpack->solution.algorithm, "options", job->options, "rows",
                     (int)f[SYSTEM_ROWS], "columns", (int)f[SYSTEM_COLUMNS], "block",
                     (int)f[SYSTEM_BLOCK], "solution_s", f[SYSTEM_SECONDS], "factor_s",
                     f[SYSTEM_FACTOR_SECONDS], "gflops", gflops(linpack), "residual",
                     f[SYSTEM_RESIDUAL]);
}

static int linpack_report(void *context, const struct coordinator_result *result)
{
    const struct linpack *linpack = context;
    const double *f = linpack->solution.figures;
    char problem[512];
    snprintf(
        problem, sizeof problem,
        "%lld equations by %s (grid %.0fx%.0f, block %.0f): %.4f s, %.2f GFlop/s, residual %.3g",
        (long long)linpack->options->job.n, linpack->solution.algorithm, f[SYSTEM_ROWS],
        f[SYSTEM_COLUMNS], f[SYSTEM_BLOCK], f[SYSTEM_SECONDS], gflops(linpack), f[SYSTEM_RESIDUAL]);
    json_t *parameters = parameters_of(linpack);
    struct report report = {.program = "linpack",
                            .problem = problem,
                            .parameters = parameters,
                            .passed = f[SYSTEM_RESIDUAL] < RESIDUAL_MOST,
                            .check_method = "the residual"};
    int status = coordinator_report(&linpack->options->common, result, &report);
    json_decref(parameters);
    if (linpack->options->common.explain)
        fputs(linpack->solution.table, stderr);
    return status;
}

static int linpack_coordinate(const void *program_options)
{
    struct linpack linpack = {.options = program_options};
    const struct coordinator_program program = {.context = &linpack,
                                                .title = "solving",
                                                .pack_job = system_pack,
                                                .job = &linpack.options->job,
                                                .collect = linpack_collect,
                                                .report = linpack_report};
    return coordinator_main(&linpack.options->common, &program);
}

int main(int argc, char **argv)
{
    static const struct app_roles roles = {system_kernel, system_worker, linpack_coordinate};
    struct linpack_options options;
    int parsed = linpack_parse(argc, argv, &options);
    return app_run(parsed, &options.common, &roles, &options);
}
