/*
 * dense_kernel.h - what BLAS and LAPACK compute at one member, the same for each type of elements.
 */
#ifndef COVEY_LIB_DOMAIN_ALGEBRA_DENSE_KERNEL_H
#define COVEY_LIB_DOMAIN_ALGEBRA_DENSE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* A matrix in memory, by columns. Sizes are elements. */
struct dense_view {
    void *at;
    int64_t m, n, ld;
    int transposed; /* in products: what is meant is the conjugate transpose of these m x n */
};

/* Which triangle, and on which side: together the flags of a trsm. 0: left, lower, as it is, with
 * the diagonal that is stored. */
enum { DENSE_RIGHT = 1, DENSE_UPPER = 2, DENSE_TRANSPOSED = 4, DENSE_UNIT = 8 };

/* The functions of one type. No view is ever of 2^31 elements in a row or column. */
struct dense_kernel {
    int type;     /* of covey.h */
    size_t bytes; /* of an element */
    int is_complex;
    const void *zero, *one, *minus_one; /* numbers of the type */

    /* C += alpha A B */
    void (*gemm)(const void *alpha, const struct dense_view *a, const struct dense_view *b,
                 const struct dense_view *c);
    /* B = T^-1 B, or B T^-1 */
    void (*trsm)(int flags, const struct dense_view *t, const struct dense_view *b);
    /* LAPACK's getrf: pivots from 1, returns info. */
    int (*getrf)(const struct dense_view *a, int32_t *pivots);
    /* LAPACK's getri of what getrf left: returns info, or -1 when memory is exhausted. */
    int (*getri)(const struct dense_view *a, const int32_t *pivots);
    /* Row i changes places with row pivots[i] - 1, for i from begin to end - 1 in this order. */
    void (*swap)(const struct dense_view *a, int64_t begin, int64_t end, const int32_t *pivots);
    /* Those rows of A to an array by columns, and back. */
    void (*pick)(const struct dense_view *a, const int64_t *rows, int64_t count, void *array);
    void (*put)(const struct dense_view *a, const int64_t *rows, int64_t count, const void *array);
    /* B += A */
    void (*add)(const struct dense_view *a, const struct dense_view *b);
    /* A *= factor; 0 sets even NaN to 0. */
    void (*scale)(const void *factor, const struct dense_view *a);

    /* Of a column of n elements: the place of the one with the largest |re| + |im|, or of the first
     * NaN; -1 when n is 0. */
    int64_t (*largest)(int64_t n, const void *x);
    double (*size)(const void *x); /* |re| + |im| */
    /* sums[i] += that of x[i], for n elements */
    void (*add_sizes)(int64_t n, const void *x, double *sums);
    /* x /= pivot */
    void (*divide)(int64_t n, void *x, const void *pivot);
    /* A -= x y, x a column and y a row with that many elements from one to the next */
    void (*update1)(const struct dense_view *a, const void *x, const void *y, int64_t y_step);
    /* A whole number below 2^48 as two elements, which all types hold exactly. */
    void (*encode)(int64_t number, void *pair);
    int64_t (*decode)(const void *pair);
};

/* NULL: there is none for that type of covey.h. */
const struct dense_kernel *dense_kernel_of(int type);

/* Where element (i, j) of a view stands, and the part of a view that begins there. */
void *dense_at(const struct dense_kernel *kernel, const struct dense_view *a, int64_t i, int64_t j);
struct dense_view dense_part(const struct dense_kernel *kernel, const struct dense_view *a,
                             const int64_t begin[2], const int64_t size[2]);

/* Copies a to b, of the same m and n. */
void dense_copy(const struct dense_kernel *kernel, const struct dense_view *a,
                const struct dense_view *b);

/* The same between the precisions. */
void dense_convert(const struct dense_kernel *from, const struct dense_view *a,
                   const struct dense_kernel *to, const struct dense_view *b);

/* How many threads BLAS takes in this process from now on; returns how many it took until now. */
int dense_threads(int count);

#endif
