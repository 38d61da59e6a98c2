/*
 * matrix.h - the two factors of the product, made in place wherever a part of them is needed.
 *
 * Elements are small integers, so that every order of additions gives exactly the same product
 * in doubles, and in 64-bit integers: results are compared for equality.
 */
#ifndef MATMUL_MATRIX_H
#define MATMUL_MATRIX_H

#include "apps/random.h"

#include <stddef.h>
#include <stdint.h>

#define MATRIX_N_MAX 1048576 /* 64 n stays far below 2^53 */

enum matrix_name { MATRIX_A = 0, MATRIX_B = 1 };

/* Which matrix: n x n, one of the two factors that a seed names. */
struct matrix {
    uint64_t seed;
    int64_t n;
    enum matrix_name name;
};

/* A part of a matrix. */
struct matrix_part {
    int64_t row;
    int64_t column;
    int64_t rows;
    int64_t columns;
};

/* The element in that place, -8 .. 7. */
static inline int matrix_element(const struct matrix *matrix, int64_t row, int64_t column)
{
    uint64_t place = (uint64_t)(row * matrix->n + column);
    return (int)(random_at(2 * matrix->seed + matrix->name, place) >> 60) - 8;
}

/* Fills `to` with a part by rows, without gaps. */
void matrix_fill(const struct matrix *matrix, const struct matrix_part *part, double *to);

#endif
