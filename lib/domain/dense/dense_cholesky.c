/*
 * dense_cholesky.c - A = L L^H on a grid of members, block column by block column.
 *
 * Right-looking: what a block column takes from all columns behind it is subtracted at once. Three
 * calls a block column: its diagonal block down the grid column, the panel below it along the grid
 * rows, and of the panel what stands for the columns of a member, collected in each grid column.
 * This is ScaLAPACK's PxPOTRF (Choi, Dongarra, Ostrouchov, Petitet, Walker, Whaley: Design and
 * implementation of the ScaLAPACK LU, QR, and Cholesky factorization routines, 1996), and looks
 * ahead where there are several grid columns: the one that has the next block column updates that
 * first, and its panel is on its way while all update the rest.
 *
 * Left-looking: a block column is computed when its turn comes, by what stands before it. The
 * blocks left of its diagonal go down the grid columns, products are added along the grid rows, and
 * the diagonal block goes down one grid column. On a grid of one column the first and the last are
 * one message, and nothing is added: a single broadcast a block column.
 */
#include "lib/domain/dense/dense_factor.h"

#include "lib/domain/base/error.h"

#include <stdlib.h>
#include <string.h>

#define UPDATE_COLUMNS 256 /* of the block columns that are updated at once, at least */

/* One factorisation under way. */
struct cholesky {
    const struct factor_matrix *a;
    char *room;    /* of two panels, of which one is on its way while the other one is used */
    char *info_at; /* encoded, in front */
    char *panel;   /* what of a block column lies here, or its diagonal block */
    struct dense_cast casts[2];
    char *others; /* of the panel the rows that are columns here; or of a block row */
    char *piece;  /* what this member gives of them, and then the rows in the order of columns */
    size_t *counts;
    int64_t info;
};

/* Block column k: where it begins, how wide it is, who has its diagonal block. */
struct step {
    int64_t at;
    int width, p, q;
    int is_row, is_column; /* this member is in its grid row, its grid column */
};

static struct step step_of(const struct factor_matrix *a, int64_t k)
{
    const struct factor_grid *g = &a->grid;
    int64_t at = k * a->nb, rest = a->n - at;
    struct step s = {.at = at,
                     .width = rest < a->nb ? (int)rest : a->nb,
                     .p = (int)(k % g->rows),
                     .q = (int)(k % g->columns)};
    s.is_row = s.p == g->p;
    s.is_column = s.q == g->q;
    return s;
}

static void cholesky_fini(struct cholesky *c)
{
    dense_cast_free(&c->casts[0]);
    dense_cast_free(&c->casts[1]);
    free(c->room);
    free(c->others);
    free(c->piece);
    free(c->counts);
}

/* The elements of a panel, with what stands in front of it. */
static size_t panel_elements(const struct factor_matrix *a)
{
    size_t nb = (size_t)a->nb, tall = (size_t)a->local.m > nb ? (size_t)a->local.m : nb;
    return FACTOR_INFO + tall * nb;
}

/* The buffer of block column k is the one that is meant from now on. */
static void take_buffer(struct cholesky *c, int64_t k)
{
    c->info_at = c->room + (k % 2 == 0 ? 0 : panel_elements(c->a) * c->a->kernel->width);
    c->panel = c->info_at + FACTOR_INFO * c->a->kernel->width;
}

/* `other` elements fit into c->others and c->piece. */
static int cholesky_init(struct cholesky *c, const struct factor_matrix *a, size_t other)
{
    *c = (struct cholesky){.a = a,
                           .room = factor_room(a->kernel, 2 * panel_elements(a)),
                           .others = factor_room(a->kernel, other),
                           .piece = factor_room(a->kernel, other),
                           .counts = calloc((size_t)a->grid.rows, sizeof *c->counts)};
    take_buffer(c, 0);
    if (c->room != NULL && c->others != NULL && c->piece != NULL && c->counts != NULL)
        return 0;
    cholesky_fini(c);
    return factor_break(&a->grid, domain_fail(COVEY_ENOMEM, "no memory for a Cholesky panel"));
}

/* How many elements of a diagonal block others need: none where nothing is below it. */
static size_t diagonal_elements(const struct factor_matrix *a, const struct step *s)
{
    return s->at + s->width < a->n ? (size_t)s->width * (size_t)s->width : 0;
}

static struct factor_block diagonal(const struct factor_matrix *a, const struct step *s)
{
    return factor_sized(factor_from(a, s->at, s->at), s->width, s->width);
}

/* Factors the diagonal block where it lies, and divides the panel below it: calls of the grid
 * column alone. */
static int factor_panel(struct cholesky *c, const struct step *s)
{
    const struct factor_matrix *a = c->a;
    struct factor_block l = factor_packed(a, c->panel, s->width, s->width);
    struct factor_block below = factor_from(a, s->at + s->width, s->at);
    if (s->is_row) {
        int minor = a->kernel->cholesky(diagonal(a, s));
        if (minor > 0 && c->info == 0)
            c->info = s->at + minor;
        factor_put(a, c->info, c->info_at);
        a->kernel->copy(diagonal(a, s), l);
    }
    int error = factor_bcast((struct factor_call){a, a->grid.column, "Cholesky, a diagonal block"},
                             s->p, c->info_at, FACTOR_INFO + diagonal_elements(a, s));
    if (error < 0)
        return error;
    c->info = factor_get(a, c->info_at);
    if (c->info == 0)
        a->kernel->solve((struct factor_triangle){.of = l, .adjoint = 1}, 1,
                         factor_sized(below, below.m, s->width));
    return 0;
}

/* ---- Right-looking --------------------------------------------------------------------------- */

static struct factor_call of_row(const struct cholesky *c)
{
    return (struct factor_call){c->a, c->a->grid.row, "Cholesky, a panel"};
}

/* Factors block column k, and begins to send it to all members of the grid row: c->panel. */
static int start_panel(struct cholesky *c, int64_t k)
{
    const struct factor_matrix *a = c->a;
    struct step s = step_of(a, k);
    struct factor_block below = factor_from(a, s.at + s.width, s.at);
    int error = 0;
    take_buffer(c, k);
    if (s.is_column) {
        error = factor_panel(c, &s);
        below = factor_sized(below, below.m, s.width);
        factor_put(a, c->info, c->info_at);
        a->kernel->copy(below, factor_packed(a, c->panel, below.m, s.width));
    }
    if (error < 0)
        return error;
    return factor_cast_begin(of_row(c), &c->casts[k % 2], s.q, c->info_at,
                             FACTOR_INFO + (size_t)below.m * (size_t)s.width);
}

static int64_t blocks_of(const struct factor_matrix *a)
{
    return (a->n + a->nb - 1) / a->nb;
}

/* The first block column from k on that lies here, or one behind the last. */
static int64_t next_block(const struct factor_matrix *a, int64_t k)
{
    while (k < blocks_of(a) && k % a->grid.columns != a->grid.q)
        k++;
    return k;
}

/* What of the panel stands for columns here and lies here, block after block; counts[p] becomes
 * the elements that all members of this grid column give. */
static void make_piece(struct cholesky *c, int64_t k, const struct step *s)
{
    const struct factor_matrix *a = c->a;
    int before = factor_row(a, s->at + s->width);
    struct factor_block panel = factor_packed(a, c->panel, a->local.m - before, s->width);
    char *to = c->piece;
    memset(c->counts, 0, (size_t)a->grid.rows * sizeof *c->counts);
    for (int64_t block = next_block(a, k + 1); block < blocks_of(a);
         block = next_block(a, block + 1)) {
        struct step b = step_of(a, block);
        size_t count = (size_t)b.width * (size_t)s->width;
        c->counts[b.p] += count;
        if (!b.is_row)
            continue;
        struct factor_block rows =
            factor_part(panel, a->kernel->width, factor_row(a, b.at) - before, 0);
        a->kernel->copy(factor_sized(rows, b.width, s->width),
                        factor_packed(a, to, b.width, s->width));
        to += count * a->kernel->width;
    }
}

/* What was collected, from grid row to grid row, becomes one matrix in the place of the piece, its
 * rows in the order of the columns here. */
static struct factor_block ordered(struct cholesky *c, int64_t k, const struct step *s)
{
    const struct factor_matrix *a = c->a;
    size_t width = a->kernel->width, at = 0;
    int before = factor_column(a, s->at + s->width);
    struct factor_block all = factor_packed(a, c->piece, a->local.n - before, s->width);
    for (int p = 0; p < a->grid.rows; p++) {
        size_t count = c->counts[p];
        c->counts[p] = at;
        at += count;
    }
    for (int64_t block = next_block(a, k + 1); block < blocks_of(a);
         block = next_block(a, block + 1)) {
        struct step b = step_of(a, block);
        struct factor_block to = factor_part(all, width, factor_column(a, b.at) - before, 0);
        a->kernel->copy(factor_packed(a, c->others + c->counts[b.p] * width, b.width, s->width),
                        factor_sized(to, b.width, s->width));
        c->counts[b.p] += (size_t)b.width * (size_t)s->width;
    }
    return all;
}

/* What a step subtracts: the panel's local rows, and those that stand for columns. */
struct products {
    struct step s;
    struct factor_block rows, columns;
};

/* A -= panel times its rows that stand for columns, of these global columns
 * and rows, as far as they lie here. */
static void subtract(const struct cholesky *c, const struct products *p, const int64_t columns[2],
                     const int64_t rows[2])
{
    const struct factor_matrix *a = c->a;
    size_t width = a->kernel->width;
    int64_t behind = p->s.at + p->s.width;
    int top = factor_row(a, rows[0]), left = factor_column(a, columns[0]);
    int m = factor_row(a, rows[1]) - top, n = factor_column(a, columns[1]) - left;
    struct factor_block of_rows = factor_part(p->rows, width, top - factor_row(a, behind), 0);
    struct factor_block of_columns =
        factor_part(p->columns, width, left - factor_column(a, behind), 0);
    a->kernel->gemm((const int[]){0, 1},
                    (const struct factor_block[]){factor_sized(of_rows, m, p->s.width),
                                                  factor_sized(of_columns, n, p->s.width)},
                    -1, 1, factor_sized(factor_from(a, rows[0], columns[0]), m, n));
}

/* The diagonal block of a block column, and what is below it and above row `end`. */
static void subtract_corner(const struct cholesky *c, const struct products *p, int64_t block,
                            int64_t end)
{
    const struct factor_matrix *a = c->a;
    struct step b = step_of(a, block);
    int64_t behind = p->s.at + p->s.width;
    if (b.is_row) {
        struct factor_block columns = factor_part(
            p->columns, a->kernel->width, factor_column(a, b.at) - factor_column(a, behind), 0);
        a->kernel->herk(factor_sized(columns, b.width, p->s.width), diagonal(a, &b));
    }
    subtract(c, p, (const int64_t[]){b.at, b.at + b.width}, (const int64_t[]){b.at + b.width, end});
}

/* Block columns [first, last) that lie here. Products of many columns are faster than those of one
 * block: several block columns are subtracted at once from what is below all of them. Between them
 * the next panel is passed on. */
static int update(struct cholesky *c, const struct products *p, int64_t first, int64_t last)
{
    const struct factor_matrix *a = c->a;
    struct dense_cast *under_way = &c->casts[(p->s.at / a->nb + 1) % 2];
    int error = 0;
    for (int64_t block = next_block(a, first); block < last && error == 0;) {
        int64_t from = block, end = from;
        for (int n = 0; block < last && n < UPDATE_COLUMNS; block = next_block(a, block + 1)) {
            n += a->nb;
            end = block + 1;
        }
        int64_t below = end * a->nb < a->n ? end * a->nb : a->n;
        for (int64_t k = from; k < end; k = next_block(a, k + 1))
            subtract_corner(c, p, k, below);
        subtract(c, p, (const int64_t[]){from * a->nb, below}, (const int64_t[]){below, a->n});
        error = factor_cast_poll(of_row(c), under_way);
    }
    return error;
}

/* The next panel is on its way before the rest is updated, where that gains something. */
static int update_and_start(struct cholesky *c, int64_t k, const struct products *p)
{
    int64_t all = blocks_of(c->a), next = k + 1, first = next;
    int is_ahead = c->a->grid.columns > 1 && next < all, error = 0;
    if (is_ahead) {
        error = update(c, p, next, ++first);
        if (error == 0)
            error = start_panel(c, next);
    }
    if (error == 0)
        error = update(c, p, first, all);
    return error < 0 || is_ahead || next == all ? error : start_panel(c, next);
}

static int right_step(struct cholesky *c, int64_t k)
{
    const struct factor_matrix *a = c->a;
    struct products p = {.s = step_of(a, k)};
    int64_t behind = p.s.at + p.s.width;
    int error = factor_cast_wait(of_row(c), &c->casts[k % 2]);
    if (error < 0)
        return error;
    take_buffer(c, k);
    c->info = factor_get(a, c->info_at);
    if (c->info != 0)
        return factor_cast_end(of_row(c), &c->casts[k % 2]);
    make_piece(c, k, &p.s);
    error = factor_gather((struct factor_call){a, a->grid.column, "Cholesky, a panel's columns"},
                          c->piece, c->others, c->counts);
    if (error < 0)
        return error;
    p.rows = factor_packed(a, c->panel, a->local.m - factor_row(a, behind), p.s.width);
    p.columns = ordered(c, k, &p.s);
    error = update_and_start(c, k, &p);
    return error < 0 ? error : factor_cast_end(of_row(c), &c->casts[k % 2]);
}

int factor_cholesky_right(const struct factor_matrix *a, int64_t *info)
{
    struct cholesky c;
    int64_t stopped = 0;
    int error = cholesky_init(&c, a, (size_t)a->local.n * (size_t)a->nb);
    if (error < 0)
        return error;
    if (a->n > 0)
        error = start_panel(&c, 0);
    for (int64_t k = 0; k < blocks_of(a) && error == 0 && stopped == 0; k++) {
        error = right_step(&c, k);
        take_buffer(&c, k);
        stopped = error == 0 ? factor_get(a, c.info_at) : 0;
    }
    *info = stopped;
    cholesky_fini(&c);
    return error;
}

/* ---- Left-looking ---------------------------------------------------------------------------- */

/* The blocks left of the diagonal of block row k, of the columns here, at c->others. */
static int spread_row(struct cholesky *c, const struct step *s)
{
    const struct factor_matrix *a = c->a;
    int before = factor_column(a, s->at);
    if (s->is_row)
        a->kernel->copy(factor_sized(factor_from(a, s->at, 0), s->width, before),
                        factor_packed(a, c->others, s->width, before));
    return factor_bcast((struct factor_call){a, a->grid.column, "Cholesky, a block row"}, s->p,
                        c->others, (size_t)s->width * (size_t)before);
}

/* Subtracts from block column k what the columns before it give: sums over the grid rows. */
static int subtract_before(struct cholesky *c, const struct step *s)
{
    const struct factor_matrix *a = c->a;
    int before = factor_column(a, s->at);
    struct factor_block left = factor_from(a, s->at, 0);
    struct factor_block row = factor_packed(a, c->others, s->width, before);
    struct factor_block sums = factor_packed(a, c->panel, left.m, s->width);
    left = factor_sized(left, left.m, before);
    a->kernel->clear(sums);
    if (before > 0)
        a->kernel->gemm((const int[]){0, 1}, (const struct factor_block[]){left, row}, -1, 0, sums);
    int error = factor_sum_at((struct factor_call){a, a->grid.row, "Cholesky, a block column"},
                              s->q, c->panel, (size_t)left.m * (size_t)s->width);
    if (error < 0 || !s->is_column)
        return error;
    int skipped = s->is_row ? s->width : 0;
    struct factor_block below = factor_from(a, s->at + s->width, s->at);
    if (s->is_row)
        a->kernel->add_lower(factor_sized(sums, s->width, s->width), diagonal(a, s));
    a->kernel->add(factor_part(sums, a->kernel->width, skipped, 0),
                   factor_sized(below, below.m, s->width));
    return 0;
}

/* Where one grid column has all columns: the diagonal block is computed before its row is sent, and
 * goes with it, info in front. */
static int left_step_alone(struct cholesky *c, const struct step *s)
{
    const struct factor_matrix *a = c->a;
    size_t width = a->kernel->width;
    int columns = (int)s->at;
    struct factor_block row = factor_packed(a, c->others + FACTOR_INFO * width, s->width, columns);
    char *end = (char *)row.at + (size_t)s->width * (size_t)columns * width;
    struct factor_block l = factor_packed(a, end, s->width, s->width);
    struct factor_block left = factor_sized(factor_from(a, s->at, 0), s->width, columns);
    if (s->is_row) {
        a->kernel->copy(left, row);
        if (columns > 0)
            a->kernel->herk(left, diagonal(a, s));
        int minor = a->kernel->cholesky(diagonal(a, s));
        c->info = minor > 0 ? s->at + minor : 0;
        a->kernel->copy(diagonal(a, s), l);
        factor_put(a, c->info, c->others);
    }
    size_t diagonal_count = diagonal_elements(a, s);
    size_t row_count = diagonal_count > 0 ? (size_t)s->width * (size_t)columns : 0;
    int error = factor_bcast((struct factor_call){a, a->grid.column, "Cholesky, a block row"}, s->p,
                             c->others, FACTOR_INFO + row_count + diagonal_count);
    if (error < 0)
        return error;
    c->info = factor_get(a, c->others);
    struct factor_block rest = factor_from(a, s->at + s->width, s->at);
    struct factor_block before = factor_from(a, s->at + s->width, 0);
    rest = factor_sized(rest, rest.m, s->width);
    if (columns > 0)
        a->kernel->gemm((const int[]){0, 1},
                        (const struct factor_block[]){factor_sized(before, before.m, columns), row},
                        -1, 1, rest);
    if (c->info == 0)
        a->kernel->solve((struct factor_triangle){.of = l, .adjoint = 1}, 1, rest);
    return 0;
}

/* Members of other grid columns do not hear of a failure before the end: they go on, and what they
 * compute is not used. */
static int left_step(struct cholesky *c, const struct step *s)
{
    int error = spread_row(c, s);
    if (error == 0)
        error = subtract_before(c, s);
    if (error == 0 && s->is_column)
        error = factor_panel(c, s);
    return error;
}

int factor_cholesky_left(const struct factor_matrix *a, int64_t *info)
{
    struct cholesky c;
    size_t nb = (size_t)a->nb;
    int is_alone = a->grid.columns == 1, stop = 0;
    int error = cholesky_init(&c, a, FACTOR_INFO + ((size_t)a->local.n + nb) * nb);
    if (error < 0)
        return error;
    for (int64_t k = 0; k < blocks_of(a) && error == 0 && !stop; k++) {
        struct step s = step_of(a, k);
        error = is_alone ? left_step_alone(&c, &s) : left_step(&c, &s);
        stop = is_alone && c.info != 0;
    }
    *info = c.info;
    cholesky_fini(&c);
    return error;
}
