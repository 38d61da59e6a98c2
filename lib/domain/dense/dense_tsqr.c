/*
 * dense_tsqr.c - A = Q R of a matrix with many more rows than columns: each member factors its own
 * rows, and triangles are factored in pairs up a binary tree, the two on top of each other
 * (Demmel, Grigori, Hoemmen, Langou: Communication-optimal parallel and sequential QR and LU
 * factorizations, 2012, section 5). log2(P) messages of n^2 elements in all, where Householder's
 * reflectors of whole columns take n reductions.
 *
 * Member p receives at the levels s = 1, 2, 4 ... as long as p is a multiple of 2 s, from p + s,
 * and then sends to p - s. Q stays what it was made of: to apply its adjoint is to go up the tree
 * once more with a block of n rows, to apply Q to go down.
 *
 * A member goes through its own rows in the same way, some at a time that fit into a cache: their
 * triangle is that of the rows before, which stands in the first n of them.
 *
 * A member that has fewer rows than columns gives a triangle with rows of zeros. Those that receive
 * have n rows at least: their rows of zeros would become rows of Q that nobody has.
 */
#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense_factor.h"

#include <stdlib.h>
#include <string.h>

#define TAG_TREE 0x747371
#define T_ROWS 32 /* columns in a block of the reflectors of two triangles */
#define LEVELS 31
#define CACHED 32768 /* elements that are worked on at a time */

static int t_rows(int n)
{
    return n < T_ROWS ? n : T_ROWS;
}

/* ---- The tree -------------------------------------------------------------------------------- */

struct tree {
    const struct factor_matrix *a;
    const struct factor_q *q;
    int n, from[LEVELS], levels; /* the members from which this one receives, in this order */
    int to;                      /* to whom it sends; -1: nobody */
};

static struct tree tree_of(const struct factor_matrix *a, const struct factor_q *q)
{
    struct tree t = {.a = a, .q = q, .n = (int)a->n, .to = -1};
    int p = a->grid.p;
    for (int s = 1; s < a->grid.rows && t.to < 0; s *= 2) {
        if (p % (2 * s) != 0)
            t.to = p - s;
        else if (p + s < a->grid.rows)
            t.from[t.levels++] = p + s;
    }
    return t;
}

/* V and T of a level. */
static size_t level_count(const struct tree *t)
{
    return (size_t)t->n * (size_t)(t->n + t_rows(t->n));
}

static struct factor_block level_v(const struct tree *t, int level)
{
    char *at = (char *)t->q->tree + (size_t)level * level_count(t) * t->a->kernel->width;
    return factor_packed(t->a, at, t->n, t->n);
}

static struct factor_block level_t(const struct tree *t, int level)
{
    struct factor_block v = level_v(t, level);
    char *at = (char *)v.at + (size_t)t->n * (size_t)t->n * t->a->kernel->width;
    return factor_packed(t->a, at, t_rows(t->n), t->n);
}

static struct factor_block local_v(const struct tree *t)
{
    return factor_packed(t->a, t->q->v, t->a->local.m, t->n);
}

/* The rows that are part of the triangle given upwards. */
static int top_rows(const struct tree *t)
{
    return t->a->local.m < t->n ? t->a->local.m : t->n;
}

/* A block without gaps to or from a member of the grid column. */
static int send_block(const struct tree *t, int p, struct factor_block b)
{
    int error = covey_team_send_array(t->a->grid.column, p, TAG_TREE, t->a->kernel->type, b.at,
                                      (size_t)b.m * (size_t)b.n);
    return error < 0 ? domain_fail_of(error, "QR, a triangle upwards") : 0;
}

static int receive_block(const struct tree *t, int p, struct factor_block b)
{
    size_t count;
    int error = covey_team_recv_array(t->a->grid.column, p, TAG_TREE, COVEY_FOREVER,
                                      t->a->kernel->type, b.at, (size_t)b.m * (size_t)b.n, &count);
    return error < 0 ? domain_fail_of(error, "QR, a triangle from below") : 0;
}

static int computed(int info)
{
    return info == 0 ? 0 : domain_fail(COVEY_ENOMEM, "no memory for what LAPACK needs for QR");
}

/* ---- The rows of one member ------------------------------------------------------------------ */

static int chunk_rows(const struct tree *t)
{
    int rows = CACHED / t->n;
    return rows > 2 * t->n ? rows : 2 * t->n;
}

static int chunks_of(const struct tree *t)
{
    int whole = t->a->local.m / chunk_rows(t);
    return whole > 1 ? whole : 1;
}

/* The rows of chunk i; the last one has also those that are left. */
static struct factor_block chunk_of(const struct tree *t, struct factor_block b, int i)
{
    int rows = chunk_rows(t), is_last = i == chunks_of(t) - 1;
    struct factor_block chunk = factor_part(b, t->a->kernel->width, i * rows, 0);
    return factor_sized(chunk, is_last ? chunk.m : rows, b.n);
}

static struct factor_block chunk_t(const struct tree *t, int i)
{
    size_t skipped = (size_t)i * (size_t)t_rows(t->n) * (size_t)t->n * t->a->kernel->width;
    return factor_packed(t->a, (char *)t->q->t + skipped, t_rows(t->n), t->n);
}

static int factor_chunks(const struct tree *t, struct factor_block v)
{
    const struct factor_kernel *kernel = t->a->kernel;
    int info = kernel->qr(chunk_of(t, v, 0), t->q->tau);
    for (int i = 1; i < chunks_of(t) && info == 0; i++)
        info = kernel->stack(factor_sized(v, t->n, t->n), chunk_of(t, v, i), chunk_t(t, i));
    return computed(info);
}

/* B = Q B, or Q^H B, with Q of these rows alone. */
static int apply_chunks(const struct tree *t, int adjoint, struct factor_block b)
{
    const struct factor_kernel *kernel = t->a->kernel;
    struct factor_block v = local_v(t), top = factor_sized(b, t->n, b.n);
    int count = chunks_of(t), info = 0;
    if (adjoint)
        info = kernel->apply(chunk_of(t, v, 0), t->q->tau, 1, chunk_of(t, b, 0));
    for (int k = 1; k < count && info == 0; k++) {
        int i = adjoint ? k : count - k;
        info = kernel->apply_stack(chunk_of(t, v, i), chunk_t(t, i), adjoint,
                                   (const struct factor_block[]){top, chunk_of(t, b, i)});
    }
    if (!adjoint && info == 0)
        info = kernel->apply(chunk_of(t, v, 0), t->q->tau, 0, chunk_of(t, b, 0));
    return computed(info);
}

/* ---- Factorisation --------------------------------------------------------------------------- */

static int reduce_rows(const struct tree *t, struct factor_block r)
{
    const struct factor_matrix *a = t->a;
    struct factor_block v = local_v(t);
    a->kernel->copy(a->local, v);
    a->kernel->clear(r);
    if (v.m == 0)
        return 0;
    int error = factor_chunks(t, v);
    a->kernel->copy(factor_sized(v, top_rows(t), t->n), r);
    a->kernel->make_upper(r);
    return error;
}

static int reduce_triangles(const struct tree *t, struct factor_block r)
{
    int error = 0;
    for (int level = 0; level < t->levels && error == 0; level++) {
        error = receive_block(t, t->from[level], level_v(t, level));
        if (error == 0)
            error = computed(t->a->kernel->stack(r, level_v(t, level), level_t(t, level)));
    }
    return error == 0 && t->to >= 0 ? send_block(t, t->to, r) : error;
}

/* The rows of R that are this member's. */
static void place_r(const struct factor_matrix *a, struct factor_block r)
{
    for (int i = 0; i < r.n; i++)
        if (factor_row(a, i + 1) > factor_row(a, i))
            a->kernel->copy(factor_sized(factor_part(r, a->kernel->width, i, i), 1, r.n - i),
                            factor_sized(factor_from(a, i, i), 1, r.n - i));
}

int factor_qr_tree(const struct factor_matrix *a, struct factor_q *q)
{
    const struct factor_kernel *kernel = a->kernel;
    struct tree t = tree_of(a, q);
    size_t n = (size_t)t.n;
    factor_q_free(q);
    q->v = factor_room(kernel, (size_t)a->local.m * n);
    q->tau = factor_room(kernel, n);
    q->r = factor_room(kernel, n * n);
    q->tree = factor_room(kernel, (size_t)t.levels * level_count(&t));
    if (t.n > 0)
        q->t = factor_room(kernel, (size_t)chunks_of(&t) * (size_t)t_rows(t.n) * n);
    if ((t.n > 0 && q->t == NULL) || q->v == NULL || q->tau == NULL || q->r == NULL ||
        q->tree == NULL)
        return factor_break(&a->grid, domain_fail(COVEY_ENOMEM, "no memory for QR"));
    if (t.n == 0)
        return 0;
    struct factor_block r = factor_packed(a, q->r, t.n, t.n);
    int error = reduce_rows(&t, r);
    if (error == 0)
        error = reduce_triangles(&t, r);
    if (error < 0)
        return factor_break(&a->grid, error);
    error =
        factor_bcast((struct factor_call){a, a->grid.column, "QR, the triangle"}, 0, q->r, n * n);
    if (error == 0)
        place_r(a, r);
    return error;
}

/* ---- What Q is for --------------------------------------------------------------------------- */

/* `top` becomes, at the root, the first n rows of Q^H B; B is changed. `other` is as large. */
static int go_up(const struct tree *t, struct factor_block b, struct factor_block top,
                 struct factor_block other)
{
    const struct factor_kernel *kernel = t->a->kernel;
    int error = 0;
    if (b.m > 0)
        error = apply_chunks(t, 1, b);
    kernel->clear(top);
    kernel->copy(factor_sized(b, top_rows(t), b.n), top);
    for (int level = 0; level < t->levels && error == 0; level++) {
        error = receive_block(t, t->from[level], other);
        if (error == 0)
            error = computed(kernel->apply_stack(level_v(t, level), level_t(t, level), 1,
                                                 (const struct factor_block[]){top, other}));
    }
    return error == 0 && t->to >= 0 ? send_block(t, t->to, top) : error;
}

/* B becomes Q times the n rows that are in `top` at the root. */
static int go_down(const struct tree *t, struct factor_block b, struct factor_block top,
                   struct factor_block other)
{
    const struct factor_kernel *kernel = t->a->kernel;
    int error = t->to >= 0 ? receive_block(t, t->to, top) : 0;
    for (int level = t->levels - 1; level >= 0 && error == 0; level--) {
        kernel->clear(other);
        error = computed(kernel->apply_stack(level_v(t, level), level_t(t, level), 0,
                                             (const struct factor_block[]){top, other}));
        if (error == 0)
            error = send_block(t, t->from[level], other);
    }
    if (error < 0 || b.m == 0)
        return error;
    kernel->clear(b);
    kernel->copy(factor_sized(top, top_rows(t), b.n), b);
    return apply_chunks(t, 0, b);
}

struct halves {
    void *room;
    struct factor_block top, other;
};

static int halves_init(const struct tree *t, int columns, struct halves *h)
{
    const struct factor_matrix *a = t->a;
    size_t count = (size_t)t->n * (size_t)columns;
    h->room = factor_room(a->kernel, 2 * count);
    if (h->room == NULL)
        return factor_break(&a->grid, domain_fail(COVEY_ENOMEM, "no memory to apply Q"));
    h->top = factor_packed(a, h->room, t->n, columns);
    h->other = factor_packed(a, (char *)h->room + count * a->kernel->width, t->n, columns);
    return 0;
}

int factor_qr_tree_solve(const struct factor_matrix *a, const struct factor_q *q,
                         const struct factor_matrix *b)
{
    struct tree t = tree_of(a, q);
    struct halves h;
    if (t.n == 0 || b->n == 0)
        return 0;
    int error = halves_init(&t, (int)b->n, &h);
    if (error < 0)
        return error;
    error = go_up(&t, b->local, h.top, h.other);
    if (error < 0) {
        error = factor_break(&a->grid, error);
    } else {
        struct factor_triangle r = {.of = factor_packed(a, q->r, t.n, t.n), .upper = 1};
        if (t.to < 0)
            a->kernel->solve(r, 0, h.top);
        error = factor_bcast((struct factor_call){a, a->grid.column, "QR, the solution"}, 0, h.room,
                             (size_t)t.n * (size_t)b->n);
    }
    for (int i = 0; i < t.n && error == 0; i++)
        if (factor_row(b, i + 1) > factor_row(b, i))
            a->kernel->copy(factor_sized(factor_part(h.top, a->kernel->width, i, 0), 1, h.top.n),
                            factor_sized(factor_from(b, i, 0), 1, h.top.n));
    free(h.room);
    return error;
}

int factor_qr_tree_form(const struct factor_matrix *a, const struct factor_q *q,
                        const struct factor_matrix *b)
{
    struct tree t = tree_of(a, q);
    struct halves h;
    if (t.n == 0)
        return 0;
    int error = halves_init(&t, t.n, &h);
    if (error < 0)
        return error;
    a->kernel->make_unit_lower(h.top); /* of zeros: ones */
    error = go_down(&t, b->local, h.top, h.other);
    free(h.room);
    return error < 0 ? factor_break(&a->grid, error) : 0;
}
