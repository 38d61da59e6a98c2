/*
 * product.c - how the coordinator is sure of the product without a second multiplication that
 * costs as much: Freivalds' check with random vectors, or a comparison with a whole product.
 * Blocks are written to the result file in their places as they come.
 */
#include "apps/matmul/product.h"

#include <stdlib.h>
#include <string.h>

#define VECTOR_BITS 16
#define VECTOR_SEED_MASK UINT64_C(0x5eed) /* r must have nothing to do with A and B */

static uint64_t *vector(int64_t n)
{
    return calloc((size_t)n, sizeof(uint64_t));
}

/* to = M from. */
static void vector_multiply(const struct matrix *matrix, const uint64_t *from, uint64_t *to)
{
    for (int64_t i = 0; i < matrix->n; i++) {
        uint64_t sum = 0;
        for (int64_t j = 0; j < matrix->n; j++)
            sum += (uint64_t)matrix_element(matrix, i, j) * from[j];
        to[i] = sum;
    }
}

int freivalds_init(struct freivalds *check, uint64_t seed, int64_t n)
{
    *check = (struct freivalds){n, vector(n), vector(n), vector(n)};
    uint64_t *product = vector(n);
    if (check->r == NULL || check->expected == NULL || check->found == NULL || product == NULL) {
        free(product);
        freivalds_free(check);
        return -1;
    }
    for (int64_t i = 0; i < n; i++)
        check->r[i] = random_at(~seed ^ VECTOR_SEED_MASK, (uint64_t)i) >> (64 - VECTOR_BITS);
    vector_multiply(&(struct matrix){seed, n, MATRIX_B}, check->r, product);
    vector_multiply(&(struct matrix){seed, n, MATRIX_A}, product, check->expected);
    free(product);
    return 0;
}

void freivalds_add(struct freivalds *check, const struct matrix_part *part, const double *block)
{
    for (int64_t i = 0; i < part->rows; i++) {
        uint64_t sum = 0;
        for (int64_t j = 0; j < part->columns; j++)
            sum += (uint64_t)(int64_t)block[i * part->columns + j] * check->r[part->column + j];
        check->found[part->row + i] += sum;
    }
}

bool freivalds_passed(const struct freivalds *check)
{
    return memcmp(check->found, check->expected, (size_t)check->n * sizeof(uint64_t)) == 0;
}

void freivalds_free(struct freivalds *check)
{
    free(check->r);
    free(check->expected);
    free(check->found);
    *check = (struct freivalds){0};
}

bool product_equals(const double *whole, int64_t n, const struct matrix_part *part,
                    const double *block)
{
    for (int64_t i = 0; i < part->rows; i++)
        for (int64_t j = 0; j < part->columns; j++)
            if (whole[(part->row + i) * n + part->column + j] != block[i * part->columns + j])
                return false;
    return true;
}

int product_write(FILE *stream, int64_t n, const struct matrix_part *part, const double *block)
{
    size_t columns = (size_t)part->columns;
    for (int64_t i = 0; i < part->rows; i++) {
        off_t place = (off_t)((part->row + i) * n + part->column) * (off_t)sizeof *block;
        if (fseeko(stream, place, SEEK_SET) != 0)
            return -1;
        if (fwrite(block + (size_t)i * columns, sizeof *block, columns, stream) != columns)
            return -1;
    }
    return 0;
}
