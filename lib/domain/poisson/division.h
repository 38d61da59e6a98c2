/*
 * division.h - plans of one grid that live at the same time divide it alike, whatever methods they
 * take and whatever the load was when each was made: so fields of one are fields of the other.
 */
#ifndef COVEY_LIB_DOMAIN_POISSON_DIVISION_H
#define COVEY_LIB_DOMAIN_POISSON_DIVISION_H

#include "lib/domain/poisson/poisson.h"

/* A plan whose grid was divided, unless the program said how. Until it is removed. */
void division_add(struct covey_poisson *plan);
void division_remove(struct covey_poisson *plan);

/* Sets slabs and shares of a plan as the youngest one of these members and points has them:
 * returns 1, or 0 if there is none. Not collective: plans are freed by each member alone. */
int division_find(struct covey_poisson *plan);

#endif
