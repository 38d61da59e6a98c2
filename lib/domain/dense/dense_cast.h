/*
 * dense_cast.h - broadcasts of panels that go on while their receivers compute.
 *
 * Each member begins the cast, asks now and then whether something is to be passed on (between
 * parts of an update), and ends it: then the array is there, and has been passed on.
 */
#ifndef COVEY_LIB_DOMAIN_DENSE_DENSE_CAST_H
#define COVEY_LIB_DOMAIN_DENSE_DENSE_CAST_H

#include <covey.h>

#include "lib/domain/algebra/dense_cost.h"

#define DENSE_CAST_SENDS 32 /* log2 of the members of a team, at most */

struct dense_cast {
    covey_team_t *team;
    int type;
    void *base;
    size_t count;
    covey_req_t *receive; /* or the whole broadcast of the library; NULL: is there */
    covey_req_t *sends[DENSE_CAST_SENDS];
    int to[DENSE_CAST_SENDS]; /* to whom it is passed on, in this order */
    int to_count, sent;
};

/* Begins a broadcast of `count` elements from `root` of the team by enum dense_bcast. A struct of
 * zeros is one that has ended. Errors: those of covey_team_isend(). */
int dense_cast_begin(struct dense_cast *cast, covey_team_t *team, int bcast, int root);

/* Passes on what has come. Returns 1 when the array is there, 0 when it is not yet, or an error. */
int dense_cast_poll(struct dense_cast *cast);

/* Waits until the array is there and need not be kept. */
int dense_cast_wait(struct dense_cast *cast); /* until it is there */
int dense_cast_end(struct dense_cast *cast);  /* and has been passed on: it may change then */

/* Gives up. A struct of zeros is fine. */
void dense_cast_free(struct dense_cast *cast);

#endif
