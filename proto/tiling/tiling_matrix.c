/*
 * tiling_matrix.c - exact determinants and inverses by Bareiss' elimination, which divides without
 * remainder: no fractions are needed, and products of two 64-bit numbers are checked one by one.
 */
#include "proto/tiling/tiling_matrix.h"

#include <stdbool.h>
#include <string.h>

/* a b - c d */
static bool cross(int64_t a, int64_t b, int64_t c, int64_t d, int64_t *result)
{
    int64_t ab, cd;
    return !__builtin_mul_overflow(a, b, &ab) && !__builtin_mul_overflow(c, d, &cd) &&
           !__builtin_sub_overflow(ab, cd, result);
}

/* Brings a row whose k-th component is not 0 to place k; 1, -1 for a swap, 0: there is none. */
static int pivot(struct tiling_matrix *m, int n, int k)
{
    for (int i = k; i < n; i++) {
        if (m->at[i][k] != 0) {
            if (i != k) {
                int64_t kept[TILING_MATRIX_MAX];
                memcpy(kept, m->at[i], sizeof kept);
                memcpy(m->at[i], m->at[k], sizeof kept);
                memcpy(m->at[k], kept, sizeof kept);
            }
            return i == k ? 1 : -1;
        }
    }
    return 0;
}

/* One step of Bareiss' elimination, in which all quotients are exact. */
static bool eliminate(struct tiling_matrix *m, int n, int k, int64_t before)
{
    for (int i = k + 1; i < n; i++) {
        for (int j = k + 1; j < n; j++) {
            int64_t *at = &m->at[i][j];
            if (!cross(*at, m->at[k][k], m->at[i][k], m->at[k][j], at))
                return false;
            *at /= before;
        }
    }
    return true;
}

int tiling_matrix_determinant(const struct tiling_matrix *m, int n, int64_t *determinant)
{
    struct tiling_matrix work = *m;
    int64_t before = 1;
    int sign = 1;
    for (int k = 0; k < n; k++) {
        sign *= pivot(&work, n, k);
        if (sign == 0) {
            *determinant = 0;
            return 0;
        }
        if (!eliminate(&work, n, k, before))
            return -1;
        before = work.at[k][k];
    }
    *determinant = sign * before;
    return 0;
}

/* m without a row and a column. */
static struct tiling_matrix minor_of(const struct tiling_matrix *m, int n, int row, int column)
{
    struct tiling_matrix minor = {0};
    for (int i = 0; i < n - 1; i++) {
        for (int j = 0; j < n - 1; j++)
            minor.at[i][j] = m->at[i + (i >= row)][j + (j >= column)];
    }
    return minor;
}

int tiling_matrix_adjugate(const struct tiling_matrix *m, int n, struct tiling_matrix *adjugate)
{
    struct tiling_matrix made = {0};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            struct tiling_matrix minor = minor_of(m, n, j, i);
            if (tiling_matrix_determinant(&minor, n - 1, &made.at[i][j]) != 0)
                return -1;
            if ((i + j) % 2 != 0)
                made.at[i][j] = -made.at[i][j];
        }
    }
    *adjugate = made;
    return 0;
}

int tiling_matrix_invert(const struct tiling_matrix *m, int n, struct tiling_matrix *inverse)
{
    int64_t determinant;
    if (tiling_matrix_determinant(m, n, &determinant) != 0 ||
        (determinant != 1 && determinant != -1) || tiling_matrix_adjugate(m, n, inverse) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            inverse->at[i][j] *= determinant;
    }
    return 0;
}

/* Column `to` less so many times column `from`. */
static bool column_less(struct tiling_matrix *m, int n, int to, int from, int64_t times)
{
    for (int i = 0; i < n; i++) {
        if (!cross(m->at[i][to], 1, m->at[i][from], times, &m->at[i][to]))
            return false;
    }
    return true;
}

/* Euclid's algorithm of two columns, until that of row i is 0 in column k. */
static bool column_clear(struct tiling_matrix *m, int n, int i, int k)
{
    while (m->at[i][k] != 0) {
        if (!column_less(m, n, i, k, m->at[i][i] / m->at[i][k]))
            return false;
        for (int row = 0; row < n; row++) {
            int64_t kept = m->at[row][i];
            m->at[row][i] = m->at[row][k];
            m->at[row][k] = kept;
        }
    }
    return true;
}

int tiling_matrix_lattice(const struct tiling_matrix *m, int n, struct tiling_matrix *basis)
{
    struct tiling_matrix made = *m;
    for (int i = 0; i < n; i++) {
        for (int k = i + 1; k < n; k++) {
            if (!column_clear(&made, n, i, k))
                return -1;
        }
        int64_t diagonal = made.at[i][i];
        if (diagonal == 0)
            return -1;
        for (int row = i; row < n && diagonal < 0; row++)
            made.at[row][i] = -made.at[row][i];
        diagonal = made.at[i][i];
        for (int k = 0; k < i; k++) {
            int64_t times = made.at[i][k] / diagonal - (made.at[i][k] % diagonal < 0);
            if (!column_less(&made, n, k, i, times))
                return -1;
        }
    }
    *basis = made;
    return 0;
}

void tiling_matrix_identity(struct tiling_matrix *m)
{
    memset(m, 0, sizeof *m);
    for (int i = 0; i < TILING_MATRIX_MAX; i++)
        m->at[i][i] = 1;
}
