/*
 * dense_factor.c - indices of block-cyclic matrices, and collective calls with their errors.
 *
 * A matrix of which an upper triangle is wanted is taken as its transpose, by rows: cblas knows
 * both orders, so that each algorithm is written once, for the lower triangle. Members of a grid
 * row are then those of a grid column.
 */
#include "lib/domain/dense/dense_factor.h"

#include "lib/domain/algebra/dense_kernel.h"
#include "lib/domain/base/error.h"

#include <stdlib.h>
#include <string.h>

int factor_mine(int64_t count, int nb, int me, int members)
{
    int64_t blocks = count / nb, rest = count % nb;
    int64_t mine = blocks / members * nb;
    if (blocks % members > me)
        mine += nb;
    else if (blocks % members == me)
        mine += rest;
    return (int)mine;
}

int factor_row(const struct factor_matrix *a, int64_t row)
{
    return factor_mine(row, a->nb, a->grid.p, a->grid.rows);
}

int factor_column(const struct factor_matrix *a, int64_t column)
{
    return factor_mine(column, a->nb, a->grid.q, a->grid.columns);
}

struct factor_matrix factor_transposed(const struct factor_matrix *a)
{
    struct factor_matrix t = *a;
    const struct factor_grid *g = &a->grid;
    t.grid = (struct factor_grid){.rows = g->columns,
                                  .columns = g->rows,
                                  .p = g->q,
                                  .q = g->p,
                                  .bcast = g->bcast,
                                  .team = g->team,
                                  .row = g->column,
                                  .column = g->row};
    t.m = a->n;
    t.n = a->m;
    t.local.m = a->local.n;
    t.local.n = a->local.m;
    t.local.by_rows = !a->local.by_rows;
    return t;
}

struct factor_block factor_from(const struct factor_matrix *a, int64_t row, int64_t column)
{
    return factor_part(a->local, a->kernel->width, factor_row(a, row), factor_column(a, column));
}

struct factor_block factor_packed(const struct factor_matrix *like, void *at, int m, int n)
{
    int by_rows = like->local.by_rows, ld = by_rows ? n : m;
    return (struct factor_block){
        .at = at, .m = m, .n = n, .ld = ld > 0 ? ld : 1, .by_rows = by_rows};
}

void *factor_room(const struct factor_kernel *kernel, size_t elements)
{
    return calloc(elements + 1, kernel->width);
}

int factor_break(const struct factor_grid *grid, int error)
{
    if (grid->row != NULL)
        domain_break(grid->row, error);
    if (grid->column != NULL)
        domain_break(grid->column, error);
    return domain_break(grid->team, error);
}

static int ended(struct factor_call call, int error)
{
    if (error >= 0)
        return 0;
    return factor_break(&call.of->grid, domain_fail_of(error, call.what));
}

static int is_alone(struct factor_call call, size_t count)
{
    return count == 0 || covey_team_size(call.team) == 1;
}

int factor_bcast(struct factor_call call, int root, void *base, size_t count)
{
    if (is_alone(call, count))
        return 0;
    struct dense_cast cast = {.count = 0};
    int error = factor_cast_begin(call, &cast, root, base, count);
    if (error == 0)
        error = factor_cast_end(call, &cast);
    dense_cast_free(&cast); /* teams are broken before: others are needed for it */
    return error;
}

int factor_cast_begin(struct factor_call call, struct dense_cast *cast, int root, void *base,
                      size_t count)
{
    cast->type = call.of->kernel->type;
    cast->base = base;
    cast->count = count;
    return ended(call, dense_cast_begin(cast, call.team, call.of->grid.bcast, root));
}

int factor_cast_poll(struct factor_call call, struct dense_cast *cast)
{
    return ended(call, dense_cast_poll(cast));
}

int factor_cast_wait(struct factor_call call, struct dense_cast *cast)
{
    return ended(call, dense_cast_wait(cast));
}

int factor_cast_end(struct factor_call call, struct dense_cast *cast)
{
    return ended(call, dense_cast_end(cast));
}

int factor_sum(struct factor_call call, void *base, size_t count)
{
    if (is_alone(call, count))
        return 0;
    return ended(
        call, covey_allreduce(call.team, COVEY_OP_SUM, call.of->kernel->type, base, base, count));
}

int factor_sum_at(struct factor_call call, int root, void *base, size_t count)
{
    if (is_alone(call, count))
        return 0;
    return ended(call, covey_reduce(call.team, root, COVEY_OP_SUM, call.of->kernel->type, base,
                                    base, count));
}

int factor_gather(struct factor_call call, const void *mine, void *all, const size_t *counts)
{
    if (covey_team_size(call.team) == 1) {
        memcpy(all, mine, counts[0] * call.of->kernel->width);
        return 0;
    }
    return ended(call, covey_allgatherv(call.team, call.of->kernel->type, mine, all, counts, NULL));
}

int factor_greatest(struct factor_call call, double *number)
{
    double mine = *number;
    if (covey_team_size(call.team) == 1)
        return 0;
    return ended(call, covey_allreduce(call.team, COVEY_OP_MAX, COVEY_DOUBLE, &mine, number, 1));
}

void factor_identity(const struct factor_matrix *b)
{
    int64_t n = b->m < b->n ? b->m : b->n;
    b->kernel->clear(b->local);
    for (int64_t i = 0; i < n; i++)
        if (factor_row(b, i + 1) > factor_row(b, i) &&
            factor_column(b, i + 1) > factor_column(b, i))
            b->kernel->make_unit_lower(factor_sized(factor_from(b, i, i), 1, 1));
}

void factor_put(const struct factor_matrix *a, int64_t info, void *at)
{
    dense_kernel_of(a->kernel->type)->encode(info, at);
}

int64_t factor_get(const struct factor_matrix *a, const void *at)
{
    return dense_kernel_of(a->kernel->type)->decode(at);
}

int factor_first(const struct factor_matrix *a, int64_t *info)
{
    int64_t given = *info != 0 ? *info : INT64_MAX, least = given;
    if (covey_team_size(a->grid.team) > 1) {
        int error = covey_allreduce(a->grid.team, COVEY_OP_MIN, COVEY_INT64, &given, &least, 1);
        if (error < 0)
            return ended((struct factor_call){a, a->grid.team, "agreeing on info"}, error);
    }
    *info = least != INT64_MAX ? least : 0;
    return 0;
}
