/*
 * fft - transforms an array that is spread over the tasks of a virtual machine, forward and back,
 * by the library of solvers (covey_fft(3)).
 *
 * Files. fft.c: options, and the coordinator that the user starts. transform.c: the tasks. waves.c:
 * an array whose spectrum is known, for the check.
 *
 * What is timed is the transforms: plans and arrays are there before.
 */
#include "apps/coordinator.h"
#include "apps/fft/transform.h"

#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_REAL = APP_OPTION_OWN };
enum { RUNS_DEFAULT = 5, SIDE_DEFAULT = 128 };

struct fft_app {
    struct app_options common;
    struct transform_job job;
};

/* What the coordinator keeps of the results. */
struct fft {
    const struct fft_app *options;
    struct crew_solution solution;
};

/* ---- Options ----------------------------------------------------------------------------- */

static const char help[] =
    "Usage: fft [OPTION]...\n"
    "Transforms an array that is spread over the tasks of a virtual machine, forward and back, "
    "and\n"
    "prints where the time went.\n"
    "\n"
    "  -S, --size NxNxN      of the array, in one to three dimensions (128x128x128); K, M: times\n"
    "                        1024, 1024^2\n"
    "  -a, --algorithm TEXT  local, slab, pencil or six-step (chosen), and with commas between "
    "other\n"
    "                        options of covey_fft(3), such as slab,order=transposed\n"
    "      --real            of real numbers\n"
    "  -R, --runs RUNS       forward and back so many times (5)\n"
    "  -n, --tasks TASKS     number of tasks (one a host)\n"
    "  -s, --seed SEED       array to transform (1)\n" APP_OPTIONS_HELP;

/* "256x256x256" */
static int parse_size(struct transform_job *job, const char *text)
{
    char copy[64];
    char *rest = copy;
    int status = 0;
    size_t size = strlen(text) + 1;
    job->dims = 0;
    if (size <= sizeof copy) {
        memcpy(copy, text, size);
        for (char *word;
             status == 0 && job->dims < COVEY_FFT_DIMS_MAX && (word = strsep(&rest, "x")) != NULL;)
            status = app_parse_integer("--size", word, 1, TRANSFORM_SIDE_MAX, &job->n[job->dims++]);
        if (status < 0 || rest == NULL)
            return status;
    }
    warnx("--size: '%s' is not one to three numbers with x between, such as 256x256x256", text);
    return -1;
}

static int parse_options(struct transform_job *job, const char *text)
{
    size_t size = strlen(text) + 1;
    if (size > sizeof job->options) {
        warnx("--algorithm: '%s' is longer than %zu characters", text, sizeof job->options - 1);
        return -1;
    }
    memcpy(job->options, text, size);
    return 0;
}

static int fft_take_own(void *program, int key, const char *argument)
{
    struct fft_app *options = program;
    switch (key) {
    case 'S':
        return parse_size(&options->job, argument);
    case 'a':
        return parse_options(&options->job, argument);
    case 'R':
        return app_parse_int("--runs", argument, 1, TRANSFORM_RUNS_MAX, &options->job.runs);
    case OPTION_REAL:
        options->job.is_real = 1;
        return 0;
    default:
        return -1; /* there is none */
    }
}

static int fft_settle(struct fft_app *options)
{
    struct transform_job *job = &options->job;
    double numbers = 1;
    for (int i = 0; i < COVEY_FFT_DIMS_MAX; i++) {
        job->n[i] = i < job->dims ? job->n[i] : 1;
        numbers *= (double)job->n[i];
    }
    job->check = options->common.check;
    job->seed = options->common.seed;
    if (numbers <= 0x1p56)
        return 0;
    warnx("--size: %.3g numbers are more than 2^56", numbers);
    return -1;
}

static int fft_parse(int argc, char **argv, struct fft_app *options)
{
    static const struct option longs[] = {APP_LONG_OPTIONS,
                                          {"size", required_argument, NULL, 'S'},
                                          {"algorithm", required_argument, NULL, 'a'},
                                          {"runs", required_argument, NULL, 'R'},
                                          {"real", no_argument, NULL, OPTION_REAL},
                                          {NULL, 0, NULL, 0}};
    *options = (struct fft_app){.job = {.dims = COVEY_FFT_DIMS_MAX,
                                        .n = {SIDE_DEFAULT, SIDE_DEFAULT, SIDE_DEFAULT},
                                        .runs = RUNS_DEFAULT}};
    const struct app_syntax syntax = {help, APP_SHORT_OPTIONS "S:a:R:", longs, fft_take_own};
    return app_options_parse(&options->common, argc, argv, &syntax, options) == 0
               ? fft_settle(options)
               : -1;
}

/* ---- Results ----------------------------------------------------------------------------- */

static int fft_collect(struct crew *crew, void *context)
{
    struct fft *fft = context;
    return crew_collect_solution(crew, &fft->solution);
}

static bool passed(const struct fft *fft)
{
    const struct transform_job *job = &fft->options->job;
    double numbers = (double)job->n[0] * (double)job->n[1] * (double)job->n[2];
    double allowed = 1e-15 * fmax(1, log2(numbers));
    return fft->solution.figures[TRANSFORM_ERROR] <= allowed &&
           fft->solution.figures[TRANSFORM_ERROR_BACK] <= 2 * allowed;
}

/* "256 x 256 x 256" */
static void print_size(const struct transform_job *job, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < job->dims && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i > 0 ? " x " : "",
                                 (long long)job->n[i]);
}

static json_t *parameters_of(const struct fft *fft, double gflops)
{
    const struct transform_job *job = &fft->options->job;
    const double *f = fft->solution.figures;
    json_t *size = json_array();
    for (int i = 0; i < job->dims; i++)
        json_array_append_new(size, json_integer(job->n[i]));
    json_t *object = json_pack(
        "{s:o, s:b, s:i, s:s, s:s, s:f, s:f, s:f}", "size", size, "real", job->is_real, "runs",
        job->runs, "options", job->options, "algorithm", fft->solution.algorithm, "forward_s",
        f[TRANSFORM_FORWARD_S], "back_s", f[TRANSFORM_BACK_S], "gflops", gflops);
    if (job->check)
        json_object_update_new(object, json_pack("{s:f, s:f}", "error", f[TRANSFORM_ERROR],
                                                 "error_back", f[TRANSFORM_ERROR_BACK]));
    return object;
}

static void print_figures(const struct fft *fft, double gflops)
{
    const double *f = fft->solution.figures;
    printf("a transform: forward %.3f ms, back %.3f ms, %.2f GFlop/s\n",
           1e3 * f[TRANSFORM_FORWARD_S], 1e3 * f[TRANSFORM_BACK_S], gflops);
    if (fft->options->job.check)
        printf("error: forward %.2g, forth and back %.2g\n", f[TRANSFORM_ERROR],
               f[TRANSFORM_ERROR_BACK]);
}

static int fft_report(void *context, const struct coordinator_result *result)
{
    const struct fft *fft = context;
    const struct fft_app *options = fft->options;
    const struct transform_job *job = &options->job;
    struct coordinator_result of_runs = *result;
    char size[96], problem[320];
    of_runs.run.total_s = fft->solution.figures[TRANSFORM_TOTAL_S];
    double flops = 2.0 * job->runs * transform_flops(job);
    double gflops = of_runs.run.total_s > 0 ? 1e-9 * flops / of_runs.run.total_s : 0;
    print_size(job, size, sizeof size);
    snprintf(problem, sizeof problem, "%s %s numbers, %d times forward and back, by %s", size,
             job->is_real ? "real" : "complex", job->runs, fft->solution.algorithm);
    json_t *parameters = parameters_of(fft, gflops);
    struct report report = {.program = "fft",
                            .problem = problem,
                            .parameters = parameters,
                            .passed = passed(fft),
                            .check_method = "both ways are what is known of a wave and a point"};
    if (options->common.explain)
        fputs(fft->solution.table, stderr);
    int status = coordinator_report(&options->common, &of_runs, &report);
    if (!options->common.json)
        print_figures(fft, gflops);
    json_decref(parameters);
    return status;
}

static int fft_coordinate(const void *program_options)
{
    const struct fft_app *options = program_options;
    struct fft fft = {.options = options};
    const struct coordinator_program program = {.context = &fft,
                                                .title = "transforming",
                                                .pack_job = transform_pack,
                                                .job = &options->job,
                                                .collect = fft_collect,
                                                .report = fft_report};
    return coordinator_main(&options->common, &program);
}

int main(int argc, char **argv)
{
    static const struct app_roles roles = {transform_kernel, transform_worker, fft_coordinate};
    struct fft_app options;
    int parsed = fft_parse(argc, argv, &options);
    return app_run(parsed, &options.common, &roles, &options);
}
