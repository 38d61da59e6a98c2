/*
 * lu_solve.h - solving with the factors.
 */
#ifndef COVEY_LIB_DOMAIN_DENSE_LU_SOLVE_H
#define COVEY_LIB_DOMAIN_DENSE_LU_SOLVE_H

#include "lib/domain/dense/lu_run.h"

/* Whether what a call with the factors is given can be theirs: a square matrix, pivots in range.
 * Errors: EINVAL. Not collective. */
int lu_check_pivots(const covey_dense_t *plan, const int64_t *pivots);

/* B = A^-1 B with the factors in lu->a and lu->pivots. A collective call of all members. Errors:
 * ENOMEM at all members, those of libcovey, after which the teams are broken. */
int lu_solve(struct lu *lu, const struct dense_view *b);

/* A X = B in single precision, and then X is refined by residuals in double precision. Returns 1
 * when it does not get exact: B is as it was, and A always is. A collective call as lu_solve(). */
int lu_solve_float(struct lu *lu, const struct dense_view *b);

#endif
