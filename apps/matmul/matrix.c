/*
 * matrix.c - makes any part of the two factors in place. An element depends on its own indices
 * alone, so that no task sends factors to another and every order of additions has the same exact
 * sum.
 */
#include "apps/matmul/matrix.h"

void matrix_fill(const struct matrix *matrix, const struct matrix_part *part, double *to)
{
    for (int64_t i = 0; i < part->rows; i++)
        for (int64_t j = 0; j < part->columns; j++)
            *to++ = matrix_element(matrix, part->row + i, part->column + j);
}
