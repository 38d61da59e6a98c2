/*
 * solver.c - a method with what it needs, on one division of the grid.
 */
#include "lib/domain/poisson/solver.h"

#include "lib/domain/base/clock.h"

#include <math.h>
#include <stdlib.h>

#define TAG_FINEST 0x01c0

/* ---- What methods share ---------------------------------------------------------------------- */

int solver_sums(struct solver *solver, const struct sum *mine, int count, double *all)
{
    double begin = domain_now_s();
    int error = sum_all(solver->team, mine, count, all);
    solver->reduce_s += domain_now_s() - begin;
    return error;
}

int solver_norm(struct solver *solver, const double *b, double *x, double *r, double *norm)
{
    int error = level_residual(&solver->level, x, b, r);
    if (error < 0)
        return error;
    struct sum mine = sum_field(&solver->level.kernel.field, r, r);
    error = solver_sums(solver, &mine, 1, norm);
    *norm = sqrt(*norm);
    return error;
}

int solver_begin(struct solver *solver, struct task *task, double *r)
{
    if (!task->is_zero)
        return solver_norm(solver, task->b, task->x, r, &task->norm);
    kernel_copy(&solver->level.kernel, task->b, r);
    return 0;
}

double solver_exchange_s(const struct solver *solver)
{
    return solver->level.halo.seconds + multigrid_exchange_s(solver->multigrid) +
           direct_exchange_s(solver->direct);
}

/* ---- Multigrid and the direct method --------------------------------------------------------- */

enum { REST, CHANGE }; /* vectors */

/* The residual's solution, nearly or but for rounding, is added. */
int richardson_run(struct solver *solver, struct task *task)
{
    double **v = solver->vectors;
    int is_direct = solver->settings.method == METHOD_FFT;
    int error = solver_begin(solver, task, v[REST]);
    while (error == 0 && isfinite(task->norm) && task->norm > task->goal &&
           task->iterations < task->most) {
        error = is_direct ? direct_apply(solver, v[REST], v[CHANGE])
                          : multigrid_cycle(solver, v[REST], v[CHANGE]);
        if (error < 0)
            break;
        kernel_axpy(&solver->level.kernel, 1, v[CHANGE], task->x);
        error = solver_norm(solver, task->b, task->x, v[REST], &task->norm);
        task->iterations++;
    }
    return error;
}

int solver_direct(struct solver *solver, const double *b, double *x, struct sum *rest)
{
    double *r = solver->vectors[REST];
    int error = direct_apply(solver, b, x);
    if (error == 0)
        error = level_residual(&solver->level, x, b, r);
    if (error == 0)
        *rest = sum_field(&solver->level.kernel.field, r, r);
    return error;
}

/* ---- Making one ------------------------------------------------------------------------------ */

static const struct {
    method_fn *run;
    int vectors;
} methods[METHODS] = {
    [METHOD_JACOBI] = {relax_jacobi, 2},        [METHOD_SOR] = {relax_sor, 1},
    [METHOD_CHEBYSHEV] = {relax_chebyshev, 2},  [METHOD_CG] = {gradient_run, 5},
    [METHOD_PIPECG] = {gradient_pipelined, 10}, [METHOD_MG] = {richardson_run, 2},
    [METHOD_MG_CG] = {gradient_run, 5},         [METHOD_FFT] = {richardson_run, 2},
};

static int make_memory(struct solver *s)
{
    size_t members = s->team == NULL ? 1 : (size_t)covey_team_size(s->team);
    for (int i = 0; i < methods[s->settings.method].vectors; i++) {
        s->vectors[i] = level_field(&s->level);
        if (s->vectors[i] == NULL)
            return COVEY_ENOMEM;
    }
    s->pairs = calloc(SUMS_MAX * 2 * (1 + members), sizeof *s->pairs);
    return s->pairs == NULL ? COVEY_ENOMEM : 0;
}

int solver_make(struct solver *solver, covey_team_t *team, const struct equation *equation,
                struct grid_split *split)
{
    int method = solver->settings.method;
    solver->team = team;
    int error = level_make(&solver->level, team, equation, split, TAG_FINEST);
    if (error == 0)
        error = make_memory(solver);
    if (error == 0 && (method == METHOD_MG || method == METHOD_MG_CG))
        error = multigrid_make(solver);
    if (error == 0 && method == METHOD_FFT)
        error = direct_make(solver);
    return error;
}

void solver_free(struct solver *solver)
{
    multigrid_free(&solver->multigrid);
    direct_free(&solver->direct);
    level_free(&solver->level);
    for (int i = 0; i < SOLVER_VECTORS; i++)
        free(solver->vectors[i]);
    free(solver->pairs);
}

int solver_run(struct solver *solver, struct task *task)
{
    return methods[solver->settings.method].run(solver, task);
}
