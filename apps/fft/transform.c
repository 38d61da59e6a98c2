/*
 * transform.c - the tasks of fft: a team that plans a transform forward and one back, and executes
 * both again and again. Alone, FFTW does the same on the whole array.
 */
#include "apps/fft/transform.h"

#include "apps/crew.h"
#include "apps/fft/waves.h"
#include "apps/figures.h"
#include "apps/kernel.h"
#include "apps/worker.h"

#include <err.h>
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_US 60000000 /* until all tasks are a team */
#define WORDS 4

enum way { FORWARD, BACK, WAYS };

struct transform {
    struct transform_job job;
    struct worker *worker;
    covey_team_t *team;
    covey_fft_t *plans[WAYS];
    struct covey_fft_part parts[WAYS]; /* before the way forward, and before that back */
    double *arrays[WAYS + 1];          /* the array, its spectrum, and what comes back */
    fftw_plan alone[WAYS];
    struct crew_solution solution;
};

/* ---- the job --------------------------------------------------------------------------------- */

int transform_pack(covey_msg_t *msg, const void *context)
{
    const struct transform_job *job = context;
    const int32_t words[WORDS] = {job->dims, job->is_real, job->runs, job->check};
    int error = covey_pack_int32(msg, words, WORDS, 1);
    if (error >= 0)
        error = covey_pack_uint64(msg, &job->seed, 1, 1);
    if (error >= 0)
        error = covey_pack_int64(msg, job->n, COVEY_FFT_DIMS_MAX, 1);
    return error < 0 ? error : covey_pack_string(msg, job->options);
}

static int transform_unpack(covey_msg_t *msg, struct transform_job *job)
{
    int32_t words[WORDS];
    int error = covey_unpack_int32(msg, words, WORDS, 1);
    if (error >= 0)
        error = covey_unpack_uint64(msg, &job->seed, 1, 1);
    if (error >= 0)
        error = covey_unpack_int64(msg, job->n, COVEY_FFT_DIMS_MAX, 1);
    if (error >= 0)
        error = covey_unpack_string(msg, job->options, sizeof job->options);
    if (error < 0)
        return error;
    job->dims = words[0];
    job->is_real = words[1];
    job->runs = words[2];
    job->check = words[3];
    bool sane = job->dims >= 1 && job->dims <= COVEY_FFT_DIMS_MAX && job->runs >= 1 &&
                job->runs <= TRANSFORM_RUNS_MAX;
    for (int i = 0; i < COVEY_FFT_DIMS_MAX; i++)
        sane = sane && job->n[i] >= 1 && job->n[i] <= TRANSFORM_SIDE_MAX;
    return sane ? 0 : COVEY_EPROTO;
}

static double count(const struct transform_job *job)
{
    return (double)job->n[0] * (double)job->n[1] * (double)job->n[2];
}

double transform_flops(const struct transform_job *job)
{
    return (job->is_real ? 2.5 : 5) * count(job) * log2(count(job));
}

/* ---- what is there before the clock starts -----------------------------------------------------
 */

static struct waves waves_of(const struct transform_job *job)
{
    struct waves waves = {.dims = job->dims, .is_real = job->is_real};
    memcpy(waves.n, job->n, sizeof waves.n);
    waves_choose(&waves, job->seed);
    return waves;
}

static size_t doubles_of(const struct covey_fft_part *part)
{
    return part->count * (part->is_real ? 1 : 2);
}

static int make_arrays(struct transform *t)
{
    const struct waves waves = waves_of(&t->job);
    for (int i = 0; i <= WAYS; i++) {
        size_t doubles = doubles_of(&t->parts[i % WAYS]);
        t->arrays[i] = fftw_malloc((doubles + 1) * sizeof(double));
        if (t->arrays[i] == NULL)
            return COVEY_ENOMEM;
        memset(t->arrays[i], 0, (doubles + 1) * sizeof(double));
    }
    return waves_fill(&waves, &t->parts[FORWARD], t->arrays[0]);
}

/* All tasks have the same error, for which the library of solvers has the words: one says it. */
static int planning_failed(struct worker *worker, int error)
{
    worker->cause = covey_domain_error_text();
    return worker->rank == 0 ? error : COVEY_ENOTASK;
}

static int make_plans(struct transform *t)
{
    const int kinds[2][WAYS] = {{COVEY_FFT_FORWARD, COVEY_FFT_BACKWARD},
                                {COVEY_FFT_REAL, COVEY_FFT_REAL_BACK}};
    char options[TRANSFORM_OPTIONS + 32];
    int error = 0;
    t->worker->doing = "planning the transform";
    for (int way = 0; error == 0 && way < WAYS; way++) { /* back by the same algorithm */
        snprintf(options, sizeof options, "%s%s%s", t->job.options,
                 way == FORWARD              ? ""
                 : t->job.options[0] != '\0' ? ",fft="
                                             : "fft=",
                 way == BACK ? covey_fft_algorithm(t->plans[FORWARD]) : "");
        error = covey_fft_plan(t->team, t->job.dims, t->job.n, kinds[t->job.is_real != 0][way],
                               options, &t->plans[way]);
        if (error == 0)
            error = covey_fft_local(t->plans[way], COVEY_FFT_IN, &t->parts[way]);
    }
    return error < 0 ? planning_failed(t->worker, error) : 0;
}

/* The whole array as one part, whose last axis is halved where numbers were real. */
static struct covey_fft_part whole_part(const struct transform_job *job, int is_spectral)
{
    struct covey_fft_part part = {.dims = job->dims, .is_real = job->is_real && !is_spectral};
    memcpy(part.n, job->n, sizeof part.n);
    if (job->is_real && is_spectral)
        part.n[job->dims - 1] = part.n[job->dims - 1] / 2 + 1;
    memcpy(part.size, part.n, sizeof part.size);
    part.stride[2] = 1;
    part.stride[1] = part.size[2];
    part.stride[0] = part.size[1] * part.size[2];
    part.count = (size_t)(part.size[0] * part.stride[0]);
    return part;
}

static int make_alone(struct transform *t)
{
    const struct transform_job *job = &t->job;
    double *const *a = t->arrays;
    int n[COVEY_FFT_DIMS_MAX] = {(int)job->n[0], (int)job->n[1], (int)job->n[2]};
    t->parts[FORWARD] = whole_part(job, 0);
    t->parts[BACK] = whole_part(job, 1);
    int error = make_arrays(t);
    if (error < 0)
        return error;
    unsigned flags = FFTW_MEASURE | FFTW_PRESERVE_INPUT;
    if (!job->is_real) {
        t->alone[FORWARD] = fftw_plan_dft(job->dims, n, (fftw_complex *)a[0], (fftw_complex *)a[1],
                                          FFTW_FORWARD, flags);
        t->alone[BACK] = fftw_plan_dft(job->dims, n, (fftw_complex *)a[1], (fftw_complex *)a[2],
                                       FFTW_BACKWARD, flags);
    } else { /* whose spectrum is made anew each time: it need not be kept */
        t->alone[FORWARD] = fftw_plan_dft_r2c(job->dims, n, a[0], (fftw_complex *)a[1], flags);
        t->alone[BACK] = fftw_plan_dft_c2r(job->dims, n, (fftw_complex *)a[1], a[2], FFTW_MEASURE);
    }
    return t->alone[FORWARD] != NULL && t->alone[BACK] != NULL ? 0 : COVEY_ENOMEM;
}

static int transform_prepare(void *state, struct worker *worker, covey_msg_t *msg)
{
    struct transform *t = state;
    t->worker = worker;
    int error = transform_unpack(msg, &t->job);
    if (error < 0)
        return error;
    if (worker->sequential)
        return make_alone(t);
    worker->doing = "making a team";
    error = covey_team_create(worker->vm, worker->tids, worker->count, TIMEOUT_US, &t->team);
    if (error >= 0)
        error = make_plans(t);
    if (error < 0)
        return error;
    worker->doing = "making its part";
    error = make_arrays(t);
    for (int way = 0; error == 0 && way < WAYS; way++) /* links and pages are there before */
        error = covey_fft_execute(t->plans[way], t->arrays[way], t->arrays[way + 1]);
    return error;
}

/* ---- the timed part -------------------------------------------------------------------------- */

/* What is neither sent nor waited for is computed. */
static void count_computation(struct worker *worker, const struct covey_timing *before,
                              double elapsed_s)
{
    struct covey_timing after;
    covey_timing(worker->vm, &after);
    double others_s =
        after.communication_s - before->communication_s + after.idle_s - before->idle_s;
    worker->computation_s += elapsed_s > others_s ? elapsed_s - others_s : 0;
}

static int transform_run(void *state, struct worker *worker)
{
    struct transform *t = state;
    struct covey_timing before;
    double mine[WAYS + 1] = {0};
    worker->doing = "transforming";
    int error = covey_barrier(t->team);
    double begin = figures_clock();
    covey_timing(worker->vm, &before);
    for (int r = 0; error == 0 && r < t->job.runs; r++)
        for (int way = 0; error == 0 && way < WAYS; way++) {
            double way_begin = figures_clock();
            error = covey_fft_execute(t->plans[way], t->arrays[way], t->arrays[way + 1]);
            mine[TRANSFORM_FORWARD_S + way] += (figures_clock() - way_begin) / t->job.runs;
            worker_progress(worker, (r + 0.5 * (way + 1)) / t->job.runs);
        }
    mine[TRANSFORM_TOTAL_S] = figures_clock() - begin;
    count_computation(worker, &before, mine[TRANSFORM_TOTAL_S]);
    return error < 0 ? error
                     : covey_reduce(t->team, 0, COVEY_OP_MAX, COVEY_DOUBLE, mine,
                                    t->solution.figures, WAYS + 1);
}

static int transform_run_alone(void *state, struct worker *worker)
{
    struct transform *t = state;
    double begin = worker_compute_begin();
    for (int r = 0; r < t->job.runs; r++)
        for (int way = 0; way < WAYS; way++)
            fftw_execute(t->alone[way]);
    worker_compute_end(worker, begin);
    return 0;
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* What came back is the array times its number of elements. */
static int find_errors(struct transform *t)
{
    const struct waves waves = waves_of(&t->job);
    double mine[4] = {0}, all[4];
    int error = waves_compare(&waves, &t->parts[BACK], 1, 1, t->arrays[1], mine);
    if (error == 0)
        error =
            waves_compare(&waves, &t->parts[FORWARD], 0, count(&t->job), t->arrays[2], mine + 2);
    if (error == 0)
        error = covey_reduce(t->team, 0, COVEY_OP_SUM, COVEY_DOUBLE, mine, all, 4);
    if (error < 0 || t->worker->rank > 0)
        return error;
    t->solution.figures[TRANSFORM_ERROR] = sqrt(all[0] / all[1]);
    t->solution.figures[TRANSFORM_ERROR_BACK] = sqrt(all[2] / all[3]);
    return 0;
}

static int transform_send_result(void *state, struct worker *worker)
{
    struct transform *t = state;
    int error = t->job.check ? find_errors(t) : 0;
    if (error < 0 || worker->rank > 0)
        return error;
    snprintf(t->solution.algorithm, sizeof t->solution.algorithm, "%s",
             covey_fft_algorithm(t->plans[FORWARD]));
    covey_fft_explain(t->plans[FORWARD], t->solution.table, sizeof t->solution.table);
    return worker_send_solution(worker, &t->solution);
}

static void transform_finish(void *state)
{
    struct transform *t = state;
    for (int way = 0; way < WAYS; way++) {
        covey_fft_free(&t->plans[way]);
        if (t->alone[way] != NULL)
            fftw_destroy_plan(t->alone[way]);
    }
    for (int i = 0; i <= WAYS; i++)
        fftw_free(t->arrays[i]);
    covey_team_free(&t->team);
}

int transform_worker(void)
{
    static const struct worker_program program = {.prepare = transform_prepare,
                                                  .run = transform_run,
                                                  .run_alone = transform_run_alone,
                                                  .send_result = transform_send_result,
                                                  .finish = transform_finish};
    struct transform state = {.worker = NULL};
    return worker_run(&program, &state);
}

/* ---- speed ----------------------------------------------------------------------------------- */

static void execute(void *context)
{
    fftw_execute(*(fftw_plan *)context);
}

int transform_kernel(void)
{
    enum { SIDE = 64 };
    const struct transform_job job = {.dims = 3, .n = {SIDE, SIDE, SIDE}};
    size_t numbers = (size_t)SIDE * SIDE * SIDE;
    fftw_complex *in = fftw_malloc(numbers * sizeof *in), *out = fftw_malloc(numbers * sizeof *out);
    fftw_plan plan = NULL;
    struct kernel kernel;
    if (in != NULL && out != NULL)
        plan = fftw_plan_dft_3d(SIDE, SIDE, SIDE, in, out, FFTW_FORWARD, FFTW_MEASURE);
    if (plan == NULL) {
        warnx("out of memory for the array");
    } else {
        memset(in, 0, numbers * sizeof *in);
        kernel_begin(&kernel);
        kernel_time("fft", SIDE, transform_flops(&job), NULL, execute, &plan);
        fftw_destroy_plan(plan);
    }
    fftw_free(in);
    fftw_free(out);
    return plan != NULL ? kernel_end(&kernel) : EXIT_FAILURE;
}
