/*
 * coarsen.c - axes are coarsened together if their 1 / h^2 are alike. Weak ones wait until the
 * strong ones have come to them, for a relaxation of points does nothing to errors along weak axes.
 */
#include "lib/domain/poisson/coarsen.h"

#include <math.h>

#define LEAST_POINTS 2 /* of an axis that is coarsened no more */
#define STRONG 0.3     /* of the largest 1 / h^2: coarsened */

int coarsen_equation(const struct equation *fine, struct equation *coarse)
{
    double most = 0;
    for (int d = GRID_AXES - fine->dims; d < GRID_AXES; d++)
        if (fine->n[d] > LEAST_POINTS)
            most = fmax(most, equation_k(fine, d));
    *coarse = *fine;
    for (int d = GRID_AXES - fine->dims; d < GRID_AXES; d++) {
        if (fine->n[d] <= LEAST_POINTS || equation_k(fine, d) < STRONG * most)
            continue;
        coarse->n[d] = (fine->n[d] + 1) / 2;
        coarse->h[d] = fine->h[d] * (double)fine->n[d] / (double)coarse->n[d];
    }
    return most > 0;
}

static int has_periodic_axis(const struct equation *e)
{
    for (int d = GRID_AXES - e->dims; d < GRID_AXES; d++)
        if (e->low[d] == COVEY_BORDER_PERIODIC)
            return 1;
    return 0;
}

/* Of an axis in two parts a member has a neighbour on one side, unless the axis is periodic. */
double coarsen_exchange_s(const struct speed *speed, const struct equation *e, int members)
{
    if (members == 1)
        return 0;
    double points = equation_points(e);
    double axes = members < 4 ? 1 : members < 8 ? 2 : 3, face = pow(points / members, 2.0 / 3);
    double faces = has_periodic_axis(e) ? 2 : fmin(2, pow(members, 1 / axes) - 1);
    return axes * (speed->alpha_s + faces * 8 * face * speed->beta_s) + speed->wait_s;
}

/* What all sweeps of a visit take when so many members have the level. */
static double visit_s(const struct speed *speed, const struct equation *e, int members, int sweeps)
{
    double points = equation_points(e);
    double passes = 6.6 * sweeps + 3;
    if (members == 1)
        return passes * points * speed->alone_s;
    return passes * points / members * speed->sweep_s +
           4 * sweeps * coarsen_exchange_s(speed, e, members);
}

int coarsen_members(const struct speed *speed, const struct equation *e, int before, int sweeps)
{
    double points = equation_points(e);
    double least = visit_s(speed, e, before, sweeps);
    int best = before;
    for (int members = before; members > 1;) {
        members = (members + 1) / 2;
        double seconds = visit_s(speed, e, members, sweeps) +
                         2 * (speed->alpha_s + 8 * points / members * speed->beta_s);
        if (seconds < least) {
            least = seconds;
            best = members;
        }
    }
    return best;
}
