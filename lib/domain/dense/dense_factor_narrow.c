/*
 * dense_factor_narrow.c - triangular systems whose right-hand sides all lie in the first grid
 * column, having no more columns than a block: they move, and the triangle stays.
 *
 * Each step takes the block column of the triangle where it lies. Forward, what was taken from the
 * block of B beside its diagonal block is added up along the grid row, the block is solved and goes
 * down the grid column, whose members take its products from blocks of their own. For the adjoint
 * the products are added up the grid column, the block is solved there, and goes along the grid
 * row, where later steps need it.
 */
#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense_factor.h"

#include <stdlib.h>

/* What each member has of the rows of B: all columns. */
struct narrow {
    const struct factor_system *s;
    void *room, *solved_room, *x_room;
    struct factor_block rows;   /* what is to be solved, or as much as was taken from it here */
    struct factor_block solved; /* the blocks that were solved here, zeros elsewhere */
    struct factor_block x;      /* one block */
};

static int narrow_init(struct narrow *v, const struct factor_system *s)
{
    const struct factor_matrix *b = s->b;
    int r = (int)b->n, m = b->local.m;
    *v = (struct narrow){.s = s,
                         .room = factor_room(b->kernel, (size_t)m * (size_t)r),
                         .solved_room = factor_room(b->kernel, (size_t)m * (size_t)r),
                         .x_room = factor_room(b->kernel, (size_t)b->nb * (size_t)r)};
    v->rows = factor_packed(b, v->room, m, r);
    v->solved = factor_packed(b, v->solved_room, m, r);
    if (v->room != NULL && v->solved_room != NULL && v->x_room != NULL)
        return 0;
    return factor_break(&b->grid, domain_fail(COVEY_ENOMEM, "no memory for right-hand sides"));
}

static void narrow_fini(struct narrow *v)
{
    free(v->room);
    free(v->solved_room);
    free(v->x_room);
}

static struct factor_block rows_of(const struct narrow *v, struct factor_block b, int first,
                                   int last)
{
    return factor_sized(factor_part(b, v->s->t->kernel->width, first, 0), last - first, b.n);
}

/* The triangle's block column of the step, its rows first .. last - 1. */
static struct factor_block column_of(const struct narrow *v, const struct factor_step *step,
                                     int first, int last)
{
    const struct factor_matrix *t = v->s->t;
    struct factor_block column =
        factor_part(t->local, t->kernel->width, first, factor_column(t, step->at));
    return factor_sized(column, last - first, step->width);
}

static void solve_block(struct narrow *v, const struct factor_step *step, struct factor_block x)
{
    int end = step->diagonal + step->width;
    struct factor_triangle triangle = {.of = column_of(v, step, step->diagonal, end),
                                       .upper = v->s->upper,
                                       .adjoint = v->s->adjoint,
                                       .unit = v->s->unit};
    v->s->t->kernel->solve(triangle, 0, x);
}

static int forward_step(struct narrow *v, const struct factor_step *step)
{
    const struct factor_matrix *t = v->s->t;
    const struct factor_kernel *kernel = t->kernel;
    int is_row = step->p == t->grid.p, is_column = step->q == t->grid.q, error = 0;
    int end = step->diagonal + step->width;
    struct factor_block x = factor_packed(t, v->x_room, step->width, v->rows.n);
    size_t count = (size_t)x.m * (size_t)x.n;
    if (is_row) {
        kernel->copy(rows_of(v, v->rows, step->diagonal, end), x);
        error = factor_sum_at((struct factor_call){t, t->grid.row, "a triangular system"}, step->q,
                              v->x_room, count);
    }
    if (error < 0 || !is_column)
        return error;
    if (is_row) {
        solve_block(v, step, x);
        kernel->copy(x, rows_of(v, v->solved, step->diagonal, end));
    }
    error = factor_bcast((struct factor_call){t, t->grid.column, "a triangular system"}, step->p,
                         v->x_room, count);
    if (error == 0)
        kernel->gemm(
            (const int[]){0, 0},
            (const struct factor_block[]){column_of(v, step, step->others, step->others_end), x},
            -1, 1, rows_of(v, v->rows, step->others, step->others_end));
    return error;
}

static int adjoint_step(struct narrow *v, const struct factor_step *step)
{
    const struct factor_matrix *t = v->s->t;
    const struct factor_kernel *kernel = t->kernel;
    int is_row = step->p == t->grid.p, is_column = step->q == t->grid.q, error = 0;
    int end = step->diagonal + step->width;
    struct factor_block x = factor_packed(t, v->x_room, step->width, v->rows.n);
    struct factor_block others = rows_of(v, v->rows, step->others, step->others_end);
    size_t count = (size_t)x.m * (size_t)x.n;
    if (is_column) {
        kernel->clear(x);
        if (others.m > 0)
            kernel->gemm((const int[]){1, 0},
                         (const struct factor_block[]){
                             column_of(v, step, step->others, step->others_end), others},
                         -1, 0, x);
        error = factor_sum_at((struct factor_call){t, t->grid.column, "a triangular system"},
                              step->p, v->x_room, count);
    }
    if (error < 0 || !is_row)
        return error;
    struct factor_block mine = rows_of(v, v->rows, step->diagonal, end);
    if (is_column) {
        kernel->add(mine, x);
        solve_block(v, step, x);
    }
    error = factor_bcast((struct factor_call){t, t->grid.row, "a triangular system"}, step->q,
                         v->x_room, count);
    if (error == 0)
        kernel->copy(x, mine);
    return error;
}

/* Forward, the first grid column begins with B and the others with nothing; for the adjoint all
 * begin with B. */
static int begin(struct narrow *v)
{
    const struct factor_matrix *b = v->s->b;
    if (b->grid.q == 0)
        b->kernel->copy(b->local, v->rows);
    if (!v->s->adjoint)
        return 0;
    return factor_bcast((struct factor_call){b, b->grid.row, "right-hand sides"}, 0, v->room,
                        (size_t)v->rows.m * (size_t)v->rows.n);
}

static int end(struct narrow *v)
{
    const struct factor_matrix *b = v->s->b;
    int error = 0;
    if (!v->s->adjoint)
        error = factor_sum_at((struct factor_call){b, b->grid.row, "right-hand sides"}, 0,
                              v->solved_room, (size_t)v->rows.m * (size_t)v->rows.n);
    if (error == 0 && b->grid.q == 0)
        b->kernel->copy(v->s->adjoint ? v->rows : v->solved, b->local);
    return error;
}

int factor_solve_narrow(const struct factor_system *s)
{
    struct narrow v;
    int64_t blocks = (s->t->n + s->t->nb - 1) / s->t->nb;
    int error = narrow_init(&v, s), is_forward = s->upper == s->adjoint;
    if (error == 0)
        error = begin(&v);
    for (int64_t k = 0; k < blocks && error == 0; k++) {
        struct factor_step step = factor_step_of(s, is_forward ? k : blocks - 1 - k);
        error = s->adjoint ? adjoint_step(&v, &step) : forward_step(&v, &step);
    }
    if (error == 0)
        error = end(&v);
    narrow_fini(&v);
    return error;
}
