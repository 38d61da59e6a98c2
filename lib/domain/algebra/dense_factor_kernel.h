/*
 * dense_factor_kernel.h - what the factorisations compute at one member, of each type of numbers:
 * OpenBLAS and LAPACK through cblas and LAPACKE.
 *
 * Adjoint is the conjugate transpose, of real numbers the transpose.
 */
#ifndef COVEY_LIB_DOMAIN_ALGEBRA_DENSE_FACTOR_KERNEL_H
#define COVEY_LIB_DOMAIN_ALGEBRA_DENSE_FACTOR_KERNEL_H

#include <stddef.h>

/* A matrix in memory. Element (i, j) stands at i + j * ld elements, and by rows at i * ld + j. */
struct factor_block {
    void *at;
    int m, n, ld;
    int by_rows;
};

/* The part of m x n that begins at element (i, j); `width` is the bytes of an element. */
static inline struct factor_block factor_part(struct factor_block b, size_t width, int i, int j)
{
    size_t skipped =
        b.by_rows ? (size_t)i * (size_t)b.ld + (size_t)j : (size_t)i + (size_t)j * (size_t)b.ld;
    if (b.at != NULL) /* of a matrix without elements */
        b.at = (char *)b.at + skipped * width;
    b.m -= i;
    b.n -= j;
    return b;
}

static inline struct factor_block factor_sized(struct factor_block b, int m, int n)
{
    b.m = m;
    b.n = n;
    return b;
}

/* A triangle: what triangular solves and products need to know. */
struct factor_triangle {
    struct factor_block of;
    int upper;   /* 1: the upper one */
    int adjoint; /* 1: its adjoint is meant */
    int unit;    /* 1: ones on the diagonal */
};

struct factor_kernel {
    int type; /* enum covey_type */
    size_t width;
    int is_complex;
    double epsilon; /* relative machine precision, as LAPACK's xLAMCH('E') */

    /* C = A op(B) * sign + C * keep; op is the adjoint where it says so. */
    void (*gemm)(const int adjoint[2], const struct factor_block ab[2], double sign, double keep,
                 struct factor_block c);
    /* The lower triangle of C -= A A^H. */
    void (*herk)(struct factor_block a, struct factor_block c);
    /* B = T^-1 B, or from the right B T^-1. */
    void (*solve)(struct factor_triangle t, int right, struct factor_block b);
    /* B = T B. */
    void (*times)(struct factor_triangle t, struct factor_block b);
    /* A = L L^H in the lower triangle. Returns LAPACK's info. */
    int (*cholesky)(struct factor_block a);
    /* L = L^-1 of a lower triangle. Returns LAPACK's info. */
    int (*invert)(struct factor_block l);
    /* The lower triangle of L^H L, in the place of L. */
    int (*square)(struct factor_block l);

    /* Those with an int result: LAPACK's info, or -1 when memory is exhausted. Blocks by columns.
     */

    /* A = Q R as LAPACK's xGEQRF. */
    int (*qr)(struct factor_block a, void *tau);
    /* A = Q R with Q = 1 - V T V^H, of m >= n: xGEQRT3. The upper triangle of T is set. */
    int (*qr_panel)(struct factor_block a, struct factor_block t);
    /* C = Q C or Q^H C with Q of qr(). */
    int (*apply)(struct factor_block v, const void *tau, int adjoint, struct factor_block c);
    /* The triangle R on top of another one becomes R on top of V: xTPQRT with blocks of t.m
     * columns. `below` may have fewer rows than columns, and is then a trapezoid, or more, and is
     * then a rectangle. */
    int (*stack)(struct factor_block r, struct factor_block below, struct factor_block t);
    /* Applies Q or Q^H of stack() to c[0] on top of c[1]. */
    int (*apply_stack)(struct factor_block v, struct factor_block t, int adjoint,
                       const struct factor_block c[2]);

    /* One column (alpha, x) of which alpha = row[0] and |x|^2 = sums[0]: H^H (alpha, x) = (beta, 0)
     * for H = 1 - tau v v^H, v = (1, scale x). Sets result to beta, tau, scale: xLARFG. */
    void (*householder)(const void *row, const void *sums, void *result);
    /* sums[j] = x^H A(:, j); x is the first column of A. */
    void (*dots)(struct factor_block a, void *sums);
    /* sums[j] = conj(tau) (row[j] + conj(scale) sums[j]): what of v is taken from column j. */
    void (*coefficients)(const void *result, const void *row, void *sums, int n);
    /* A(:, j) -= x factors[j - 1] for the columns behind the first, which is x. */
    void (*rank1)(struct factor_block a, const void *factors);
    /* The triangular factor T of 1 - V T V^H out of V^H V, in its place: xLARFT. */
    void (*reflector)(struct factor_block t, const void *taus);

    struct { /* element by element */
        void (*scale)(struct factor_block a, const void *factor);
        void (*scale_real)(struct factor_block a, double factor);
        double (*largest)(struct factor_block a); /* of the absolute values; NaN when one is */
        void (*copy)(struct factor_block from,
                     struct factor_block to); /* both by rows, or neither */
        void (*copy_adjoint)(struct factor_block from, struct factor_block to);
        void (*add)(struct factor_block from, struct factor_block to);
        void (*add_lower)(struct factor_block from, struct factor_block to); /* of square blocks */
        /* Of square blocks, with real numbers on the diagonal. */
        void (*copy_lower)(struct factor_block from, struct factor_block to);
        void (*clear)(struct factor_block a);
        void (*make_unit_lower)(struct factor_block a); /* zeros above the diagonal, ones on it */
        void (*make_upper)(struct factor_block a);      /* zeros below the diagonal */
    };
};

/* The kernels of that type, or NULL: no such type. */
const struct factor_kernel *factor_kernel_of(int type);

#endif
