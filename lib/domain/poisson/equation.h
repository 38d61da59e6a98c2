/*
 * equation.h - the equation on a grid, and the eigenvalues of its matrix, which are known for
 * boxes: pure arithmetic.
 */
#ifndef COVEY_LIB_DOMAIN_POISSON_EQUATION_H
#define COVEY_LIB_DOMAIN_POISSON_EQUATION_H

#include "lib/domain/covey_domain/poisson.h"
#include "lib/domain/grid/split.h"

/* -lap(u) + c u = f; an axis of the room that the program does not have is periodic, of one point,
 * and counts nothing. */
struct equation {
    int dims;
    int64_t n[GRID_AXES];
    double h[GRID_AXES];
    int low[GRID_AXES], high[GRID_AXES]; /* enum covey_border */
    double c;
};

double equation_points(const struct equation *e);

/* Only u up to a constant is determined. */
int equation_is_singular(const struct equation *e);

/* 1 / h^2 of an axis, 0 of one that counts nothing. */
double equation_k(const struct equation *e, int axis);

/* The least eigenvalue of the matrix that is not 0, and the sum c + 2 sum k of its diagonal; and
 * the largest element of its diagonal. */
double equation_least(const struct equation *e);
double equation_diagonal(const struct equation *e);
double equation_diagonal_most(const struct equation *e);

/* The least eigenvalue of D^-1 A is not below this; the largest is not above 2. */
double equation_low(const struct equation *e);

/* The relaxation factors: Young's of SOR, and that of Jacobi's method for eigenvalues to 2. */
double equation_sor_omega(const struct equation *e);
double equation_jacobi_omega(const struct equation *e);

#endif
