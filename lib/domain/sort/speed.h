/*
 * speed.h - how fast this team sorts and merges.
 */
#ifndef COVEY_LIB_DOMAIN_SORT_SPEED_H
#define COVEY_LIB_DOMAIN_SORT_SPEED_H

#include "lib/domain/base/figures.h"
#include "lib/domain/sort/cost.h"
#include "lib/domain/sort/run.h"

/* Adds to the speeds those of arrays of so many elements: of all members at once, of which the
 * slowest counts, and of rank 0 alone with `alone` elements while the others wait. What this
 * machine knows already is not measured. All members get the same. A collective call; no
 * communication if nothing is missing. */
int speed_learn(const struct sort_run *run, double elements, double alone, struct sort_cost *cost);

/* The speeds of numbers of 64 bits out of figures, for so many members at once on a host; returns
 * whether there are any. */
int speed_of_figures(const struct domain_figures *figures, int together,
                     struct sort_speeds *speeds);

/* Measures them in this process. Errors: ENOMEM. */
int speed_measure_figures(struct domain_figures *figures);

/* Members that compute at once on a host. */
int speed_together(const struct covey_domain_place *place);

#endif
