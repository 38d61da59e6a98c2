/*
 * agree.h - what is wrong at one member is an error at all, so that nobody waits for a member that
 * went away with one.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_AGREE_H
#define COVEY_LIB_DOMAIN_BASE_AGREE_H

#include "lib/domain/covey_domain/base.h"

#include <string.h>

#define DOMAIN_SAME_MAX 24

/* Returns this member's `error`, or that of another one. A collective call; `what` begins the text
 * of what is not this member's own. Errors: also those of all collective calls. */
int domain_agree(covey_team_t *team, int error, const char *what);

/* The same with numbers that must be equal at all members, at most DOMAIN_SAME_MAX: EINVAL. */
int domain_agree_same(covey_team_t *team, int error, const int64_t *numbers, int count,
                      const char *what);

/* What these two return of this member's error, the least one of all, and whether their numbers are
 * equal: for who gathers them with something else. */
int domain_agreed(int error, int least, int are_same, const char *what);

/* A double as such a number. */
static inline int64_t domain_bits(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
