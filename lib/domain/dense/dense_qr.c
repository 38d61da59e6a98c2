/*
 * dense_qr.c - A = Q R by blocked Householder reflectors on a grid of members.
 *
 * The columns of a panel are reduced one after another. Two reductions a column would be needed, of
 * its length and of its products with the columns behind it. Here they are one: the products are
 * made with the column as it is, and what the reflector takes from each follows from them. Then one
 * reduction gives V^H V, out of which the triangular factor T of the block reflector
 * 1 - V T V^H is made (Schreiber and Van Loan, A storage-efficient WY representation, 1989), V and
 * T go along the grid rows, and a reduction down the grid columns gives V^H times the rest. Where a
 * grid column is one member, LAPACK reduces the panel by halves.
 *
 * Where there are several grid columns, the one that has the next panel updates that first; so its
 * reflector is on its way while all update the rest.
 *
 * The lengths are sums of squares. So that none is too large or too small for a number, A is
 * multiplied by a power of two before, and R divided by it afterwards.
 */
#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense_factor.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums of squares of numbers below and above are not trusted. */
#define SMALL_FLOAT 1e-10
#define SMALL_DOUBLE 1e-100

/* One is used while the next one is on its way: they take turns in these. */
struct buffer {
    void *t_v; /* of a panel T, width x width, and V behind it, as it lies in this grid row */
    struct dense_cast cast;
};

#define UPDATE_COLUMNS 512 /* at once, between which a panel is passed on */

struct qr {
    const struct factor_matrix *a;
    const struct factor_q *q;
    struct buffer buffers[2];
    void *sums; /* two rows of a panel, V^H V, or V^H C */
    void *taus;
};

struct panel {
    int64_t at;
    int width, p, q;
    int is_column;
    int rows; /* here, from its diagonal on */
    int turn; /* its buffer */
};

static int64_t reflectors_of(const struct factor_matrix *a)
{
    return a->m < a->n ? a->m : a->n;
}

static int64_t panels_of(const struct factor_matrix *a)
{
    return (reflectors_of(a) + a->nb - 1) / a->nb;
}

static struct panel panel_of(const struct factor_matrix *a, int64_t k)
{
    int64_t at = k * a->nb, rest = reflectors_of(a) - at;
    struct panel p = {.at = at,
                      .width = rest < a->nb ? (int)rest : a->nb,
                      .p = (int)(k % a->grid.rows),
                      .q = (int)(k % a->grid.columns),
                      .rows = a->local.m - factor_row(a, at),
                      .turn = (int)(k % 2)};
    p.is_column = p.q == a->grid.q;
    return p;
}

void factor_q_free(struct factor_q *q)
{
    free(q->t);
    free(q->v);
    free(q->tau);
    free(q->r);
    free(q->tree);
    *q = (struct factor_q){.t = NULL};
}

static void qr_fini(struct qr *w)
{
    for (int i = 0; i < 2; i++) {
        dense_cast_free(&w->buffers[i].cast);
        free(w->buffers[i].t_v);
    }
    free(w->sums);
    free(w->taus);
}

/* `columns` of what is multiplied lie here. */
static int qr_init(struct qr *w, const struct factor_matrix *a, const struct factor_q *q,
                   int columns)
{
    size_t nb = (size_t)a->nb, widest = (size_t)columns > nb + 2 ? (size_t)columns : nb + 2;
    *w = (struct qr){.a = a,
                     .q = q,
                     .sums = factor_room(a->kernel, widest * nb),
                     .taus = factor_room(a->kernel, nb)};
    for (int i = 0; i < 2; i++)
        w->buffers[i].t_v = factor_room(a->kernel, ((size_t)a->local.m + nb) * nb);
    if (w->buffers[0].t_v != NULL && w->buffers[1].t_v != NULL && w->sums != NULL &&
        w->taus != NULL)
        return 0;
    qr_fini(w);
    return factor_break(&a->grid, domain_fail(COVEY_ENOMEM, "no memory for a panel of QR"));
}

static void *element(const struct qr *w, void *base, size_t i)
{
    return (char *)base + i * w->a->kernel->width;
}

static struct factor_block t_of(const struct qr *w, const struct panel *p)
{
    return factor_packed(w->a, w->buffers[p->turn].t_v, p->width, p->width);
}

static struct factor_block v_of(const struct qr *w, const struct panel *p)
{
    size_t t_count = (size_t)p->width * (size_t)p->width;
    return factor_packed(w->a, element(w, w->buffers[p->turn].t_v, t_count), p->rows, p->width);
}

/* ---- A panel, in its grid column ------------------------------------------------------------- */

/* One column: element j of the panel's diagonal, and what lies below it. */
static int reflect(struct qr *w, const struct panel *p, int j)
{
    const struct factor_matrix *a = w->a;
    const struct factor_kernel *kernel = a->kernel;
    int rest = p->width - j, is_row = p->p == a->grid.p;
    struct factor_block row = factor_sized(factor_from(a, p->at + j, p->at + j), 1, rest);
    struct factor_block below = factor_from(a, p->at + j + 1, p->at + j);
    struct factor_block row_sums = {.at = w->sums, .m = 1, .n = rest, .ld = 1};
    void *sums = element(w, w->sums, (size_t)rest);
    double result[3 * 2]; /* beta, tau, scale */
    below = factor_sized(below, below.m, rest);
    if (is_row)
        kernel->copy(row, row_sums);
    else
        kernel->clear(row_sums);
    kernel->dots(below, sums);
    int error = factor_sum((struct factor_call){a, a->grid.column, "QR, a column"}, w->sums,
                           2 * (size_t)rest);
    if (error < 0)
        return error;
    kernel->householder(w->sums, sums, result);
    memcpy(element(w, w->taus, (size_t)j), (char *)result + kernel->width, kernel->width);
    kernel->coefficients(result, w->sums, sums, rest);
    kernel->scale(factor_sized(below, below.m, 1), (char *)result + 2 * kernel->width);
    kernel->rank1(below, element(w, sums, 1));
    if (!is_row)
        return 0;
    struct factor_block taken = {.at = sums, .m = 1, .n = rest, .ld = 1};
    kernel->scale_real(taken, -1);
    kernel->add(factor_part(taken, kernel->width, 0, 1), factor_part(row, kernel->width, 0, 1));
    memcpy(row.at, result, kernel->width);
    return 0;
}

/* V of a panel that is reduced: ones on its diagonal, zeros above. */
static void take_v(const struct qr *w, const struct panel *p)
{
    const struct factor_matrix *a = w->a;
    struct factor_block v = v_of(w, p);
    a->kernel->copy(factor_sized(factor_from(a, p->at, p->at), p->rows, p->width), v);
    if (p->p == a->grid.p)
        a->kernel->make_unit_lower(factor_sized(v, p->width, p->width));
}

static void reduce_alone(const struct qr *w, const struct panel *p)
{
    const struct factor_matrix *a = w->a;
    struct factor_block panel = factor_sized(factor_from(a, p->at, p->at), p->rows, p->width);
    a->kernel->clear(t_of(w, p));
    int info = a->kernel->qr_panel(panel, t_of(w, p));
    assert(info == 0); /* no other than for sizes that are not possible here */
    take_v(w, p);
}

static int reduce_panel(struct qr *w, const struct panel *p)
{
    const struct factor_matrix *a = w->a;
    struct factor_block v = v_of(w, p), t = t_of(w, p);
    int error = 0;
    if (a->grid.rows == 1) {
        reduce_alone(w, p);
        return 0;
    }
    for (int j = 0; j < p->width && error == 0; j++)
        error = reflect(w, p, j);
    if (error < 0)
        return error;
    take_v(w, p);
    a->kernel->clear(t);
    if (v.m > 0)
        a->kernel->gemm((const int[]){1, 0}, (const struct factor_block[]){v, v}, 1, 0, t);
    error = factor_sum((struct factor_call){a, a->grid.column, "QR, a block reflector"}, t.at,
                       (size_t)t.m * (size_t)t.n);
    if (error == 0)
        a->kernel->reflector(t, w->taus);
    return error;
}

/* ---- The block reflector --------------------------------------------------------------------- */

/* T and V to all members of the grid row. */
static struct factor_call of_row(const struct qr *w)
{
    return (struct factor_call){w->a, w->a->grid.row, "QR, a panel"};
}

static int send_reflector(struct qr *w, const struct panel *p)
{
    struct buffer *buffer = &w->buffers[p->turn];
    size_t width = (size_t)p->width;
    return factor_cast_begin(of_row(w), &buffer->cast, p->q, buffer->t_v,
                             width * width + (size_t)p->rows * width);
}

/* C = (1 - V T V^H) C, or with its adjoint, for the columns here from local one `from` on. */
static int apply_reflector(const struct qr *w, const struct panel *p, int adjoint,
                           struct factor_block c)
{
    const struct factor_matrix *a = w->a;
    struct factor_block v = v_of(w, p), sums = factor_packed(a, w->sums, p->width, c.n);
    struct factor_triangle t = {.of = t_of(w, p), .upper = 1, .adjoint = adjoint};
    a->kernel->clear(sums);
    if (v.m > 0)
        a->kernel->gemm((const int[]){1, 0}, (const struct factor_block[]){v, c}, 1, 0, sums);
    int error = factor_sum((struct factor_call){a, a->grid.column, "QR, products"}, w->sums,
                           (size_t)p->width * (size_t)c.n);
    if (error < 0)
        return error;
    a->kernel->times(t, sums);
    a->kernel->gemm((const int[]){0, 0}, (const struct factor_block[]){v, sums}, -1, 1, c);
    return 0;
}

/* ---- Factorisation --------------------------------------------------------------------------- */

/* A power of two by which A is multiplied: 1, unless its numbers are very large or small. */
static int find_scale(const struct factor_matrix *a, double *scale)
{
    double mine = a->kernel->largest(a->local), largest = mine;
    double small = a->kernel->epsilon > 1e-10 ? SMALL_FLOAT : SMALL_DOUBLE;
    struct factor_call call = {a, a->grid.column, "QR, the scale"};
    int error = factor_greatest(call, &largest);
    call.team = a->grid.row;
    if (error == 0)
        error = factor_greatest(call, &largest);
    *scale = 1;
    if (largest > 0 && isfinite(largest) && (largest < small || largest > 1 / small))
        *scale = ldexp(1, -ilogb(largest));
    return error;
}

/* Of the upper triangle. */
static void scale_r(const struct factor_matrix *a, double factor)
{
    int64_t n = a->n;
    for (int64_t j = 0; j < n && factor != 1; j++) {
        int at = factor_column(a, j);
        if (factor_column(a, j + 1) == at)
            continue;
        int64_t behind = j + 1 < a->m ? j + 1 : a->m;
        struct factor_block column = factor_part(a->local, a->kernel->width, 0, at);
        a->kernel->scale_real(factor_sized(column, factor_row(a, behind), 1), factor);
    }
}

/* Reduces panel k, if it lies here, and begins to send its reflector. */
static int start_panel(struct qr *w, int64_t k)
{
    struct panel p = panel_of(w->a, k);
    int error = p.is_column ? reduce_panel(w, &p) : 0;
    return error < 0 ? error : send_reflector(w, &p);
}

/* The columns from `begin` on, part by part: between them the next panel is passed on. */
static int update(struct qr *w, const struct panel *p, int64_t begin)
{
    struct factor_block rest = factor_from(w->a, p->at, begin);
    int error = 0;
    for (int j = 0; error == 0 && j < rest.n; j += UPDATE_COLUMNS) {
        struct factor_block part = factor_part(rest, w->a->kernel->width, 0, j);
        int n = part.n < UPDATE_COLUMNS ? part.n : UPDATE_COLUMNS;
        error = apply_reflector(w, p, 1, factor_sized(part, part.m, n));
        if (error == 0)
            error = factor_cast_poll(of_row(w), &w->buffers[1 - p->turn].cast);
    }
    return error;
}

/* The next panel is on its way before the rest is updated, where that gains something. */
static int update_and_start(struct qr *w, int64_t k)
{
    const struct factor_matrix *a = w->a;
    struct panel p = panel_of(a, k);
    int64_t begin = p.at + p.width;
    int is_last = k + 1 == panels_of(a), is_ahead = a->grid.columns > 1 && !is_last, error = 0;
    if (is_ahead) {
        struct panel next = panel_of(a, k + 1);
        struct factor_block columns = factor_from(a, p.at, begin);
        if (next.is_column)
            error = apply_reflector(w, &p, 1, factor_sized(columns, columns.m, next.width));
        begin += next.width;
        if (error == 0)
            error = start_panel(w, k + 1);
    }
    if (error == 0)
        error = update(w, &p, begin);
    return error < 0 || is_last || is_ahead ? error : start_panel(w, k + 1);
}

static int factor_step(struct qr *w, int64_t k)
{
    const struct factor_matrix *a = w->a;
    struct panel p = panel_of(a, k);
    size_t nb = (size_t)a->nb;
    int error = factor_cast_wait(of_row(w), &w->buffers[p.turn].cast);
    if (error < 0)
        return error;
    struct factor_block kept =
        factor_packed(a, element(w, w->q->t, (size_t)k * nb * nb), p.width, p.width);
    a->kernel->copy(t_of(w, &p), kept);
    error = update_and_start(w, k);
    return error < 0 ? error : factor_cast_end(of_row(w), &w->buffers[p.turn].cast);
}

int factor_qr_blocked(const struct factor_matrix *a, struct factor_q *q)
{
    struct qr w;
    double scale = 1;
    size_t nb = (size_t)a->nb;
    factor_q_free(q);
    q->t = factor_room(a->kernel, (size_t)panels_of(a) * nb * nb);
    if (q->t == NULL)
        return factor_break(&a->grid, domain_fail(COVEY_ENOMEM, "no memory for QR"));
    int error = qr_init(&w, a, q, a->local.n);
    if (error < 0)
        return error;
    error = find_scale(a, &scale);
    if (error == 0 && scale != 1)
        a->kernel->scale_real(a->local, scale);
    if (error == 0 && panels_of(a) > 0)
        error = start_panel(&w, 0);
    for (int64_t k = 0; k < panels_of(a) && error == 0; k++)
        error = factor_step(&w, k);
    scale_r(a, 1 / scale);
    qr_fini(&w);
    return error;
}

/* ---- What Q is for --------------------------------------------------------------------------- */

int factor_qr_apply(const struct factor_matrix *a, const struct factor_q *q, int adjoint,
                    const struct factor_matrix *b)
{
    struct qr w;
    int64_t panels = panels_of(a);
    size_t nb = (size_t)a->nb;
    int error = qr_init(&w, a, q, b->local.n);
    if (error < 0)
        return error;
    for (int64_t i = 0; i < panels && error == 0; i++) {
        int64_t k = adjoint ? i : panels - 1 - i;
        struct panel p = panel_of(a, k);
        struct factor_block kept =
            factor_packed(a, element(&w, q->t, (size_t)k * nb * nb), p.width, p.width);
        a->kernel->copy(kept, t_of(&w, &p));
        if (p.is_column)
            take_v(&w, &p);
        error = send_reflector(&w, &p);
        if (error == 0)
            error = factor_cast_end(of_row(&w), &w.buffers[p.turn].cast);
        if (error == 0)
            error = apply_reflector(&w, &p, adjoint, factor_from(b, p.at, 0));
    }
    qr_fini(&w);
    return error;
}

int factor_qr_blocked_solve(const struct factor_matrix *a, const struct factor_q *q,
                            const struct factor_matrix *b)
{
    int error = factor_qr_apply(a, q, 1, b);
    return error < 0 ? error : factor_solve(&(struct factor_system){.t = a, .b = b, .upper = 1});
}

int factor_qr_blocked_form(const struct factor_matrix *a, const struct factor_q *q,
                           const struct factor_matrix *b)
{
    factor_identity(b);
    return factor_qr_apply(a, q, 0, b);
}

int64_t factor_first_zero(const struct factor_matrix *a)
{
    for (int64_t i = 0; i < reflectors_of(a); i++)
        if (factor_row(a, i + 1) > factor_row(a, i) &&
            factor_column(a, i + 1) > factor_column(a, i) &&
            a->kernel->largest(factor_sized(factor_from(a, i, i), 1, 1)) == 0)
            return i + 1;
    return 0;
}
