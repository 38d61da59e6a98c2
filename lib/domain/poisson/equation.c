/*
 * equation.c - eigenvalues. Those of one axis of n cells are 4 k sin^2 of angles that depend on its
 * borders, and those of the grid are sums of them: G. Strang, The discrete cosine transform, SIAM
 * Review 41 (1999).
 *
 * Those of D^-1 A are above least(A) / max(D), and not above 2: in no row the elements beside the
 * diagonal are together larger than it. Jacobi's method with the factor 2 / (low + 2) leaves
 * (2 - low) / (2 + low) of the slowest error in each step, also where 2 is reached.
 *
 * D. M. Young, Iterative solution of large linear systems (1971), section 6.2: the factor of SOR.
 */
#include "lib/domain/poisson/equation.h"

#include <math.h>

#define HIGH 2.0

double equation_k(const struct equation *e, int axis)
{
    return axis < GRID_AXES - e->dims ? 0 : 1 / (e->h[axis] * e->h[axis]);
}

double equation_points(const struct equation *e)
{
    return (double)e->n[0] * (double)e->n[1] * (double)e->n[2];
}

int equation_is_singular(const struct equation *e)
{
    for (int d = GRID_AXES - e->dims; d < GRID_AXES; d++)
        if (e->low[d] == COVEY_BORDER_VALUE || e->high[d] == COVEY_BORDER_VALUE)
            return 0;
    return !(e->c > 0);
}

/* The two least eigenvalues of one axis: 4 k sin^2 of these angles. */
static void angles(const struct equation *e, int axis, double angle[2])
{
    double n = (double)e->n[axis];
    int low = e->low[axis] == COVEY_BORDER_VALUE, high = e->high[axis] == COVEY_BORDER_VALUE;
    if (e->low[axis] == COVEY_BORDER_PERIODIC) {
        angle[0] = 0;
        angle[1] = n > 1 ? M_PI / n : 0;
    } else {
        angle[0] = (low && high ? 2 : low || high ? 1 : 0) * M_PI / (4 * n);
        angle[1] = n > 1 ? angle[0] + M_PI / (2 * n) : angle[0];
    }
}

double equation_least(const struct equation *e)
{
    double all = e->c, next = INFINITY;
    for (int d = GRID_AXES - e->dims; d < GRID_AXES; d++) {
        double angle[2];
        angles(e, d, angle);
        double first = 4 * equation_k(e, d) * sin(angle[0]) * sin(angle[0]);
        double second = 4 * equation_k(e, d) * sin(angle[1]) * sin(angle[1]);
        all += first;
        if (second > first)
            next = fmin(next, second - first);
    }
    if (!equation_is_singular(e))
        return all;
    return isinf(next) ? equation_diagonal(e) : next;
}

double equation_diagonal(const struct equation *e)
{
    double diagonal = e->c;
    for (int d = 0; d < GRID_AXES; d++)
        diagonal += 2 * equation_k(e, d);
    return diagonal;
}

double equation_diagonal_most(const struct equation *e)
{
    double diagonal = equation_diagonal(e);
    for (int d = GRID_AXES - e->dims; d < GRID_AXES; d++) {
        int low = e->low[d] == COVEY_BORDER_VALUE, high = e->high[d] == COVEY_BORDER_VALUE;
        if (low || high)
            diagonal += (low && high && e->n[d] == 1 ? 2 : 1) * equation_k(e, d);
    }
    return diagonal;
}

double equation_low(const struct equation *e)
{
    return equation_least(e) / equation_diagonal_most(e);
}

double equation_jacobi_omega(const struct equation *e)
{
    return 2 / (equation_low(e) + HIGH);
}

double equation_sor_omega(const struct equation *e)
{
    double radius = 1 - equation_least(e) / equation_diagonal(e);
    return radius > 0 ? 2 / (1 + sqrt(1 - radius * radius)) : 1;
}
