/*
 * kernel.h - the loops over the points of a part, for -lap(u) + c u = f on a grid with the spacing
 * h along each axis: at a point u, with its neighbours u-, u+ along axis d,
 *
 *   (A u) = (c + 2 sum k[d]) u - sum k[d] (u- + u+),   k[d] = 1 / h[d]^2
 *
 * Points are centres of cells. Behind the border of the grid stands a ghost: -u where the value is
 * 0 at the border, and u where the derivative is. So all points have one formula; but the diagonal
 * of the matrix is larger, or smaller, by k[d] beside such a border.
 */
#ifndef COVEY_LIB_DOMAIN_POISSON_KERNEL_H
#define COVEY_LIB_DOMAIN_POISSON_KERNEL_H

#include "lib/domain/grid/field.h"
#include "lib/domain/grid/sum.h"

enum { KERNEL_ALL, KERNEL_EVEN, KERNEL_ODD, KERNEL_COLOURS }; /* which points: by i + j + k */

/* What is behind a side of a part: -1 or 1, the factor of the ghost; 0: another part. */
struct kernel {
    struct grid_field field;
    double c, k[GRID_AXES];
    double diagonal; /* c + 2 sum k */
    int low[GRID_AXES], high[GRID_AXES];
    double *inverse; /* rows of the inverse of the true diagonal: see kernel_inverse() */
    double *row;     /* scratch of a row */
};

/* Sets what depends on the other members; low and high are set before, and stride 0 is 0 where axis
 * 0 has one point alone. Returns 0 or -1: no memory. kernel_free() follows in each case. */
int kernel_make(struct kernel *kernel);
void kernel_free(struct kernel *kernel);

/* The inverse diagonal along the row (i, j), 0 at points that are not of the colour. */
const double *kernel_inverse(const struct kernel *kernel, int64_t i, int64_t j, int colour);

/* Sets the ghosts of x; is_zero: of an x that is 0, whatever stands there. */
void kernel_ghosts(const struct kernel *kernel, int is_zero, double *x);

/* For the points of a box: r = b - A x. */
void kernel_residual(const struct kernel *kernel, const struct grid_box *box, const double *x,
                     const double *b, double *r);

/* For one row: the same into dense memory. */
void kernel_residual_row(const struct kernel *kernel, int64_t i, int64_t j, const double *x,
                         const double *b, double *row);

/* q = A p. */
void kernel_apply(const struct kernel *kernel, const struct grid_box *box, const double *p,
                  double *q);

/* x += omega D^-1 (b - A x) at the points of a colour; D is the diagonal. */
struct kernel_relax {
    int colour;
    double omega;
};
void kernel_relax(const struct kernel *kernel, const struct grid_box *box,
                  const struct kernel_relax *relax, double *x, const double *b);

/* The same for x = 0: no neighbour counts; other points get 0. */
void kernel_relax_first(const struct kernel *kernel, const struct grid_box *box,
                        const struct kernel_relax *relax, double *x, const double *b);

/* d = old d + new D^-1 (b - A x); x stays. */
struct kernel_step {
    double old, new;
};
void kernel_step(const struct kernel *kernel, const struct grid_box *box,
                 const struct kernel_step *step, const double *x, const double *b, double *d);

/* ---- All points, none beside another --------------------------------------------------------- */

/* z = factor D^-1 r. */
void kernel_scale(const struct kernel *kernel, double factor, const double *r, double *z);

/* y = a x + y; y = x + a y; y = x; y = value; y = y + value. */
void kernel_axpy(const struct kernel *kernel, double a, const double *x, double *y);
void kernel_aypx(const struct kernel *kernel, double a, const double *x, double *y);
void kernel_copy(const struct kernel *kernel, const double *x, double *y);
void kernel_set(const struct kernel *kernel, double value, double *y);
void kernel_shift(const struct kernel *kernel, double value, double *y);

/* x += a p; r -= a q; returns r . r. */
struct sum kernel_descend(const struct kernel *kernel, double a, const double *p, const double *q,
                          double *x, double *r);

#endif
