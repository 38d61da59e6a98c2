/*
 * lu_solve.c - solves A X = B by the factors, which stay where they are.
 *
 * Every process has a sheet: its rows of B, all columns. B is at any time the sum of the sheets of
 * a row of the grid. Block by block the sheets' rows are summed up at the process that has the
 * factors' diagonal block, which solves; it sends the solution along its column, whose processes
 * subtract what it makes of their rows. So only B moves, of which there is little, and not the
 * factors.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/domain/base/error.h"
#include "lib/domain/dense/lu_solve.h"

struct sheet {
    struct lu_rows swaps;
    struct lu_moves moves;  /* of those that stay as each panel found them */
    struct dense_view rows; /* local rows x all columns */
    struct dense_view own;  /* the block that is solved; block x columns */
    void *sum;              /* the same, of all sheets */
};

static struct dense_view sheet_block(const struct lu *lu, const struct sheet *s, int64_t begin,
                                     int64_t width)
{
    return dense_part(lu->kernel, &s->rows, (int64_t[]){dense_axis_before(&lu->rows, begin), 0},
                      (int64_t[]){width, s->rows.n});
}

static int sheet_create(const struct lu *lu, int64_t columns, struct sheet *s)
{
    size_t bytes = lu->kernel->bytes, block = (size_t)lu->plan->setting.block;
    size_t count = (size_t)lu->a.m * (size_t)columns;
    int64_t *moves = malloc(4 * block * sizeof *moves);
    *s = (struct sheet){
        .moves = {.top_from = moves},
        .rows = {calloc(count + 1, bytes), lu->a.m, columns, lu->a.m > 0 ? lu->a.m : 1, 0},
        .own = {malloc((block * (size_t)columns + 1) * bytes), 0, columns, 1, 0},
        .sum = malloc((block * (size_t)columns + 1) * bytes)};
    int error = lu_rows_create(lu, columns, &s->swaps);
    if (error < 0 || moves == NULL || s->rows.at == NULL || s->own.at == NULL || s->sum == NULL)
        return domain_fail(COVEY_ENOMEM, "no memory for right-hand sides");
    s->moves.outside_row = moves + block;
    s->moves.outside_from = moves + 2 * block;
    s->moves.places = moves + 3 * block;
    return 0;
}

static void sheet_free(struct sheet *s)
{
    lu_rows_free(&s->swaps);
    free(s->moves.top_from);
    free(s->rows.at);
    free(s->own.at);
    free(s->sum);
}

/* The caller's columns of B to the sheet, or back. */
static void sheet_copy(const struct lu *lu, const struct sheet *s, const struct dense_view *b,
                       int to_sheet)
{
    for (int64_t j = 0; j < b->n; j++) {
        struct dense_view here = {dense_at(lu->kernel, b, 0, j), b->m, 1, b->m, 0};
        struct dense_view there = here;
        there.at = dense_at(lu->kernel, &s->rows, 0, dense_axis_global(&lu->columns, j));
        if (b->m > 0)
            dense_copy(lu->kernel, to_sheet ? &here : &there, to_sheet ? &there : &here);
    }
}

/* ---- One block ------------------------------------------------------------------------------- */

/* Sums up the block's rows at the process that has the diagonal, which solves them; the sheet keeps
 * the solution there, and nothing at the others of the row. */
static int solve_diagonal(const struct lu *lu, struct sheet *s, int64_t begin, int is_upper)
{
    const struct dense_kernel *kernel = lu->kernel;
    int owner = dense_axis_owner(&lu->columns, begin);
    struct dense_view block = sheet_block(lu, s, begin, s->own.m);
    struct dense_view sum = {s->sum, s->own.m, s->own.n, s->own.m, 0};
    dense_copy(kernel, &block, &s->own);
    int error = covey_reduce(lu->of_row, owner, COVEY_OP_SUM, kernel->type, s->own.at, s->sum,
                             (size_t)(s->own.m * s->own.n));
    if (error < 0)
        return error;
    if (owner != lu->columns.at) {
        kernel->scale(kernel->zero, &block);
        return 0;
    }
    struct dense_view diagonal = dense_part(
        kernel, &lu->a,
        (int64_t[]){dense_axis_local(&lu->rows, begin), dense_axis_local(&lu->columns, begin)},
        (int64_t[]){s->own.m, s->own.m});
    kernel->trsm(is_upper ? DENSE_UPPER : DENSE_UNIT, &diagonal, &sum);
    dense_copy(kernel, &sum, &s->own);
    dense_copy(kernel, &sum, &block);
    return 0;
}

/* What the solution makes of the rows behind the block, or before it. */
static void subtract(const struct lu *lu, const struct sheet *s, int64_t begin, int is_upper)
{
    int64_t from = is_upper ? 0 : dense_axis_before(&lu->rows, begin + s->own.m);
    int64_t to = is_upper ? dense_axis_before(&lu->rows, begin) : lu->a.m;
    int64_t column = dense_axis_local(&lu->columns, begin);
    struct dense_view factor =
        dense_part(lu->kernel, &lu->a, (int64_t[]){from, column}, (int64_t[]){to - from, s->own.m});
    struct dense_view rows =
        dense_part(lu->kernel, &s->rows, (int64_t[]){from, 0}, (int64_t[]){to - from, s->own.n});
    lu->kernel->gemm(lu->kernel->minus_one, &factor, &s->own, &rows);
}

static int solve_block(const struct lu *lu, struct sheet *s, int64_t begin, int is_upper)
{
    int64_t rest = lu->n - begin, block = lu->plan->setting.block;
    int row = dense_axis_owner(&lu->rows, begin), error = 0;
    s->own.m = s->own.ld = rest < block ? rest : block;
    if (row == lu->rows.at)
        error = solve_diagonal(lu, s, begin, is_upper);
    if (error < 0 || dense_axis_owner(&lu->columns, begin) != lu->columns.at)
        return error;
    error =
        covey_bcast(lu->of_column, row, lu->kernel->type, s->own.at, (size_t)(s->own.m * s->own.n));
    if (error >= 0)
        subtract(lu, s, begin, is_upper);
    return error;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static int solve_sheet(struct lu *lu, struct sheet *s)
{
    int64_t block = lu->plan->setting.block, last = (lu->n - 1) / block * block;
    int error = lu->solves_alone ? 0 : lu_rows_swap_all(lu, &s->swaps, &s->rows);
    lu->moves = s->moves;
    for (int64_t begin = 0; error >= 0 && begin < lu->n; begin += block) {
        if (lu->solves_alone)
            error = lu_rows_swap_panel(lu, &s->swaps, begin, &s->rows);
        if (error >= 0)
            error = solve_block(lu, s, begin, 0);
    }
    for (int64_t begin = last; error >= 0 && begin >= 0; begin -= block)
        error = solve_block(lu, s, begin, 1);
    if (error < 0 || lu->columns.of == 1 || lu->a.m == 0)
        return error;
    return covey_allreduce(lu->of_row, COVEY_OP_SUM, lu->kernel->type, s->rows.at, s->rows.at,
                           (size_t)(s->rows.m * s->rows.n));
}

int lu_solve(struct lu *lu, const struct dense_view *b)
{
    covey_dense_t *plan = lu->plan;
    struct sheet s = {.sum = NULL};
    int inside = plan->row >= 0 && lu->n > 0 && plan->problem.r > 0;
    int error = dense_agree(plan, inside ? sheet_create(lu, plan->problem.r, &s) : 0);
    if (error == 0 && inside) {
        int alone = plan->setting.grid.rows * plan->setting.grid.columns == 1;
        int threads = dense_threads(alone ? plan->threads_alone : plan->threads);
        sheet_copy(lu, &s, b, 1);
        error = solve_sheet(lu, &s);
        sheet_copy(lu, &s, b, 0);
        dense_threads(threads);
        if (error < 0)
            dense_broken(plan, error);
    }
    sheet_free(&s);
    return error < 0 ? error : 0;
}
