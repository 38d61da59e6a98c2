/*
 * field.c - the tasks of poisson. The solution is random numbers, made of a seed and the place of a
 * cell, so that each task knows it everywhere; the right side is the matrix times it. What is found
 * is judged without the library: by the matrix, which is applied here again, and by the distance
 * from the solution, which cannot be larger than the residual over the least eigenvalue.
 */
#include "apps/poisson/field.h"

#include "apps/crew.h"
#include "apps/kernel.h"
#include "apps/worker.h"
#include "lib/domain/covey_domain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_US 60000000 /* until all tasks are a team */
#define KERNEL_CELLS ((int64_t)1 << 20)

struct field {
    struct field_job job;
    struct worker *worker;
    covey_team_t *team;
    covey_poisson_t *plan;
    struct covey_grid_part part;
    double *f, *u;
    double mean; /* of the solution, where constants are no matter */
    struct crew_solution solution;
};

/* ---- The job --------------------------------------------------------------------------------- */

int field_pack(covey_msg_t *msg, const void *context)
{
    const struct field_job *job = context;
    const int64_t words[] = {job->dims, job->border, job->n, (int64_t)job->seed};
    int error = covey_pack_int64(msg, words, 4, 1);
    if (error >= 0)
        error = covey_pack_double(msg, &job->tolerance, 1, 1);
    return error < 0 ? error : covey_pack_string(msg, job->options);
}

static int field_unpack(covey_msg_t *msg, struct field_job *job)
{
    int64_t words[4];
    int error = covey_unpack_int64(msg, words, 4, 1);
    if (error >= 0)
        error = covey_unpack_double(msg, &job->tolerance, 1, 1);
    if (error >= 0)
        error = covey_unpack_string(msg, job->options, sizeof job->options);
    if (error < 0)
        return error;
    if (words[0] < 2 || words[0] > 3 || words[2] < 1 || words[2] > FIELD_N_MAX)
        return COVEY_EPROTO;
    job->dims = (int32_t)words[0];
    job->border = (int32_t)words[1];
    job->n = words[2];
    job->seed = (uint64_t)words[3];
    return 0;
}

/* ---- The solution ---------------------------------------------------------------------------- */

/* Between 0 and 1. */
static double solution(const struct field_job *job, const int64_t at[3])
{
    uint64_t s = (uint64_t)((at[0] * job->n + at[1]) * job->n + at[2] + 1) + job->seed * 0x51ed27u;
    s *= 0x9e3779b97f4a7c15u;
    s = (s ^ s >> 30) * 0xbf58476d1ce4e5b9u;
    s = (s ^ s >> 27) * 0x94d049bb133111ebu;
    return (double)((s ^ s >> 31) >> 11) * 0x1p-53;
}

/* The next cell of the part; its place in the whole grid. */
static int next_cell(const struct field *field, int64_t at[3])
{
    for (int d = field->part.dims - 1; d >= 0; d--) {
        if (++at[d] < field->part.offset[d] + field->part.size[d])
            return 1;
        at[d] = field->part.offset[d];
    }
    return 0;
}

static void first_cell(const struct field *field, int64_t at[3])
{
    at[2] = 0;
    for (int d = 0; d < field->part.dims; d++)
        at[d] = field->part.offset[d];
}

static int64_t place_of(const struct field *field, const int64_t at[3])
{
    int64_t place = field->part.start;
    for (int d = 0; d < field->part.dims; d++)
        place += (at[d] - field->part.offset[d]) * field->part.stride[d];
    return place;
}

/* Of the cell beside this one, of which `inner` is the value: a ghost, or another cell. */
static double beside(const struct field_job *job, const int64_t at[3], int d, int step,
                     double inner)
{
    int64_t next[3] = {at[0], at[1], at[2]};
    next[d] += step;
    if (next[d] >= 0 && next[d] < job->n)
        return solution(job, next);
    if (job->border != COVEY_BORDER_PERIODIC)
        return job->border == COVEY_BORDER_VALUE ? -inner : inner;
    next[d] = (next[d] + job->n) % job->n;
    return solution(job, next);
}

static void fill(struct field *field)
{
    const struct field_job *job = &field->job;
    double k = (double)job->n * (double)job->n;
    int64_t at[3];
    first_cell(field, at);
    if (field->part.count > 0)
        do {
            double inner = solution(job, at), value = 0;
            for (int d = 0; d < job->dims; d++)
                value +=
                    k * (2 * inner - beside(job, at, d, -1, inner) - beside(job, at, d, 1, inner));
            field->f[place_of(field, at)] = value;
            field->mean += inner;
        } while (next_cell(field, at));
}

/* ---- What was found -------------------------------------------------------------------------- */

/* What is beside a cell of u, whose halo is filled but for ghosts. */
static double found_beside(const struct field *field, const int64_t at[3], int d, int step)
{
    int64_t place = place_of(field, at), next = at[d] + step;
    int is_border = next < 0 || next >= field->job.n;
    if (!is_border || field->job.border == COVEY_BORDER_PERIODIC)
        return field->u[place + step * field->part.stride[d]];
    return field->job.border == COVEY_BORDER_VALUE ? -field->u[place] : field->u[place];
}

static double least_eigenvalue(const struct field_job *job)
{
    double n = (double)job->n, k = 4 * n * n, border = sin(M_PI / (2 * n)), ring = sin(M_PI / n);
    if (job->border == COVEY_BORDER_VALUE)
        return job->dims * k * border * border;
    double wave = job->border == COVEY_BORDER_SLOPE ? border : ring;
    return job->n > 1 ? k * wave * wave : k;
}

/* Squares of this task's residual, f and error; the sums of all tasks go to the figures. */
static int judge(struct field *field)
{
    double k = (double)field->job.n * (double)field->job.n, mine[3] = {0, 0, 0}, all[3];
    double cells = pow((double)field->job.n, field->job.dims), mean = 0;
    int64_t at[3];
    int error = covey_grid_exchange(covey_poisson_grid(field->plan), field->u);
    if (error == 0)
        error = covey_allreduce(field->team, COVEY_OP_SUM, COVEY_DOUBLE, &field->mean, &mean, 1);
    if (error < 0)
        return error;
    mean = field->job.border == COVEY_BORDER_VALUE ? 0 : mean / cells;
    first_cell(field, at);
    if (field->part.count > 0)
        do {
            int64_t place = place_of(field, at);
            double rest = field->f[place];
            for (int d = 0; d < field->job.dims; d++)
                rest -= k * (2 * field->u[place] - found_beside(field, at, d, -1) -
                             found_beside(field, at, d, 1));
            double off = field->u[place] - (solution(&field->job, at) - mean);
            mine[0] += rest * rest;
            mine[1] += field->f[place] * field->f[place];
            mine[2] += off * off;
        } while (next_cell(field, at));
    error = covey_allreduce(field->team, COVEY_OP_SUM, COVEY_DOUBLE, mine, all, 3);
    double *f = field->solution.figures, norm = sqrt(all[1]);
    f[FIELD_TRUE_RESIDUAL] = norm > 0 ? sqrt(all[0]) / norm : 0;
    f[FIELD_ERROR] = sqrt(all[2]);
    f[FIELD_BOUND] = norm * field->job.tolerance / least_eigenvalue(&field->job);
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

static int make_plan(struct field *field)
{
    const struct field_job *job = &field->job;
    struct covey_poisson_problem problem = {.dims = job->dims};
    for (int d = 0; d < job->dims; d++) {
        problem.n[d] = job->n;
        problem.h[d] = 1 / (double)job->n;
        problem.low[d] = problem.high[d] = job->border;
    }
    int error = covey_poisson_plan(field->team, &problem, job->options, NULL, &field->plan);
    return error < 0 ? told(field->worker, error) : covey_poisson_local(field->plan, &field->part);
}

static int field_prepare(void *state, struct worker *worker, covey_msg_t *job)
{
    struct field *field = state;
    field->worker = worker;
    int error = field_unpack(job, &field->job);
    worker->doing = "making a team";
    if (error >= 0)
        error =
            covey_team_create(worker->vm, worker->tids, worker->count, TIMEOUT_US, &field->team);
    worker->doing = "planning";
    if (error >= 0)
        error = make_plan(field);
    if (error < 0)
        return error;
    field->f = covey_grid_field(covey_poisson_grid(field->plan));
    field->u = covey_grid_field(covey_poisson_grid(field->plan));
    if (field->f == NULL || field->u == NULL)
        return COVEY_ENOMEM;
    fill(field);
    return 0;
}

static int field_run(void *state, struct worker *worker)
{
    struct field *field = state;
    struct covey_poisson_report report;
    double *f = field->solution.figures;
    worker->doing = "solving";
    int error = covey_poisson_solve(field->plan, field->f, field->u, field->job.tolerance, &report);
    if (error < 0)
        return told(field->worker, error);
    worker->computation_s += report.seconds - report.exchange_s - report.reduce_s;
    f[FIELD_ITERATIONS] = report.iterations;
    f[FIELD_CONVERGED] = report.converged;
    f[FIELD_RESIDUAL] = report.residual;
    f[FIELD_SECONDS] = report.seconds;
    f[FIELD_EXCHANGE_S] = report.exchange_s;
    f[FIELD_REDUCE_S] = report.reduce_s;
    return 0;
}

static int put_together(struct field *field)
{
    double mine[3] = {field->solution.figures[FIELD_EXCHANGE_S],
                      field->solution.figures[FIELD_REDUCE_S], 1},
           all[3];
    double most;
    int error = covey_allreduce(field->team, COVEY_OP_SUM, COVEY_DOUBLE, mine, all, 3);
    if (error == 0)
        error = covey_allreduce(field->team, COVEY_OP_MAX, COVEY_DOUBLE,
                                &field->solution.figures[FIELD_SECONDS], &most, 1);
    if (error < 0)
        return error;
    field->solution.figures[FIELD_SECONDS] = most;
    field->solution.figures[FIELD_EXCHANGE_S] = all[0] / all[2];
    field->solution.figures[FIELD_REDUCE_S] = all[1] / all[2];
    return judge(field);
}

static int field_send_result(void *state, struct worker *worker)
{
    struct field *field = state;
    struct crew_solution *solution = &field->solution;
    worker->doing = "judging what was found";
    int error = put_together(field);
    if (error < 0 || worker->rank != 0)
        return error;
    covey_poisson_explain(field->plan, solution->table, sizeof solution->table);
    snprintf(solution->algorithm, sizeof solution->algorithm, "%s",
             covey_poisson_algorithm(field->plan));
    return worker_send_solution(worker, solution);
}

static void field_finish(void *state)
{
    struct field *field = state;
    covey_poisson_free(&field->plan);
    covey_team_free(&field->team);
    free(field->f);
    free(field->u);
    free(field);
}

int field_worker(void)
{
    static const struct worker_program program = {.prepare = field_prepare,
                                                  .run = field_run,
                                                  .run_alone = field_run,
                                                  .send_result = field_send_result,
                                                  .finish = field_finish};
    struct field *field = calloc(1, sizeof *field);
    return field == NULL ? EXIT_FAILURE : worker_run(&program, field);
}

/* ---- The arithmetic alone -------------------------------------------------------------------- */

/* A pass: a sum of neighbours over arrays that no cache holds, as the sweeps of all methods. */
static void pass(void *context)
{
    double *array = context, *to = array + KERNEL_CELLS;
    const int64_t row = 128, plane = row * row;
    for (int64_t i = plane; i < KERNEL_CELLS - plane; i++)
        to[i] = 6 * array[i] - array[i - 1] - array[i + 1] - array[i - row] - array[i + row] -
                array[i - plane] - array[i + plane];
}

int field_kernel(void)
{
    struct kernel kernel;
    double *arrays = calloc(2 * (size_t)KERNEL_CELLS, sizeof *arrays);
    if (arrays == NULL) {
        fprintf(stderr, "poisson: out of memory\n");
        return EXIT_FAILURE;
    }
    kernel_begin(&kernel);
    kernel_time("poisson", 0, (double)KERNEL_CELLS, NULL, pass, arrays);
    free(arrays);
    return kernel_end(&kernel);
}
