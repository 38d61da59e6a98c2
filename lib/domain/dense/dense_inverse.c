/*
 * dense_inverse.c - inverses by factors, which are solutions of equations with 1 on their right.
 *
 * Of A = L L^H: L L^H X = 1. Y = L^-1 is a lower triangle, and of X its lower triangle is enough:
 * block row k of L^H X = Y reads of X the rows behind it up to column k. Both solves leave out what
 * lies above the diagonal blocks, and take n^3 / 3 flops each, as many as inverting L and
 * multiplying it by its adjoint.
 *
 * Of P A = L U: L U Z = 1, and X = Z P, whose columns are those of Z in another order. The first
 * solve is that of a lower triangle again, the second one of all of Z: 4 n^3 / 3 flops, as LAPACK's
 * xGETRI.
 */
#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense_factor.h"

#include <stdlib.h>

/* What lies in the lower triangle. */
static void take_lower(const struct factor_matrix *from, const struct factor_matrix *to)
{
    const struct factor_kernel *kernel = to->kernel;
    for (int64_t at = 0; at < to->n; at += to->nb) {
        int width = to->n - at < to->nb ? (int)(to->n - at) : to->nb;
        struct factor_block old = factor_from(to, at + width, at);
        if (factor_column(to, at + width) == factor_column(to, at))
            continue;
        kernel->copy(factor_sized(factor_from(from, at + width, at), old.m, width),
                     factor_sized(old, old.m, width));
        if (factor_row(to, at + width) > factor_row(to, at))
            kernel->copy_lower(factor_sized(factor_from(from, at, at), width, width),
                               factor_sized(factor_from(to, at, at), width, width));
    }
}

int factor_inverse(const struct factor_matrix *l)
{
    struct factor_matrix x = *l;
    void *room = factor_room(l->kernel, (size_t)l->local.m * (size_t)l->local.n);
    if (room == NULL)
        return factor_break(&l->grid, domain_fail(COVEY_ENOMEM, "no memory for an inverse"));
    x.local = factor_packed(l, room, l->local.m, l->local.n);
    factor_identity(&x);
    struct factor_system s = {.t = l, .b = &x, .lower_only = 1};
    int error = factor_solve(&s);
    s.adjoint = 1;
    if (error == 0)
        error = factor_solve(&s);
    if (error == 0)
        take_lower(&x, l);
    free(room);
    return error;
}

/* ---- Of a general matrix --------------------------------------------------------------------- */

/* The columns of a matrix in another order, along each row of the grid: a column becomes what was
 * column from[it] of the whole. */
struct reorder {
    const struct factor_matrix *of;
    int64_t *from;
    size_t *counts; /* sent to and received from each member of the row, and where they start */
    void *sent;
};

static int column_owner(const struct factor_matrix *a, int64_t column)
{
    return (int)(column / a->nb % a->grid.columns);
}

/* What the interchanges of rows, the last one first, make of the columns. */
static int reorder_init(struct reorder *r, const struct factor_matrix *a, const int64_t *pivots)
{
    *r = (struct reorder){.of = a,
                          .from = malloc(((size_t)a->n + 1) * sizeof *r->from),
                          .counts = calloc(4 * (size_t)a->grid.columns, sizeof *r->counts),
                          .sent = factor_room(a->kernel, (size_t)a->local.m * (size_t)a->local.n)};
    if (r->from == NULL || r->counts == NULL || r->sent == NULL)
        return domain_fail(COVEY_ENOMEM, "no memory for an inverse");
    for (int64_t j = 0; j < a->n; j++)
        r->from[j] = j;
    for (int64_t j = a->n - 1; j >= 0; j--) {
        int64_t kept = r->from[j];
        r->from[j] = r->from[pivots[j]];
        r->from[pivots[j]] = kept;
    }
    return 0;
}

static void reorder_fini(struct reorder *r)
{
    free(r->from);
    free(r->counts);
    free(r->sent);
}

/* Sets how many elements each member of the row is sent, or sends, and where they start. */
static void reorder_count(struct reorder *r, int is_sent, size_t *counts, size_t *starts)
{
    const struct factor_matrix *a = r->of;
    for (int64_t j = 0; j < a->n; j++) {
        int to = column_owner(a, j), from = column_owner(a, r->from[j]);
        if ((is_sent ? from : to) == a->grid.q)
            counts[is_sent ? to : from] += (size_t)a->local.m;
    }
    for (int q = 1; q < a->grid.columns; q++)
        starts[q] = starts[q - 1] + counts[q - 1];
}

/* Between the columns of a block here and an array that has them by members. */
static void reorder_copy(const struct reorder *r, int is_sent, const size_t *starts, void *array,
                         struct factor_block block)
{
    const struct factor_matrix *a = r->of;
    size_t width = a->kernel->width;
    for (int q = 0; q < a->grid.columns; q++) {
        char *at = (char *)array + starts[q] * width;
        for (int64_t j = 0; j < a->n; j++) {
            int64_t mine = is_sent ? r->from[j] : j, other = is_sent ? j : r->from[j];
            if (column_owner(a, mine) != a->grid.q || column_owner(a, other) != q)
                continue;
            struct factor_block here = factor_part(block, width, 0, factor_column(a, mine));
            struct factor_block there = factor_packed(a, at, block.m, 1);
            here = factor_sized(here, block.m, 1);
            a->kernel->copy(is_sent ? here : there, is_sent ? there : here);
            at += (size_t)block.m * width;
        }
    }
}

/* The columns of z, one behind another, to `a`; z is overwritten. */
static int reorder_run(struct reorder *r, struct factor_block z)
{
    const struct factor_matrix *a = r->of;
    size_t columns = (size_t)a->grid.columns;
    size_t *sent = r->counts, *received = sent + columns;
    size_t *sent_starts = received + columns, *received_starts = sent_starts + columns;
    reorder_count(r, 1, sent, sent_starts);
    reorder_count(r, 0, received, received_starts);
    reorder_copy(r, 1, sent_starts, r->sent, z);
    int error = covey_alltoallv(a->grid.row, a->kernel->type, r->sent, sent, sent_starts, z.at,
                                received, received_starts);
    if (error < 0)
        return factor_break(&a->grid, domain_fail_of(error, "an inverse"));
    reorder_copy(r, 0, received_starts, z.at, a->local);
    return 0;
}

int factor_lu_inverse(const struct factor_matrix *lu, const int64_t *pivots)
{
    struct factor_matrix x = *lu;
    struct reorder reorder;
    int error = reorder_init(&reorder, lu, pivots);
    void *room = factor_room(lu->kernel, (size_t)lu->local.m * (size_t)lu->local.n);
    if (error == 0 && room == NULL)
        error = domain_fail(COVEY_ENOMEM, "no memory for an inverse");
    if (error < 0)
        factor_break(&lu->grid, error);
    x.local = factor_packed(lu, room, lu->local.m, lu->local.n);
    struct factor_system s = {.t = lu, .b = &x, .unit = 1, .lower_only = 1};
    if (error == 0) {
        factor_identity(&x);
        error = factor_solve(&s);
    }
    s = (struct factor_system){.t = lu, .b = &x, .upper = 1};
    if (error == 0)
        error = factor_solve(&s);
    if (error == 0)
        error = reorder_run(&reorder, x.local);
    reorder_fini(&reorder);
    free(room);
    return error;
}
