/*
 * place.h - where a problem is solved: what the costs of all libraries are computed from, besides
 * the speeds of their own kernels.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_PLACE_H
#define COVEY_LIB_DOMAIN_BASE_PLACE_H

#include "lib/domain/covey_domain/base.h"

#define DOMAIN_LOADED 1.2 /* a load from which on a host is not at rest: monitors are not sharp */

/* How many times longer a kernel takes than it does alone on a host at rest: while all members of
 * the team compute, and while rank 0 does and the others wait. */
double domain_slower(const struct covey_domain_place *place);
double domain_slower_root(const struct covey_domain_place *place);
/* The same while all compute and each has as much to do as its host lets it. */
double domain_slower_even(const struct covey_domain_place *place);

/* Seconds until what others run on loaded hosts lets a member go on that was waited for. 0 where no
 * host is loaded much: a twentieth of a load, which may be none, would be longer than what small
 * problems take. */
double domain_wait_s(const struct covey_domain_place *place);

/* Whether a rank's host is, by its share in percent. */
static inline int domain_is_at_rest(unsigned char share)
{
    return share * DOMAIN_LOADED > 100;
}

/* The place of those at rest alone, of which there must be some. */
struct covey_domain_place domain_place_at_rest(const struct covey_domain_place *place);

/* Sets all of it for a team: measures what not all members know of it since less than a minute, and
 * asks the monitor. A network that is given, by rank 0, counts instead. shares gets what others
 * leave each rank of its host, in percent, from 1 to 100; NULL: neither these nor the network of
 * those at rest is learned. A collective call.
 * Errors: ENOMEM, and those of all collective calls. */
int domain_place_learn(covey_team_t *team, const struct covey_domain_network *network,
                       struct covey_domain_place *place, unsigned char *shares);

/* Sets the processors and the load from what the monitors of the hosts say now; what they do not
 * say stays. Not collective, for rank 0. What members of this team computed is no load. */
void domain_place_look(covey_team_t *team, struct covey_domain_place *place);

#endif
