/*
 * system.c - the tasks of linpack. Each number of the matrix is made of a seed and its place, so
 * that each task makes its piece, and makes it again when it judges the solution: by a product that
 * knows nothing of the factors.
 */
#include "apps/linpack/system.h"

#include "apps/crew.h"
#include "apps/figures.h"
#include "apps/kernel.h"
#include "apps/worker.h"
#include "lib/domain/covey_domain.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMEOUT_US 60000000 /* until all tasks are a team */
#define KERNEL_N 512

struct system {
    struct system_job job;
    covey_team_t *team;
    covey_dense_t *plan;
    struct covey_dense_part part, right; /* of the matrix, and of the right side */
    double *a, *b;                       /* the pieces; b becomes the solution */
    int64_t *pivots;
    struct crew_solution solution;
};

/* ---- The job --------------------------------------------------------------------------------- */

int system_pack(covey_msg_t *msg, const void *context)
{
    const struct system_job *job = context;
    const int64_t words[] = {job->n, (int64_t)job->seed};
    int error = covey_pack_int64(msg, words, 2, 1);
    return error < 0 ? error : covey_pack_string(msg, job->options);
}

static int system_unpack(covey_msg_t *msg, struct system_job *job)
{
    int64_t words[2];
    int error = covey_unpack_int64(msg, words, 2, 1);
    if (error >= 0)
        error = covey_unpack_string(msg, job->options, sizeof job->options);
    if (error < 0)
        return error;
    if (words[0] < 1 || words[0] > SYSTEM_N_MAX)
        return COVEY_EPROTO;
    job->n = words[0];
    job->seed = (uint64_t)words[1];
    return 0;
}

/* ---- The equations --------------------------------------------------------------------------- */

/* Element (i, j) of the matrix, or of the right side for j = n: between -0.5 and 0.5, as HPL's. */
static double number(const struct system_job *job, int64_t i, int64_t j)
{
    uint64_t s = (uint64_t)(j * job->n + i + 1) + job->seed * 0x51ed27u;
    s *= 0x9e3779b97f4a7c15u;
    s = (s ^ s >> 30) * 0xbf58476d1ce4e5b9u;
    s = (s ^ s >> 27) * 0x94d049bb133111ebu;
    return (double)((s ^ s >> 31) >> 11) * 0x1p-53 - 0.5;
}

/* Which row, or column, of the whole matrix a local one is: `place` in a grid of so many. */
static int64_t whole_of(const struct covey_dense_part *part, int64_t local, int place, int of)
{
    return (local / part->block * of + place) * part->block + local % part->block;
}

static int64_t row_of(const struct covey_dense_part *part, int64_t local)
{
    return whole_of(part, local, part->row, part->rows);
}

static int64_t column_of(const struct covey_dense_part *part, int64_t local)
{
    return whole_of(part, local, part->column, part->columns);
}

static void fill(struct system *system)
{
    const struct covey_dense_part *a = &system->part, *b = &system->right;
    for (int64_t j = 0; j < a->local_n; j++)
        for (int64_t i = 0; i < a->local_m; i++)
            system->a[j * a->ld + i] = number(&system->job, row_of(a, i), column_of(a, j));
    for (int64_t i = 0; i < b->local_n * b->local_m; i++)
        system->b[i] = number(&system->job, row_of(b, i), system->job.n);
}

/* ---- The solution ---------------------------------------------------------------------------- */

/* Sets the sums of rows: of A x, and of the absolute values of A. */
static void sum_rows(const struct system *system, const double *x, double *sums)
{
    const struct covey_dense_part *a = &system->part;
    int64_t n = system->job.n;
    for (int64_t j = 0; j < a->local_n; j++) {
        double factor = x[column_of(a, j)];
        for (int64_t i = 0; i < a->local_m; i++) {
            int64_t row = row_of(a, i);
            double element = number(&system->job, row, column_of(a, j));
            sums[row] += element * factor;
            sums[n + row] += fabs(element);
        }
    }
}

/* NaN where something of the solution is no number. */
static double residual(const struct system_job *job, const double *x, const double *sums)
{
    double off = 0, a = 0, largest = 0, b = 0;
    for (int64_t i = 0; i < job->n; i++) {
        double right = number(job, i, job->n);
        if (isnan(sums[i]))
            return NAN;
        off = fmax(off, fabs(sums[i] - right));
        a = fmax(a, sums[job->n + i]);
        largest = fmax(largest, fabs(x[i]));
        b = fmax(b, fabs(right));
    }
    return off / (DBL_EPSILON * (a * largest + b) * (double)job->n);
}

/* All tasks have the whole x, and the sums of all. */
static int judge(struct system *system, double *x, double *sums, double *all)
{
    size_t n = (size_t)system->job.n;
    int error = covey_dense_gather(system->plan, COVEY_DENSE_B, system->b, system->right.ld, x,
                                   system->job.n);
    if (error == 0)
        error = covey_bcast(system->team, 0, COVEY_DOUBLE, x, n);
    if (error < 0)
        return error;
    sum_rows(system, x, sums);
    error = covey_allreduce(system->team, COVEY_OP_SUM, COVEY_DOUBLE, sums, all, 2 * n);
    if (error == 0)
        system->solution.figures[SYSTEM_RESIDUAL] = residual(&system->job, x, all);
    return error;
}

/* ---- The task -------------------------------------------------------------------------------- */

/* An error of the solvers has its own text. */
static int told(struct worker *worker, int error)
{
    if (error < 0)
        worker->cause = covey_domain_error_text();
    return error;
}

static int make_plan(struct system *system, const char *options)
{
    const struct covey_dense_problem problem = {
        .op = COVEY_DENSE_LU, .type = COVEY_DOUBLE, .m = system->job.n, .n = system->job.n, .r = 1};
    int error = covey_dense_plan(system->team, &problem, options, NULL, &system->plan);
    if (error == 0)
        error = covey_dense_local(system->plan, COVEY_DENSE_A, &system->part);
    if (error == 0)
        error = covey_dense_local(system->plan, COVEY_DENSE_B, &system->right);
    return error;
}

static int system_prepare(void *state, struct worker *worker, covey_msg_t *job)
{
    struct system *system = state;
    int error = system_unpack(job, &system->job);
    worker->doing = "making a team";
    if (error >= 0)
        error =
            covey_team_create(worker->vm, worker->tids, worker->count, TIMEOUT_US, &system->team);
    if (error < 0)
        return error;
    worker->doing = "planning";
    /* a task alone has no grid that could be forced: it is compared with by what is best for one */
    error = told(worker, make_plan(system, worker->sequential ? "" : system->job.options));
    if (error < 0)
        return error;
    system->a = malloc((system->part.count + 1) * sizeof *system->a);
    system->b = malloc((system->right.count + 1) * sizeof *system->b);
    system->pivots = malloc((size_t)system->job.n * sizeof *system->pivots);
    worker->doing = "making the equations";
    if (system->a == NULL || system->b == NULL || system->pivots == NULL)
        return COVEY_ENOMEM;
    fill(system);
    return 0;
}

static double processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What this process's processors worked counts as computation, and what it waited does not. */
static int system_run(void *state, struct worker *worker)
{
    struct system *system = state;
    double begin = figures_clock(), used = processor_s();
    worker->doing = "factoring";
    int status = covey_dense_lu(system->plan, system->a, system->part.ld, system->pivots);
    system->solution.figures[SYSTEM_FACTOR_SECONDS] = figures_clock() - begin;
    worker->doing = "solving";
    if (status == 0)
        status = covey_dense_lu_solve(system->plan, system->a, system->part.ld, system->pivots,
                                      system->b, system->right.ld);
    double elapsed = figures_clock() - begin;
    system->solution.figures[SYSTEM_SECONDS] = elapsed;
    worker->computation_s += fmin(processor_s() - used, elapsed);
    if (status <= 0)
        return told(worker, status);
    worker->cause = "the matrix is singular";
    return COVEY_EINVAL;
}

static int put_together(struct system *system)
{
    size_t n = (size_t)system->job.n;
    double most[2], *x = malloc(n * sizeof *x), *sums = calloc(4 * n, sizeof *sums);
    int error = x == NULL || sums == NULL ? COVEY_ENOMEM : 0;
    if (error == 0)
        error = covey_allreduce(system->team, COVEY_OP_MAX, COVEY_DOUBLE, system->solution.figures,
                                most, 2);
    if (error == 0) {
        memcpy(system->solution.figures, most, sizeof most);
        error = judge(system, x, sums, sums + 2 * n);
    }
    free(x);
    free(sums);
    return error;
}

static int system_send_result(void *state, struct worker *worker)
{
    struct system *system = state;
    struct crew_solution *solution = &system->solution;
    worker->doing = "judging the solution";
    int error = put_together(system);
    if (error < 0 || worker->rank != 0)
        return error;
    solution->figures[SYSTEM_BLOCK] = (double)system->part.block;
    solution->figures[SYSTEM_ROWS] = system->part.rows;
    solution->figures[SYSTEM_COLUMNS] = system->part.columns;
    covey_dense_explain(system->plan, solution->table, sizeof solution->table);
    snprintf(solution->algorithm, sizeof solution->algorithm, "%s",
             covey_dense_algorithm(system->plan));
    return worker_send_solution(worker, solution);
}

static void system_finish(void *state)
{
    struct system *system = state;
    covey_dense_free(&system->plan);
    covey_team_free(&system->team);
    free(system->a);
    free(system->b);
    free(system->pivots);
    free(system);
}

int system_worker(void)
{
    static const struct worker_program program = {.prepare = system_prepare,
                                                  .run = system_run,
                                                  .run_alone = system_run,
                                                  .send_result = system_send_result,
                                                  .finish = system_finish};
    struct system *system = calloc(1, sizeof *system);
    return system == NULL ? EXIT_FAILURE : worker_run(&program, system);
}

/* ---- The arithmetic alone -------------------------------------------------------------------- */

/* A rank-1 update of a matrix, as elimination without blocks is made of. */
static void update(void *context)
{
    double *a = context, *x = a + KERNEL_N * KERNEL_N, *y = x + KERNEL_N;
    for (int j = 0; j < KERNEL_N; j++)
        for (int i = 0; i < KERNEL_N; i++)
            a[j * KERNEL_N + i] -= x[i] * y[j];
}

int system_kernel(void)
{
    struct kernel kernel;
    double *arrays = calloc((size_t)KERNEL_N * (KERNEL_N + 2), sizeof *arrays);
    if (arrays == NULL) {
        fprintf(stderr, "linpack: out of memory\n");
        return EXIT_FAILURE;
    }
    kernel_begin(&kernel);
    kernel_time("linpack", 0, (double)KERNEL_N * KERNEL_N, NULL, update, arrays);
    free(arrays);
    return kernel_end(&kernel);
}
