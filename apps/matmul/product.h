/*
 * product.h - how the coordinator of matmul checks and writes the product, block by block.
 */
#ifndef MATMUL_PRODUCT_H
#define MATMUL_PRODUCT_H

#include "apps/matmul/matrix.h"

#include <stdbool.h>
#include <stdio.h>

/* Freivalds' check: C r = A (B r) for a random vector r. It needs no second product and memory
 * only for a few vectors; a wrong C passes with a chance below 2^-16. All modulo 2^64. */
struct freivalds {
    int64_t n;
    uint64_t *r;
    uint64_t *expected; /* A (B r) */
    uint64_t *found;    /* C r, as far as blocks have been added */
};

/* Makes the vectors. Returns 0, or -1 when memory is exhausted (then nothing is left to free). */
int freivalds_init(struct freivalds *check, uint64_t seed, int64_t n);

/* Adds one block of C. */
void freivalds_add(struct freivalds *check, const struct matrix_part *part, const double *block);

/* Whether all is as expected, once every block was added. */
bool freivalds_passed(const struct freivalds *check);

void freivalds_free(struct freivalds *check);

/* Whether a block equals that part of the whole n x n product. */
bool product_equals(const double *whole, int64_t n, const struct matrix_part *part,
                    const double *block);

/* Writes a block to its place in a file that holds the n x n product by rows. Returns 0 or -1 with
 * errno set. */
int product_write(FILE *stream, int64_t n, const struct matrix_part *part, const double *block);

#endif
