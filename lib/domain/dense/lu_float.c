/*
 * lu_float.c - factors in single precision, and refines the solution by residuals in double
 * precision, until each column's is as small as a factorization in double precision leaves it:
 * below |x| |A| eps sqrt(n) (LAPACK's dsgesv; Buttari and others, 2007).
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "lib/domain/base/error.h"
#include "lib/domain/dense/lu_solve.h"

#define ROUNDS_MAX 20

struct refine {
    struct lu *lu; /* in double precision: A as it was given */
    struct lu single;
    struct dense_view b;                  /* as it was given */
    struct dense_view x, residual, small; /* of B's pieces; small: the residual, in single */
    struct dense_view whole;              /* X at every process */
    struct dense_view columns;            /* its rows that belong to the local columns of A */
    struct dense_view rows;               /* A X, of the local rows, all columns */
    double norm;                          /* of A */
    double *sizes;                        /* [2 r]: of residuals and of solutions */
};

static struct dense_view view_new(const struct dense_kernel *kernel, int64_t m, int64_t n)
{
    return (struct dense_view){calloc((size_t)m * (size_t)n + 1, kernel->bytes), m, n,
                               m > 0 ? m : 1, 0};
}

static int refine_create(struct refine *f)
{
    const struct lu *lu = f->lu;
    int64_t r = lu->plan->problem.r;
    const struct dense_kernel *single =
        dense_kernel_of(lu->kernel->type == COVEY_DOUBLE ? COVEY_FLOAT : COVEY_COMPLEX_FLOAT);
    f->single = *lu;
    f->single.kernel = single;
    f->single.a = view_new(single, lu->a.m, lu->a.n);
    f->single.pivots = malloc(((size_t)lu->n + 1) * sizeof(int64_t));
    f->x = view_new(lu->kernel, f->b.m, f->b.n);
    f->residual = view_new(lu->kernel, f->b.m, f->b.n);
    f->small = view_new(single, f->b.m, f->b.n);
    f->whole = view_new(lu->kernel, lu->n, r);
    f->columns = view_new(lu->kernel, lu->a.n, r);
    f->rows = view_new(lu->kernel, lu->a.m, r);
    f->sizes = calloc(2 * (size_t)r + 1, sizeof(double));
    return f->single.a.at != NULL && f->single.pivots != NULL && f->x.at != NULL &&
                   f->residual.at != NULL && f->small.at != NULL && f->whole.at != NULL &&
                   f->columns.at != NULL && f->rows.at != NULL && f->sizes != NULL
               ? 0
               : domain_fail(COVEY_ENOMEM, "no memory for a matrix in single precision");
}

static void refine_free(struct refine *f)
{
    void *arrays[] = {f->single.a.at, f->single.pivots, f->x.at,    f->residual.at, f->small.at,
                      f->whole.at,    f->columns.at,    f->rows.at, f->sizes};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

/* The same operation along rows and columns of the grid: at all its processes. */
static int agree_on(const struct lu *lu, int op, int type, void *array, size_t count)
{
    int error = covey_allreduce(lu->of_row, op, type, array, array, count);
    return error < 0 ? error : covey_allreduce(lu->of_column, op, type, array, array, count);
}

/* NaN is not the largest of numbers in a reduction. */
static double size_of(double x)
{
    return isnan(x) ? INFINITY : x;
}

static int set_norm(struct refine *f)
{
    const struct lu *lu = f->lu;
    double *sums = calloc((size_t)lu->a.m + 1, sizeof *sums), most = 0;
    if (sums == NULL)
        return COVEY_ENOMEM;
    for (int64_t j = 0; j < lu->a.n; j++)
        lu->kernel->add_sizes(lu->a.m, dense_at(lu->kernel, &lu->a, 0, j), sums);
    int error =
        covey_allreduce(lu->of_row, COVEY_OP_SUM, COVEY_DOUBLE, sums, sums, (size_t)lu->a.m);
    for (int64_t i = 0; i < lu->a.m; i++)
        most = fmax(most, size_of(sums[i]));
    free(sums);
    f->norm = most;
    return error < 0 ? error : agree_on(lu, COVEY_OP_MAX, COVEY_DOUBLE, &f->norm, 1);
}

/* ---- The residual ---------------------------------------------------------------------------- */

/* All of X at every process, and of it what the local columns of A are multiplied with. */
static int spread_x(struct refine *f)
{
    const struct lu *lu = f->lu;
    const struct dense_kernel *kernel = lu->kernel;
    kernel->scale(kernel->zero, &f->whole);
    for (int64_t j = 0; j < f->x.n; j++)
        for (int64_t i = 0; i < f->x.m; i++) {
            struct dense_view from = {dense_at(kernel, &f->x, i, j), 1, 1, 1, 0}, to = from;
            to.at = dense_at(kernel, &f->whole, dense_axis_global(&lu->rows, i),
                             dense_axis_global(&lu->columns, j));
            dense_copy(kernel, &from, &to);
        }
    int error =
        agree_on(lu, COVEY_OP_SUM, kernel->type, f->whole.at, (size_t)(f->whole.m * f->whole.n));
    for (int64_t i = 0; error >= 0 && i < lu->a.n; i++)
        for (int64_t j = 0; j < f->whole.n; j++) {
            struct dense_view from = {
                dense_at(kernel, &f->whole, dense_axis_global(&lu->columns, i), j), 1, 1, 1, 0};
            struct dense_view to = {dense_at(kernel, &f->columns, i, j), 1, 1, 1, 0};
            dense_copy(kernel, &from, &to);
        }
    return error;
}

/* residual = B - A X */
static int set_residual(struct refine *f)
{
    const struct lu *lu = f->lu;
    const struct dense_kernel *kernel = lu->kernel;
    int error = spread_x(f);
    if (error < 0)
        return error;
    kernel->scale(kernel->zero, &f->rows);
    kernel->gemm(kernel->minus_one, &lu->a, &f->columns, &f->rows);
    error = covey_allreduce(lu->of_row, COVEY_OP_SUM, kernel->type, f->rows.at, f->rows.at,
                            (size_t)(f->rows.m * f->rows.n));
    if (error < 0)
        return error;
    dense_copy(kernel, &f->b, &f->residual);
    for (int64_t j = 0; j < f->residual.n; j++) {
        struct dense_view column = {dense_at(kernel, &f->residual, 0, j), f->residual.m, 1,
                                    f->residual.ld, 0};
        struct dense_view product = column;
        product.at = dense_at(kernel, &f->rows, 0, dense_axis_global(&lu->columns, j));
        kernel->add(&product, &column);
    }
    return 0;
}

/* 1: every column is exact enough. */
static int is_exact(struct refine *f)
{
    const struct lu *lu = f->lu;
    int64_t r = f->whole.n;
    for (int64_t j = 0; j < 2 * r; j++)
        f->sizes[j] = 0;
    for (int64_t j = 0; j < f->x.n; j++) {
        double *sizes = &f->sizes[dense_axis_global(&lu->columns, j)];
        for (int64_t i = 0; i < f->x.m; i++) {
            double e = size_of(lu->kernel->size(dense_at(lu->kernel, &f->residual, i, j)));
            double x = size_of(lu->kernel->size(dense_at(lu->kernel, &f->x, i, j)));
            sizes[0] = fmax(sizes[0], e);
            sizes[r] = fmax(sizes[r], x);
        }
    }
    int error = agree_on(lu, COVEY_OP_MAX, COVEY_DOUBLE, f->sizes, 2 * (size_t)r);
    if (error < 0)
        return error;
    double least = f->norm * DBL_EPSILON / 2 * sqrt((double)lu->n);
    for (int64_t j = 0; j < r; j++)
        if (!(f->sizes[j] <= f->sizes[r + j] * least) || isinf(f->sizes[r + j]))
            return 0;
    return 1;
}

/* ---- The rounds ------------------------------------------------------------------------------ */

/* X += A^-1 residual, in single precision. */
static int add_correction(struct refine *f)
{
    dense_convert(f->lu->kernel, &f->residual, f->single.kernel, &f->small);
    int error = lu_solve(&f->single, &f->small);
    if (error < 0)
        return error;
    dense_convert(f->single.kernel, &f->small, f->lu->kernel, &f->residual);
    f->lu->kernel->add(&f->residual, &f->x);
    return 0;
}

/* Members outside the grid take part in the solves, and hear how it goes from rank 0. */
static int refine_round(struct refine *f)
{
    covey_dense_t *plan = f->lu->plan;
    int32_t state = 0;
    int error = add_correction(f);
    if (error < 0)
        return error;
    if (plan->row >= 0) {
        error = set_residual(f);
        state = error < 0 ? error : is_exact(f);
        if (state < 0)
            return dense_broken(plan, state);
    }
    error = covey_bcast(plan->teams[DENSE_ALL], 0, COVEY_INT32, &state, 1);
    return error < 0 ? dense_broken(plan, error) : state;
}

static int refine_run(struct refine *f)
{
    covey_dense_t *plan = f->lu->plan;
    int inside = plan->row >= 0, error = inside ? set_norm(f) : 0;
    if (error < 0)
        return dense_broken(plan, error);
    dense_convert(f->lu->kernel, &f->lu->a, f->single.kernel, &f->single.a);
    dense_copy(f->lu->kernel, &f->b, &f->residual);
    error = lu_factor(&f->single, 1, plan->setting.lookahead);
    if (error == 0) {
        error = covey_bcast(plan->teams[DENSE_ALL], 0, COVEY_INT64, &f->single.info, 1);
        if (error < 0)
            return dense_broken(plan, error);
    }
    if (error < 0 || f->single.info > 0)
        return error < 0 ? error : 1;
    for (int i = 0; i < ROUNDS_MAX; i++) {
        int state = refine_round(f);
        if (state != 0)
            return state < 0 ? state : 0;
    }
    return 1;
}

int lu_solve_float(struct lu *lu, const struct dense_view *b)
{
    struct refine f = {.lu = lu, .b = *b};
    int error = dense_agree(lu->plan, refine_create(&f));
    if (error == 0) {
        error = refine_run(&f);
        if (error == 0)
            dense_copy(lu->kernel, &f.x, b);
    }
    refine_free(&f);
    return error;
}
