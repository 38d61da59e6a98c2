/*
 * dense_cost_factor.h - what the costs of Cholesky and QR are made of.
 */
#ifndef COVEY_LIB_DOMAIN_ALGEBRA_DENSE_COST_FACTOR_H
#define COVEY_LIB_DOMAIN_ALGEBRA_DENSE_COST_FACTOR_H

#include <math.h>

#include "lib/domain/algebra/dense_ops.h"

/* The algorithms, in the order of their names in dense_cost_cholesky.c and dense_cost_qr.c. */
enum factor_cholesky { CHOLESKY_LOCAL, CHOLESKY_RIGHT, CHOLESKY_LEFT, CHOLESKY_TILES };
enum factor_qr { QR_LOCAL, QR_BLOCK, QR_TSQR };

/* A message of so many elements to the next member, while so many members send one. */
static inline double factor_message_s(const struct dense_case *c, double senders, double elements)
{
    return dense_message_s(&c->place.network, senders, elements * dense_bytes(c->problem.type));
}

/* A reduction, or a gathering, of so many elements in all among `members`, of which half send at
 * once; as many as `groups` of them do. */
static inline double factor_rounds_s(const struct dense_case *c, int members, int groups,
                                     double elements)
{
    return members < 2
               ? 0
               : ceil(log2(members)) * factor_message_s(c, members / 2.0 * groups, elements);
}

/* A broadcast in each of so many groups of members. */
static inline struct dense_cast_cost factor_cast(const struct dense_case *c,
                                                 const struct dense_setting *s, int members,
                                                 int groups, double elements)
{
    return dense_cast_cost(&c->place.network, s->bcast, members, groups,
                           elements * dense_bytes(c->problem.type));
}

/* What the busiest of `members` has of the last n elements: half a block more than the mean. */
static inline double factor_most(double n, int block, int members)
{
    return members < 2 ? n : fmin(n, n / members + block / 2.0);
}

/* A triangular system of n with r right-hand sides on the grid: in each step a panel along the
 * rows, or of few right-hand sides a block, and a row of blocks along the columns. */
double factor_solve_cost(const struct dense_case *c, const struct dense_setting *s);

#endif
