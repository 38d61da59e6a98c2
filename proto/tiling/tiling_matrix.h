/*
 * tiling_matrix.h - small square matrices of integers, exactly: what would leave 64 bits is
 * refused. Functions return 0 or -1.
 */
#ifndef COVEY_PROTO_TILING_MATRIX_H
#define COVEY_PROTO_TILING_MATRIX_H

#include <stdint.h>

enum { TILING_MATRIX_MAX = 8 };

struct tiling_matrix {
    int64_t at[TILING_MATRIX_MAX][TILING_MATRIX_MAX]; /* [row][column] */
};

/* The determinant. Fails when it, or a minor, is too large. */
int tiling_matrix_determinant(const struct tiling_matrix *m, int n, int64_t *determinant);
/* The adjugate: m adjugate = determinant. Fails likewise. */
int tiling_matrix_adjugate(const struct tiling_matrix *m, int n, struct tiling_matrix *adjugate);
/* The inverse of one whose determinant is 1 or -1. Fails for all others. */
int tiling_matrix_invert(const struct tiling_matrix *m, int n, struct tiling_matrix *inverse);
/* A basis of the lattice of all m j, j integers: lower triangular, positive on the diagonal, and in
 * each row no entry is larger than that (the Hermite normal form by columns). Fails for a
 * determinant of 0, or entries that are too large. */
int tiling_matrix_lattice(const struct tiling_matrix *m, int n, struct tiling_matrix *basis);
void tiling_matrix_identity(struct tiling_matrix *m);

#endif
