/*
 * poisson - solves Poisson's equation in a square or a cube, by one of the methods of
 * covey_poisson(3).
 *
 * Files. poisson.c: options, and the coordinator that the user starts. field.c: the tasks, which
 * leave the solution to covey_poisson_solve().
 *
 * What is timed is the solution: the team, the plan and the right side are there before, and the
 * result is judged after.
 */
#include "apps/coordinator.h"
#include "apps/poisson/field.h"
#include "lib/domain/covey_domain.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#define N_DEFAULT 128

struct poisson_options {
    struct app_options common;
    struct field_job job;
    char method[FIELD_OPTIONS / 3], more[FIELD_OPTIONS / 2];
    int64_t dims;
};

struct poisson {
    const struct poisson_options *options;
    struct crew_solution solution;
};

/* ---- Options ----------------------------------------------------------------------------- */

static const char help[] =
    "Usage: poisson [OPTION]...\n"
    "Solves Poisson's equation in a square or a cube on the tasks of a virtual machine and prints\n"
    "where the time went.\n"
    "\n"
    "  -N, --size N          cells along each axis (128); K, M: times 1024, 1024^2\n"
    "  -d, --dims D          2 or 3 axes (3)\n"
    "  -m, --method NAME     local, jacobi, sor, chebyshev, cg, pipecg, mg, mg-cg or fft (the one\n"
    "                        with the least predicted time)\n"
    "  -O, --options TEXT    more options of covey_poisson(3), such as cycle=f,sweeps=2\n"
    "  -B, --border KIND     value: u is 0 there; slope: its derivative is; periodic (value)\n"
    "  -t, --tolerance T     the residual, relative to the right side (1e-8)\n"
    "  -n, --tasks TASKS     number of tasks (one a host)\n"
    "  -s, --seed SEED       of the solution (1)\n" APP_OPTIONS_HELP;

static int parse_border(struct poisson_options *options, const char *text)
{
    static const char *const names[] = {"value", "slope", "periodic"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            options->job.border = COVEY_BORDER_VALUE + i;
            return 0;
        }
    }
    warnx("--border: '%s' is none of value, slope and periodic", text);
    return -1;
}

static int poisson_take_own(void *program, int key, const char *argument)
{
    struct poisson_options *options = program;
    switch (key) {
    case 'N':
        return app_parse_integer("--size", argument, 1, FIELD_N_MAX, &options->job.n);
    case 'd':
        return app_parse_integer("--dims", argument, 2, 3, &options->dims);
    case 'm':
        return app_parse_text("--method", argument, options->method, sizeof options->method);
    case 'O':
        return app_parse_text("--options", argument, options->more, sizeof options->more);
    case 'B':
        return parse_border(options, argument);
    case 't':
        return app_parse_double("--tolerance", argument, 1e-15, 0.5, &options->job.tolerance);
    default:
        return -1; /* there is none */
    }
}

static int poisson_parse(int argc, char **argv, struct poisson_options *options)
{
    static const struct option longs[] = {APP_LONG_OPTIONS,
                                          {"size", required_argument, NULL, 'N'},
                                          {"dims", required_argument, NULL, 'd'},
                                          {"method", required_argument, NULL, 'm'},
                                          {"options", required_argument, NULL, 'O'},
                                          {"border", required_argument, NULL, 'B'},
                                          {"tolerance", required_argument, NULL, 't'},
                                          {NULL, 0, NULL, 0}};
    const struct app_syntax syntax = {help, APP_SHORT_OPTIONS "N:d:m:O:B:t:", longs,
                                      poisson_take_own};
    *options = (struct poisson_options){
        .dims = 3, .job = {.n = N_DEFAULT, .border = COVEY_BORDER_VALUE, .tolerance = 1e-8}};
    if (app_options_parse(&options->common, argc, argv, &syntax, options) < 0)
        return -1;
    options->job.dims = (int32_t)options->dims;
    options->job.seed = options->common.seed;
    snprintf(options->job.options, sizeof options->job.options, "%s%s%s%s",
             options->method[0] != '\0' ? "poisson=" : "", options->method,
             options->method[0] != '\0' && options->more[0] != '\0' ? "," : "", options->more);
    return 0;
}

/* ---- Results ----------------------------------------------------------------------------- */

static int poisson_collect(struct crew *crew, void *context)
{
    struct poisson *poisson = context;
    return crew_collect_solution(crew, &poisson->solution);
}

/* By the matrix, as it is applied by the tasks, and by the distance from the solution; both are
 * given some rounding. */
static bool passed(const struct poisson *poisson)
{
    const double *f = poisson->solution.figures;
    double tolerance = poisson->options->job.tolerance;
    return f[FIELD_CONVERGED] > 0 && f[FIELD_TRUE_RESIDUAL] <= 1.01 * tolerance + 1e-13 &&
           f[FIELD_ERROR] <= 1.01 * f[FIELD_BOUND] + 1e-12;
}

static json_t *parameters_of(const struct poisson *poisson)
{
    const struct field_job *job = &poisson->options->job;
    const double *f = poisson->solution.figures;
    return json_pack("{s:I, s:i, s:s, s:s, s:f, s:i, s:b, s:f, s:f, s:f, s:f, s:f}", "n",
                     (json_int_t)job->n, "dims", job->dims, "method", poisson->solution.algorithm,
                     "options", job->options, "tolerance", job->tolerance, "iterations",
                     (int)f[FIELD_ITERATIONS], "converged", f[FIELD_CONVERGED] > 0, "residual",
                     f[FIELD_RESIDUAL], "solution_s", f[FIELD_SECONDS], "exchange_s",
                     f[FIELD_EXCHANGE_S], "reduce_s", f[FIELD_REDUCE_S], "error", f[FIELD_ERROR]);
}

static int poisson_report(void *context, const struct coordinator_result *result)
{
    const struct poisson *poisson = context;
    const struct field_job *job = &poisson->options->job;
    const double *f = poisson->solution.figures;
    char problem[512];
    snprintf(problem, sizeof problem,
             "%lld%s cells by %s: %.0f iterations, residual %.2g, %.4f s (%.4f in exchanges, %.4f "
             "in sums)",
             (long long)job->n, job->dims == 3 ? "^3" : "^2", poisson->solution.algorithm,
             f[FIELD_ITERATIONS], f[FIELD_RESIDUAL], f[FIELD_SECONDS], f[FIELD_EXCHANGE_S],
             f[FIELD_REDUCE_S]);
    json_t *parameters = parameters_of(poisson);
    struct report report = {.program = "poisson",
                            .problem = problem,
                            .parameters = parameters,
                            .passed = passed(poisson),
                            .check_method = "the residual and the known solution"};
    int status = coordinator_report(&poisson->options->common, result, &report);
    json_decref(parameters);
    if (poisson->options->common.explain)
        fputs(poisson->solution.table, stderr);
    if (f[FIELD_CONVERGED] > 0)
        return status;
    warnx("%s did not converge: after %.0f iterations a residual of %.2g is left",
          poisson->solution.algorithm, f[FIELD_ITERATIONS], f[FIELD_RESIDUAL]);
    return EXIT_FAILURE;
}

static int poisson_coordinate(const void *program_options)
{
    struct poisson poisson = {.options = program_options};
    const struct coordinator_program program = {.context = &poisson,
                                                .title = "solving",
                                                .pack_job = field_pack,
                                                .job = &poisson.options->job,
                                                .collect = poisson_collect,
                                                .report = poisson_report};
    return coordinator_main(&poisson.options->common, &program);
}

int main(int argc, char **argv)
{
    static const struct app_roles roles = {field_kernel, field_worker, poisson_coordinate};
    struct poisson_options options;
    int parsed = poisson_parse(argc, argv, &options);
    return app_run(parsed, &options.common, &roles, &options);
}
