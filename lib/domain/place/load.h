/*
 * load.h - what the monitors know of the hosts of a team that runs.
 */
#ifndef COVEY_LIB_DOMAIN_PLACE_LOAD_H
#define COVEY_LIB_DOMAIN_PLACE_LOAD_H

#include "lib/domain/covey_domain/base.h"

/* All members tell what they used of their processors, and rank 0 sets the processors, loads and
 * capacity of its place, and the shares that domain_place_learn() gives, unless that is NULL. What
 * monitors do not say stays. A collective call. Errors: ENOMEM, and those of all collective calls.
 */
int load_look_together(covey_team_t *team, struct covey_domain_place *place, unsigned char *shares);

#endif
