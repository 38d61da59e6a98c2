/*
 * door_places.h - where members of a team could be: the caller as rank 0, and workers on processors
 * that are idle.
 */
#ifndef COVEY_LIB_DOMAIN_DOOR_DOOR_PLACES_H
#define COVEY_LIB_DOMAIN_DOOR_DOOR_PLACES_H

#include "lib/domain/door/door_options.h"

#define DOOR_RANKS_MOST 4096

struct door_host {
    int32_t index;
    int32_t idle;  /* processors that nothing competes for; of the caller's host besides its own */
    int32_t ranks; /* that it has in the list */
    uint64_t machine; /* hosts that share processors have the same; 0: not known */
    char name[64];
};

struct door_places {
    int host_count; /* the caller's own is the first */
    struct door_host *hosts;
    int rank_count;
    int32_t *at; /* by rank: the place of its host among these */
};

/* The hosts that are up, and as many ranks as there are idle processors: the caller's host first,
 * then the others in turn. With options->hosts or tasks: those hosts and at least so many ranks,
 * idle or not; is_rest: or what is left of them. Free with door_places_free().
 * Errors: ENOHOST (there are fewer hosts), ENOMEM, and those of covey_host_stats(). */
int door_places_find(covey_t *vm, const struct door_options *options, int is_rest,
                     struct door_places *places);

/* Of the first `tasks` ranks: on how many hosts they are, whether these are one machine, and the
 * least share of a processor that one of them has. */
int door_places_hosts(const struct door_places *places, int tasks);
int door_places_is_inside(const struct door_places *places, int tasks);
double door_places_share(const struct door_places *places, int tasks);

void door_places_free(struct door_places *places);

#endif
