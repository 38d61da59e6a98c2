/*
 * lu.c - LU factorization and solving by it: the calls, and what one process does alone.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/domain/algebra/lu.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/dense/lu_run.h"
#include "lib/domain/dense/lu_solve.h"

/* ---- Alone ----------------------------------------------------------------------------------- */

/* A whole matrix at rank 0, by columns; at NULL elsewhere. */
static int whole_create(const covey_dense_t *plan, int matrix, struct dense_view *whole)
{
    int64_t size[2];
    dense_sizes(&plan->problem, matrix, size);
    *whole = (struct dense_view){NULL, size[0], size[1], size[0] > 0 ? size[0] : 1, 0};
    if (plan->rank != 0)
        return 0;
    whole->at = malloc(((size_t)size[0] * (size_t)size[1] + 1) * plan->kernel->bytes);
    return whole->at != NULL
               ? 0
               : domain_fail(COVEY_ENOMEM, "no memory for a whole matrix of %lld x %lld at rank 0",
                             (long long)size[0], (long long)size[1]);
}

/* Returns what LAPACK's getrf does; places are its pivots, from 1. */
static int factor_whole(const covey_dense_t *plan, const struct dense_view *a, int32_t *places)
{
    int threads = dense_threads(plan->threads_alone);
    int info = plan->kernel->getrf(a, places);
    dense_threads(threads);
    return info > 0 ? info : 0;
}

/* B of the two matrices becomes X. */
static void solve_whole(const covey_dense_t *plan, const struct dense_view whole[2],
                        const int32_t *places)
{
    int threads = dense_threads(plan->threads_alone);
    plan->kernel->swap(&whole[1], 0, whole[0].n, places);
    plan->kernel->trsm(DENSE_UNIT, &whole[0], &whole[1]);
    plan->kernel->trsm(DENSE_UPPER, &whole[0], &whole[1]);
    dense_threads(threads);
}

static int is_alone(const covey_dense_t *plan)
{
    return plan->setting.grid.rows * plan->setting.grid.columns == 1;
}

static int factor_local(struct lu *lu)
{
    covey_dense_t *plan = lu->plan;
    struct dense_view whole = {.at = NULL};
    int32_t *places = malloc(((size_t)lu->least + 1) * sizeof *places);
    int error = places != NULL ? 0 : domain_fail(COVEY_ENOMEM, "no memory for pivots");
    if (error == 0 && !is_alone(plan))
        error = whole_create(plan, COVEY_DENSE_A, &whole);
    error = dense_agree(plan, error);
    if (error == 0 && !is_alone(plan))
        error = dense_collect(plan, COVEY_DENSE_A, &lu->a, &whole);
    if (error == 0 && plan->rank == 0) {
        lu->info = factor_whole(plan, is_alone(plan) ? &lu->a : &whole, places);
        for (int64_t i = 0; i < lu->least; i++)
            lu->pivots[i] = places[i] - 1;
    }
    if (error == 0 && !is_alone(plan))
        error = dense_spread(plan, COVEY_DENSE_A, &whole, &lu->a);
    free(whole.at);
    free(places);
    return error;
}

/* ---- All algorithms -------------------------------------------------------------------------- */

static void lu_set(struct lu *lu, covey_dense_t *plan, const struct dense_view *a, int64_t *pivots)
{
    int64_t size[2];
    dense_sizes(&plan->problem, COVEY_DENSE_A, size);
    *lu = (struct lu){.plan = plan,
                      .kernel = plan->kernel,
                      .bcast = plan->setting.bcast,
                      .swap = plan->setting.swap,
                      .of_row = plan->teams[DENSE_ROW],
                      .of_column = plan->teams[DENSE_COLUMN],
                      .a = *a,
                      .rows = dense_axis(plan, 0),
                      .columns = dense_axis(plan, 1),
                      .m = size[0],
                      .n = size[1],
                      .least = size[0] < size[1] ? size[0] : size[1],
                      .pivots = pivots};
}

/* Members outside the grid, and after `local` all, hear of pivots from rank 0. */
static int tell(struct lu *lu)
{
    covey_team_t *team = lu->plan->teams[DENSE_ALL];
    const struct dense_grid *grid = &lu->plan->setting.grid;
    if (lu->plan->taken != LU_LOCAL && grid->rows * grid->columns == covey_team_size(team))
        return 0;
    int error = covey_bcast(team, 0, COVEY_INT64, lu->pivots, (size_t)lu->least);
    if (error >= 0)
        error = covey_bcast(team, 0, COVEY_INT64, &lu->info, 1);
    return error < 0 ? dense_broken(lu->plan, error) : 0;
}

/* Returns info. */
static int factor(struct lu *lu)
{
    const covey_dense_t *plan = lu->plan;
    int error = plan->taken == LU_LOCAL
                    ? factor_local(lu)
                    : lu_factor(lu, plan->taken >= LU_TOURNAMENT, plan->setting.lookahead);
    if (error == 0)
        error = tell(lu);
    return error < 0 ? error : (int)lu->info;
}

int covey_dense_lu(covey_dense_t *plan, void *a, int64_t lda, int64_t *pivots)
{
    struct dense_view view;
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "the plan is NULL");
    int error = dense_check(plan, COVEY_DENSE_LU);
    if (error == 0 && pivots == NULL && plan->problem.m > 0 && plan->problem.n > 0)
        error = domain_fail(COVEY_EINVAL, "the array of pivots is NULL");
    if (error == 0)
        error = dense_view_of(plan, COVEY_DENSE_A, a, lda, &view);
    error = dense_agree(plan, error);
    if (error < 0)
        return error;
    struct lu lu;
    double began_s = dense_begin(plan, 0);
    lu_set(&lu, plan, &view, pivots);
    error = factor(&lu);
    dense_note(plan, began_s, error, 0);
    return error;
}

int lu_check_pivots(const covey_dense_t *plan, const int64_t *pivots)
{
    int64_t n = plan->problem.n;
    if (plan->problem.m != n)
        return domain_fail(COVEY_EINVAL, "only a square matrix can be solved");
    if (pivots == NULL && n > 0)
        return domain_fail(COVEY_EINVAL, "the array of pivots is NULL");
    for (int64_t i = 0; i < n; i++)
        if (pivots[i] < i || pivots[i] >= n)
            return domain_fail(COVEY_EINVAL, "pivot %lld is %lld: not of this factorization",
                               (long long)i, (long long)pivots[i]);
    return 0;
}

int covey_dense_lu_solve(covey_dense_t *plan, const void *a, int64_t lda, const int64_t *pivots,
                         void *b, int64_t ldb)
{
    struct dense_view va, vb;
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "the plan is NULL");
    int error = dense_check(plan, COVEY_DENSE_LU);
    if (error == 0)
        error = lu_check_pivots(plan, pivots);
    if (error == 0)
        error = dense_view_of(plan, COVEY_DENSE_A, a, lda, &va);
    if (error == 0)
        error = dense_view_of(plan, COVEY_DENSE_B, b, ldb, &vb);
    error = dense_agree(plan, error);
    if (error < 0)
        return error;
    struct lu lu;
    double began_s = dense_begin(plan, 1);
    lu_set(&lu, plan, &va, (int64_t *)pivots);
    error = lu_solve(&lu, &vb);
    dense_note(plan, began_s, error, 1);
    return error;
}

/* ---- Solving at once ------------------------------------------------------------------------- */

/* All of it at rank 0, as LAPACK's gesv. Returns info. */
static int solve_local(struct lu *lu, const struct dense_view *b)
{
    covey_dense_t *plan = lu->plan;
    struct dense_view whole[2] = {{.at = NULL}, {.at = NULL}};
    int32_t *places = malloc(((size_t)lu->n + 1) * sizeof *places);
    int32_t info = 0;
    int error = places != NULL ? 0 : domain_fail(COVEY_ENOMEM, "no memory for pivots");
    if (error == 0)
        error = whole_create(plan, COVEY_DENSE_A, &whole[0]);
    if (error == 0)
        error = whole_create(plan, COVEY_DENSE_B, &whole[1]);
    error = dense_agree(plan, error);
    if (error == 0)
        error = dense_collect(plan, COVEY_DENSE_A, &lu->a, &whole[0]);
    if (error == 0)
        error = dense_collect(plan, COVEY_DENSE_B, b, &whole[1]);
    if (error == 0 && plan->rank == 0) {
        info = factor_whole(plan, &whole[0], places);
        if (info == 0)
            solve_whole(plan, whole, places);
    }
    if (error == 0)
        error = dense_spread(plan, COVEY_DENSE_B, &whole[1], b);
    free(whole[0].at);
    free(whole[1].at);
    free(places);
    if (error < 0)
        return error;
    error = covey_bcast(plan->teams[DENSE_ALL], 0, COVEY_INT32, &info, 1);
    return error < 0 ? dense_broken(plan, error) : info;
}

static int solve(struct lu *lu, const struct dense_view *b)
{
    covey_dense_t *plan = lu->plan;
    if (plan->taken == LU_LOCAL && !is_alone(plan))
        return solve_local(lu, b);
    lu->pivots = malloc(((size_t)lu->n + 1) * sizeof *lu->pivots);
    int error = dense_agree(
        plan, lu->pivots != NULL ? 0 : domain_fail(COVEY_ENOMEM, "no memory for pivots"));
    if (error == 0 && plan->taken == LU_FLOAT)
        error = lu_solve_float(lu, b);
    if (error == 0 && plan->taken == LU_FLOAT) {
        free(lu->pivots);
        return 0;
    }
    if (error >= 0) /* also where single precision is not enough */
        error = factor(lu);
    if (error == 0)
        error = lu_solve(lu, b);
    free(lu->pivots);
    return error;
}

int covey_dense_solve(covey_dense_t *plan, void *a, int64_t lda, void *b, int64_t ldb)
{
    struct dense_view va, vb;
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "the plan is NULL");
    int error = dense_check(plan, COVEY_DENSE_SOLVE);
    if (error == 0)
        error = dense_view_of(plan, COVEY_DENSE_A, a, lda, &va);
    if (error == 0)
        error = dense_view_of(plan, COVEY_DENSE_B, b, ldb, &vb);
    error = dense_agree(plan, error);
    if (error < 0)
        return error;
    struct lu lu;
    double began_s = dense_begin(plan, 0);
    lu_set(&lu, plan, &va, NULL);
    lu.solves_alone = plan->taken != LU_LOCAL;
    error = solve(&lu, &vb);
    dense_note(plan, began_s, error, 0);
    return error;
}
