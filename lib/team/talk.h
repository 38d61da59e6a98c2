/*
 * talk.h - the way of a message between members of a team, for talk.c and sendrecv.c.
 */
#ifndef COVEY_LIB_TALK_H
#define COVEY_LIB_TALK_H

#include "lib/calls/way.h"

#include <stdbool.h>

/* Sets *way to that to or from the rank; `any`: also from COVEY_ANY_RANK. Errors: EINVAL. */
int talk_way(covey_team_t *team, int rank, int tag, bool any, struct way *way);

#endif
