/*
 * kernel.c - the loops run along rows, which are contiguous, with neighbours in other rows at
 * pointers of their own, so that compilers compute several points at once. The two colours of a row
 * alternate: the relaxation computes all of its points and adds 0 to those of the other colour,
 * which is faster than every second one, for memory is what loops wait for.
 *
 * Nothing here depends on how the grid is divided: each point has the same operations in the same
 * order wherever it lies. Only sums have an order, see sum.h.
 */
#include "lib/domain/poisson/kernel.h"

#include <stdlib.h>
#include <string.h>

#define SIDES 4 /* of an axis a point may be at no end, the low one, the high one, or both */

/* ---- The diagonal ---------------------------------------------------------------------------- */

static int side_of(const struct kernel *k, int axis, int64_t at)
{
    int64_t low = k->field.box.low[axis], last = low + k->field.box.size[axis] - 1;
    return (at == low && k->low[axis] != 0) + 2 * (at == last && k->high[axis] != 0);
}

static double diagonal_of(const struct kernel *k, const int sides[GRID_AXES])
{
    double diagonal = k->diagonal;
    for (int d = 0; d < GRID_AXES; d++) {
        if (sides[d] & 1)
            diagonal -= k->low[d] * k->k[d];
        if (sides[d] & 2)
            diagonal -= k->high[d] * k->k[d];
    }
    return diagonal;
}

static double *inverse_row(const struct kernel *k, int side0, int side1, int colour)
{
    return k->inverse + ((side0 * SIDES + side1) * KERNEL_COLOURS + colour) * k->field.box.size[2];
}

/* Of colours: the row of points whose k is even, and the one whose k is odd. */
static void fill_rows(struct kernel *k, int side0, int side1)
{
    int64_t low = k->field.box.low[2], n = k->field.box.size[2];
    for (int64_t i = 0; i < n; i++) {
        int sides[GRID_AXES] = {side0, side1, side_of(k, 2, low + i)};
        /* a point with nothing but ghosts of its own value: there is no equation for it */
        double diagonal = diagonal_of(k, sides), inverse = diagonal > 0 ? 1 / diagonal : 0;
        int is_odd = (low + i) & 1;
        inverse_row(k, side0, side1, KERNEL_ALL)[i] = inverse;
        inverse_row(k, side0, side1, KERNEL_EVEN)[i] = is_odd ? 0 : inverse;
        inverse_row(k, side0, side1, KERNEL_ODD)[i] = is_odd ? inverse : 0;
    }
}

int kernel_make(struct kernel *kernel)
{
    size_t n = (size_t)kernel->field.box.size[2];
    kernel->diagonal = kernel->c;
    for (int d = 0; d < GRID_AXES; d++)
        kernel->diagonal += 2 * kernel->k[d];
    kernel->inverse = calloc((n + 1) * SIDES * SIDES * KERNEL_COLOURS, sizeof *kernel->inverse);
    kernel->row = calloc(n + 1, sizeof *kernel->row);
    if (kernel->inverse == NULL || kernel->row == NULL)
        return -1;
    for (int side0 = 0; side0 < SIDES; side0++)
        for (int side1 = 0; side1 < SIDES; side1++)
            fill_rows(kernel, side0, side1);
    return 0;
}

void kernel_free(struct kernel *kernel)
{
    free(kernel->inverse);
    free(kernel->row);
    kernel->inverse = NULL;
    kernel->row = NULL;
}

const double *kernel_inverse(const struct kernel *kernel, int64_t i, int64_t j, int colour)
{
    if (colour != KERNEL_ALL && ((i + j) & 1))
        colour = colour == KERNEL_EVEN ? KERNEL_ODD : KERNEL_EVEN;
    return inverse_row(kernel, side_of(kernel, 0, i), side_of(kernel, 1, j), colour);
}

/* ---- Ghosts ---------------------------------------------------------------------------------- */

static void face(const struct kernel *k, int axis, int is_high, int is_zero, double *x)
{
    int factor = is_high ? k->high[axis] : k->low[axis];
    int64_t step = axis == 2 ? 1 : k->field.stride[axis];
    struct grid_box box = k->field.box;
    if (factor == 0)
        return;
    box.low[axis] += is_high ? box.size[axis] - 1 : 0;
    box.size[axis] = 1;
    step = is_high ? step : -step;
    for (int64_t i = box.low[0]; i < box.low[0] + box.size[0]; i++) {
        for (int64_t j = box.low[1]; j < box.low[1] + box.size[1]; j++) {
            double *row = x + field_at(&k->field, i, j, box.low[2]);
            for (int64_t l = 0; l < box.size[2]; l++)
                row[l + step] = is_zero ? 0 : factor * row[l];
        }
    }
}

void kernel_ghosts(const struct kernel *kernel, int is_zero, double *x)
{
    if (kernel->field.count == 0)
        return;
    for (int axis = 0; axis < GRID_AXES; axis++) {
        face(kernel, axis, 0, is_zero, x);
        face(kernel, axis, 1, is_zero, x);
    }
}

/* ---- Stencils -------------------------------------------------------------------------------- */

#define ROWS(k, box, i, j)                                                                         \
    for (int64_t i = (box)->low[0]; i < (box)->low[0] + (box)->size[0]; i++)                       \
        for (int64_t j = (box)->low[1]; j < (box)->low[1] + (box)->size[1]; j++)

/* b - A x at element l of a row at x. */
#define RESIDUAL(x, b, l)                                                                          \
    ((b)[l] - diagonal * (x)[l] + k2 * ((x)[(l)-1] + (x)[(l) + 1]) +                               \
     k1 * ((x)[(l)-s1] + (x)[(l) + s1]) + k0 * ((x)[(l)-s0] + (x)[(l) + s0]))

#define COEFFICIENTS(k)                                                                            \
    const double diagonal = (k)->diagonal, k0 = (k)->k[0], k1 = (k)->k[1], k2 = (k)->k[2];         \
    const int64_t s0 = (k)->field.stride[0], s1 = (k)->field.stride[1]

static void residual_row(const struct kernel *k, int64_t n, const double *restrict x,
                         const double *restrict b, double *restrict r)
{
    COEFFICIENTS(k);
    for (int64_t l = 0; l < n; l++)
        r[l] = RESIDUAL(x, b, l);
}

void kernel_residual(const struct kernel *kernel, const struct grid_box *box, const double *x,
                     const double *b, double *r)
{
    ROWS(kernel, box, i, j)
    {
        int64_t at = field_at(&kernel->field, i, j, box->low[2]);
        residual_row(kernel, box->size[2], x + at, b + at, r + at);
    }
}

void kernel_residual_row(const struct kernel *kernel, int64_t i, int64_t j, const double *x,
                         const double *b, double *row)
{
    int64_t at = field_at(&kernel->field, i, j, kernel->field.box.low[2]);
    residual_row(kernel, kernel->field.box.size[2], x + at, b + at, row);
}

static void apply_row(const struct kernel *k, int64_t n, const double *restrict p,
                      double *restrict q)
{
    COEFFICIENTS(k);
    for (int64_t l = 0; l < n; l++)
        q[l] = diagonal * p[l] - k2 * (p[l - 1] + p[l + 1]) - k1 * (p[l - s1] + p[l + s1]) -
               k0 * (p[l - s0] + p[l + s0]);
}

void kernel_apply(const struct kernel *kernel, const struct grid_box *box, const double *p,
                  double *q)
{
    ROWS(kernel, box, i, j)
    {
        int64_t at = field_at(&kernel->field, i, j, box->low[2]);
        apply_row(kernel, box->size[2], p + at, q + at);
    }
}

/* The weights of a row: to = old to + new weights * (b - A x). */
struct weighted {
    int64_t n;
    const double *weights;
    double old, new;
};

static void relax_row(const struct kernel *k, const struct weighted *row, const double *x,
                      const double *restrict b, double *restrict change)
{
    COEFFICIENTS(k);
    const double *restrict w = row->weights;
    const double omega = row->new;
    for (int64_t l = 0; l < row->n; l++)
        change[l] = omega * w[l] * RESIDUAL(x, b, l);
}

void kernel_relax(const struct kernel *kernel, const struct grid_box *box,
                  const struct kernel_relax *relax, double *x, const double *b)
{
    int64_t skip = box->low[2] - kernel->field.box.low[2];
    const double *restrict change = kernel->row;
    ROWS(kernel, box, i, j)
    {
        int64_t at = field_at(&kernel->field, i, j, box->low[2]);
        const double *w = kernel_inverse(kernel, i, j, relax->colour) + skip;
        const struct weighted weighted = {box->size[2], w, 1, relax->omega};
        relax_row(kernel, &weighted, x + at, b + at, kernel->row);
        double *restrict to = x + at;
        for (int64_t l = 0; l < box->size[2]; l++)
            to[l] += change[l];
    }
}

void kernel_relax_first(const struct kernel *kernel, const struct grid_box *box,
                        const struct kernel_relax *relax, double *x, const double *b)
{
    int64_t skip = box->low[2] - kernel->field.box.low[2];
    ROWS(kernel, box, i, j)
    {
        int64_t at = field_at(&kernel->field, i, j, box->low[2]);
        const double *restrict w = kernel_inverse(kernel, i, j, relax->colour) + skip;
        const double *restrict from = b + at;
        double *restrict to = x + at;
        for (int64_t l = 0; l < box->size[2]; l++)
            to[l] = relax->omega * w[l] * from[l];
    }
}

static void step_row(const struct kernel *k, const struct weighted *row, const double *restrict x,
                     const double *restrict b, double *restrict d)
{
    COEFFICIENTS(k);
    const double *restrict w = row->weights;
    const double old = row->old, new = row->new;
    for (int64_t l = 0; l < row->n; l++)
        d[l] = old * d[l] + new *w[l] * RESIDUAL(x, b, l);
}

void kernel_step(const struct kernel *kernel, const struct grid_box *box,
                 const struct kernel_step *step, const double *x, const double *b, double *d)
{
    int64_t skip = box->low[2] - kernel->field.box.low[2];
    ROWS(kernel, box, i, j)
    {
        int64_t at = field_at(&kernel->field, i, j, box->low[2]);
        const double *w = kernel_inverse(kernel, i, j, KERNEL_ALL) + skip;
        const struct weighted weighted = {box->size[2], w, step->old, step->new};
        step_row(kernel, &weighted, x + at, b + at, d + at);
    }
}

/* ---- All points ------------------------------------------------------------------------------ */

void kernel_scale(const struct kernel *kernel, double factor, const double *r, double *z)
{
    const struct kernel_relax all = {.colour = KERNEL_ALL, .omega = factor};
    kernel_relax_first(kernel, &kernel->field.box, &all, z, r);
}

void kernel_axpy(const struct kernel *kernel, double a, const double *x, double *y)
{
    const struct grid_box *box = &kernel->field.box;
    ROWS(kernel, box, i, j)
    {
        int64_t at = field_at(&kernel->field, i, j, box->low[2]);
        const double *restrict from = x + at;
        double *restrict to = y + at;
        for (int64_t l = 0; l < box->size[2]; l++)
            to[l] += a * from[l];
    }
}

void kernel_aypx(const struct kernel *kernel, double a, const double *x, double *y)
{
    const struct grid_box *box = &kernel->field.box;
    ROWS(kernel, box, i, j)
    {
        int64_t at = field_at(&kernel->field, i, j, box->low[2]);
        const double *restrict from = x + at;
        double *restrict to = y + at;
        for (int64_t l = 0; l < box->size[2]; l++)
            to[l] = from[l] + a * to[l];
    }
}

void kernel_copy(const struct kernel *kernel, const double *x, double *y)
{
    const struct grid_box *box = &kernel->field.box;
    ROWS(kernel, box, i, j)
    {
        int64_t at = field_at(&kernel->field, i, j, box->low[2]);
        memcpy(y + at, x + at, (size_t)box->size[2] * sizeof *y);
    }
}

void kernel_set(const struct kernel *kernel, double value, double *y)
{
    const struct grid_box *box = &kernel->field.box;
    ROWS(kernel, box, i, j)
    {
        double *to = y + field_at(&kernel->field, i, j, box->low[2]);
        for (int64_t l = 0; l < box->size[2]; l++)
            to[l] = value;
    }
}

void kernel_shift(const struct kernel *kernel, double value, double *y)
{
    const struct grid_box *box = &kernel->field.box;
    ROWS(kernel, box, i, j)
    {
        double *to = y + field_at(&kernel->field, i, j, box->low[2]);
        for (int64_t l = 0; l < box->size[2]; l++)
            to[l] += value;
    }
}

struct sum kernel_descend(const struct kernel *kernel, double a, const double *p, const double *q,
                          double *x, double *r)
{
    const struct grid_box *box = &kernel->field.box;
    struct sum_lanes lanes = {.high = {0}};
    ROWS(kernel, box, i, j)
    {
        int64_t at = field_at(&kernel->field, i, j, box->low[2]), n = box->size[2];
        const double *restrict along = p + at, *restrict change = q + at;
        double *restrict to = x + at, *restrict rest = r + at;
        for (int64_t l = 0; l < n; l++)
            to[l] += a * along[l];
        for (int64_t l = 0; l < n; l++)
            rest[l] -= a * change[l];
        sum_row(&lanes, rest, rest, n);
    }
    return sum_of(&lanes);
}
