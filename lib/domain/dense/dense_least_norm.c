/*
 * dense_least_norm.c - the shortest X of A X = B where A = Q R has fewer rows than columns.
 *
 * R^H = S U is factored once more, S with as many columns as A has rows, and then
 * X = S U^-H Q^H B. R^H is made by moving each block of R to the member that has it there: a
 * complete exchange.
 */
#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense_factor.h"

#include <stdlib.h>

/* ---- The adjoint ----------------------------------------------------------------------------- */

/* What one member sends, or gets, of all blocks, and to or from whom. */
struct exchange {
    char *data;
    size_t *counts, *starts, *next; /* by rank */
};

static int exchange_init(struct exchange *e, const struct factor_matrix *a, size_t elements)
{
    size_t members = (size_t)covey_team_size(a->grid.team);
    *e = (struct exchange){.data = factor_room(a->kernel, elements),
                           .counts = calloc(members, sizeof(size_t)),
                           .starts = calloc(members, sizeof(size_t)),
                           .next = calloc(members, sizeof(size_t))};
    return e->data != NULL && e->counts != NULL && e->starts != NULL && e->next != NULL;
}

static void exchange_fini(struct exchange *e)
{
    free(e->data);
    free(e->counts);
    free(e->starts);
    free(e->next);
}

static int width_of(int64_t n, int64_t block, int nb)
{
    return n - block * nb < nb ? (int)(n - block * nb) : nb;
}

typedef void block_fn(struct exchange *e, const struct factor_matrix *m, const int64_t block[2],
                      int rank);

/* Block (J, I) of A lies at (J mod rows, I mod columns), and as (I, J) of the adjoint elsewhere:
 * all of them that this member has of A, or with `is_adjoint` of that, in one order. */
static void each_block(struct exchange *e, const struct factor_matrix *m, int is_adjoint,
                       block_fn *fn)
{
    const struct factor_grid *g = &m->grid;
    int64_t rows = is_adjoint ? m->n : m->m, columns = is_adjoint ? m->m : m->n; /* of A */
    for (int64_t j = 0; j * m->nb < rows; j++)
        for (int64_t i = 0; i * m->nb < columns; i++) {
            int in_a[] = {(int)(j % g->rows), (int)(i % g->columns)};
            int in_adjoint[] = {(int)(i % g->rows), (int)(j % g->columns)};
            const int *here = is_adjoint ? in_adjoint : in_a;
            const int *there = is_adjoint ? in_a : in_adjoint;
            if (here[0] == g->p && here[1] == g->q)
                fn(e, m, is_adjoint ? (int64_t[]){i, j} : (int64_t[]){j, i},
                   there[0] * g->columns + there[1]);
        }
}

static void count_block(struct exchange *e, const struct factor_matrix *m, const int64_t block[2],
                        int rank)
{
    e->counts[rank] +=
        (size_t)width_of(m->m, block[0], m->nb) * (size_t)width_of(m->n, block[1], m->nb);
}

static void find_starts(struct exchange *e, const struct factor_matrix *m)
{
    size_t at = 0;
    for (int rank = 0; rank < covey_team_size(m->grid.team); rank++) {
        e->starts[rank] = e->next[rank] = at;
        at += e->counts[rank];
    }
}

/* The place of the next block to or from that rank. */
static void *next_place(struct exchange *e, const struct factor_matrix *m, int rank, size_t count)
{
    void *place = e->data + e->next[rank] * m->kernel->width;
    e->next[rank] += count;
    return place;
}

static void pack_block(struct exchange *e, const struct factor_matrix *m, const int64_t block[2],
                       int rank)
{
    int rows = width_of(m->m, block[0], m->nb), columns = width_of(m->n, block[1], m->nb);
    void *place = next_place(e, m, rank, (size_t)rows * (size_t)columns);
    struct factor_block from = factor_from(m, block[0] * m->nb, block[1] * m->nb);
    m->kernel->copy_adjoint(factor_sized(from, rows, columns),
                            factor_packed(m, place, columns, rows));
}

static void unpack_block(struct exchange *e, const struct factor_matrix *m, const int64_t block[2],
                         int rank)
{
    int rows = width_of(m->m, block[0], m->nb), columns = width_of(m->n, block[1], m->nb);
    void *place = next_place(e, m, rank, (size_t)rows * (size_t)columns);
    struct factor_block to = factor_from(m, block[0] * m->nb, block[1] * m->nb);
    m->kernel->copy(factor_packed(m, place, rows, columns), factor_sized(to, rows, columns));
}

/* `adjoint` becomes that of A. A call of the whole team: members outside the grid have p = -1. */
static int make_adjoint(const struct factor_matrix *a, const struct factor_matrix *adjoint)
{
    struct exchange out, in;
    size_t here = (size_t)a->local.m * (size_t)a->local.n;
    size_t there = (size_t)adjoint->local.m * (size_t)adjoint->local.n;
    int good = exchange_init(&out, a, here), error = 0;
    if (!exchange_init(&in, a, there) || !good) {
        error = factor_break(&a->grid, domain_fail(COVEY_ENOMEM, "no memory for an adjoint"));
    } else {
        each_block(&out, a, 0, count_block);
        each_block(&in, adjoint, 1, count_block);
        find_starts(&out, a);
        find_starts(&in, a);
        each_block(&out, a, 0, pack_block);
        error = covey_alltoallv(a->grid.team, a->kernel->type, out.data, out.counts, out.starts,
                                in.data, in.counts, in.starts);
        if (error < 0)
            error = factor_break(&a->grid, domain_fail_of(error, "moving an adjoint"));
        else
            each_block(&in, adjoint, 1, unpack_block);
    }
    exchange_fini(&out);
    exchange_fini(&in);
    return error;
}

/* Nothing of Q, which stands in the other half. */
static void clear_upper(const struct factor_matrix *adjoint)
{
    for (int64_t j = 1; j < adjoint->n; j++) {
        int column = factor_column(adjoint, j);
        if (factor_column(adjoint, j + 1) == column)
            continue;
        struct factor_block all = factor_part(adjoint->local, adjoint->kernel->width, 0, column);
        adjoint->kernel->clear(factor_sized(all, factor_row(adjoint, j), 1));
    }
}

/* ---- The solution ---------------------------------------------------------------------------- */

/* The first rows of B, as many as A has. */
static struct factor_matrix rows_of(const struct factor_matrix *b, const struct factor_matrix *a)
{
    struct factor_matrix rows = *b;
    rows.m = a->m;
    rows.local = factor_sized(b->local, a->local.m, b->local.n);
    return rows;
}

/* `s` is Q of the adjoint. */
static int solve(const struct factor_matrix *a, const struct factor_q *q,
                 const struct factor_matrix *b, const struct factor_matrix *adjoint,
                 const struct factor_q *s)
{
    struct factor_matrix rows = rows_of(b, a);
    int error = factor_qr_apply(a, q, 1, &rows);
    if (error == 0)
        error = factor_solve(
            &(struct factor_system){.t = adjoint, .b = &rows, .upper = 1, .adjoint = 1});
    if (error < 0)
        return error;
    b->kernel->clear(factor_part(b->local, b->kernel->width, a->local.m, 0));
    return factor_qr_apply(adjoint, s, 0, b);
}

static int factor_and_solve(const struct factor_matrix *a, const struct factor_q *q,
                            const struct factor_matrix *b, const struct factor_matrix *adjoint,
                            int64_t *info)
{
    struct factor_q s = {.t = NULL};
    int is_inside = a->grid.p >= 0, error = make_adjoint(a, adjoint);
    *info = 0;
    if (error == 0 && is_inside) {
        clear_upper(adjoint);
        error = factor_qr_blocked(adjoint, &s);
        *info = error == 0 ? factor_first_zero(adjoint) : 0;
    }
    if (error == 0)
        error = factor_first(a, info);
    if (error == 0 && *info == 0 && is_inside)
        error = solve(a, q, b, adjoint, &s);
    factor_q_free(&s);
    return error;
}

int factor_least_norm(const struct factor_matrix *a, const struct factor_q *q,
                      const struct factor_matrix *b, int64_t *info)
{
    struct factor_matrix adjoint = *a;
    int is_inside = a->grid.p >= 0;
    adjoint.m = a->n;
    adjoint.n = a->m;
    int m = is_inside ? factor_mine(a->n, a->nb, a->grid.p, a->grid.rows) : 0;
    int n = is_inside ? factor_mine(a->m, a->nb, a->grid.q, a->grid.columns) : 0;
    void *room = factor_room(a->kernel, (size_t)m * (size_t)n);
    if (room == NULL)
        return factor_break(&a->grid, domain_fail(COVEY_ENOMEM, "no memory for an adjoint"));
    adjoint.local = factor_packed(a, room, m, n);
    int error = factor_and_solve(a, q, b, &adjoint, info);
    free(room);
    return error;
}
