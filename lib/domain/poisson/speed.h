/*
 * speed.h - measuring what agglomeration and predictions must know.
 */
#ifndef COVEY_LIB_DOMAIN_POISSON_SPEED_H
#define COVEY_LIB_DOMAIN_POISSON_SPEED_H

#include "lib/domain/poisson/coarsen.h"

/* Sets the speed of sweeps over arrays that no cache holds, at that place: of all members at once,
 * and of rank 0 alone. What this machine does not know is measured. A collective call. Errors:
 * ENOMEM, and those of all collective calls. */
int speed_learn_passes(covey_team_t *team, const struct covey_domain_place *place,
                       struct speed *speed);

/* The same out of what a pass takes all members and one alone where nobody else computes. */
void speed_at(const struct covey_domain_place *place, double all_s, double alone_s,
              struct speed *speed);

/* The first of this process alone: seconds of a pass, a point. Errors: ENOMEM. */
int speed_measure_alone(double *seconds);

#endif
