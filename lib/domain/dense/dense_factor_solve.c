/*
 * dense_factor_solve.c - triangular systems on a grid of members. Those with few right-hand sides
 * are in dense_factor_narrow.c.
 *
 * A block column of the triangle goes along the grid rows. Then, forward, the block of B beside its
 * diagonal block is solved, goes down the grid columns, and is taken from the other blocks; or, for
 * the adjoint, what the other blocks give is added up the grid column, and that block is solved.
 */
#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense_factor.h"

#include <stdlib.h>

struct solve {
    const struct factor_system *s;
    void *panel; /* of the block column, what lies in this grid row */
    void *x;     /* a block row of B, or sums for it */
};

struct factor_step factor_step_of(const struct factor_system *s, int64_t k)
{
    const struct factor_matrix *t = s->t;
    int64_t at = k * t->nb, rest = t->n - at;
    int width = rest < t->nb ? (int)rest : t->nb;
    struct factor_step step = {.at = at,
                               .width = width,
                               .p = (int)(k % t->grid.rows),
                               .q = (int)(k % t->grid.columns),
                               .diagonal = factor_row(t, at)};
    int behind = factor_row(t, at + width);
    step.first = s->upper ? 0 : step.diagonal;
    step.last = s->upper ? behind : factor_row(t, t->n);
    step.others = s->upper ? 0 : behind;
    step.others_end = s->upper ? step.diagonal : step.last;
    step.columns = s->lower_only ? factor_column(s->b, at + width) : s->b->local.n;
    return step;
}

/* Rows first .. last - 1 of B here, as far as they are read. */
static struct factor_block rows_of(const struct solve *v, const struct factor_step *step, int first,
                                   int last)
{
    const struct factor_matrix *b = v->s->b;
    return factor_sized(factor_part(b->local, b->kernel->width, first, 0), last - first,
                        step->columns);
}

static int spread_triangle(const struct solve *v, const struct factor_step *step)
{
    const struct factor_matrix *t = v->s->t;
    int rows = step->last - step->first;
    if (step->q == t->grid.q) {
        struct factor_block mine =
            factor_part(t->local, t->kernel->width, step->first, factor_column(t, step->at));
        t->kernel->copy(factor_sized(mine, rows, step->width),
                        factor_packed(t, v->panel, rows, step->width));
    }
    return factor_bcast((struct factor_call){t, t->grid.row, "a triangular system"}, step->q,
                        v->panel, (size_t)rows * (size_t)step->width);
}

static int solve_step(const struct solve *v, const struct factor_step *step)
{
    const struct factor_system *s = v->s;
    const struct factor_matrix *t = s->t, *b = s->b;
    const struct factor_kernel *kernel = t->kernel;
    int is_row = step->p == t->grid.p;
    int error = spread_triangle(v, step);
    if (error < 0)
        return error;
    struct factor_block panel = factor_packed(t, v->panel, step->last - step->first, step->width);
    struct factor_block beside =
        factor_sized(factor_part(panel, kernel->width, step->others - step->first, 0),
                     step->others_end - step->others, step->width);
    struct factor_block others = rows_of(v, step, step->others, step->others_end);
    struct factor_block mine = rows_of(v, step, step->diagonal, step->diagonal + step->width);
    struct factor_block x = factor_packed(b, v->x, step->width, step->columns);
    struct factor_triangle triangle = {
        .of = factor_part(panel, kernel->width, step->diagonal - step->first, 0),
        .upper = s->upper,
        .adjoint = s->adjoint,
        .unit = s->unit};
    struct factor_call call = {t, t->grid.column, "a triangular system"};
    size_t count = (size_t)step->width * (size_t)step->columns;
    if (s->adjoint) {
        kernel->clear(x);
        if (others.m > 0)
            kernel->gemm((const int[]){1, 0}, (const struct factor_block[]){beside, others}, -1, 0,
                         x);
        error = factor_sum_at(call, step->p, v->x, count);
        if (error < 0 || !is_row)
            return error;
        kernel->add(x, mine);
        kernel->solve(triangle, 0, mine);
        return 0;
    }
    if (is_row) {
        kernel->solve(triangle, 0, mine);
        kernel->copy(mine, x);
    }
    error = factor_bcast(call, step->p, v->x, count);
    if (error == 0)
        kernel->gemm((const int[]){0, 0}, (const struct factor_block[]){beside, x}, -1, 1, others);
    return error;
}

int factor_solve(const struct factor_system *s)
{
    const struct factor_matrix *t = s->t;
    size_t nb = (size_t)t->nb;
    if (t->grid.columns > 1 && s->b->n <= t->nb && !s->lower_only)
        return factor_solve_narrow(s);
    int64_t blocks = (t->n + t->nb - 1) / t->nb;
    struct solve v = {.s = s,
                      .panel = factor_room(t->kernel, ((size_t)t->local.m + nb) * nb),
                      .x = factor_room(t->kernel, (size_t)s->b->local.n * nb)};
    int error = 0, is_forward = s->upper == s->adjoint;
    if (v.panel == NULL || v.x == NULL)
        error = factor_break(&t->grid, domain_fail(COVEY_ENOMEM, "no memory for a panel"));
    for (int64_t k = 0; k < blocks && error == 0; k++) {
        struct factor_step step = factor_step_of(s, is_forward ? k : blocks - 1 - k);
        error = solve_step(&v, &step);
    }
    free(v.panel);
    free(v.x);
    return error;
}
