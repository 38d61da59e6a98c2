/*
 * sum.h - sums that do not depend on how a grid is divided.
 *
 * Each sum is a pair whose parts together have twice the digits of a double; the pairs of all
 * members are added in the same way. The result, rounded to a double, is that of any other order
 * unless the exact sum lies within some 2^-100 of the middle between two doubles. So iterations of
 * solvers are counted alike for all numbers of members.
 *
 * D. E. Knuth, The Art of Computer Programming 2, section 4.2.2, theorem B: the error of a sum.
 */
#ifndef COVEY_LIB_DOMAIN_GRID_SUM_H
#define COVEY_LIB_DOMAIN_GRID_SUM_H

#include <stdint.h>

#include "lib/domain/covey_domain/base.h"
#include "lib/domain/grid/field.h"

#define SUMS_MAX 4
#define SUM_LANES 8 /* so many terms are added side by side */

struct sum {
    double high, low;
};

struct sum_lanes {
    double high[SUM_LANES], low[SUM_LANES];
};

static inline void sum_add(double *high, double *low, double term)
{
    double total = *high + term, part = total - *high;
    *low += (*high - (total - part)) + (term - part);
    *high = total;
}

/* Adds a[k] * b[k]. */
void sum_row(struct sum_lanes *lanes, const double *a, const double *b, int64_t n);

/* The sum of all lanes. */
struct sum sum_of(const struct sum_lanes *lanes);

/* Sum of a * b over the points of the field, without halo; b NULL: of a alone. */
struct sum sum_field(const struct grid_field *field, const double *a, const double *b);

/* Adds up so many (to SUMS_MAX) sums of all members; all get the same doubles. team NULL: there are
 * no others. A collective call. Errors: ENOMEM, and those of all collective calls. */
int sum_all(covey_team_t *team, const struct sum *mine, int count, double *all);

/* The same for members that agree on what was before by the way: each says whether it failed, and
 * the number shall be the same at all. `what` begins texts as those of domain_agree(). Errors: also
 * those, EINVAL for different numbers, and those of collective calls break the team. */
struct sum_agreed {
    int error;
    double number;
    const char *what;
};
int sum_all_agreed(covey_team_t *team, const struct sum *mine, int count,
                   const struct sum_agreed *agreed, double *all);

/* sum_all() with the gathering under way between the two; `pairs` has SUMS_MAX * 2 * (1 + members)
 * doubles that stay untouched. */
int sum_begin(covey_team_t *team, const struct sum *mine, int count, double *pairs,
              covey_req_t **request);
int sum_end(covey_team_t *team, int count, const double *pairs, covey_req_t **request, double *all);

#endif
