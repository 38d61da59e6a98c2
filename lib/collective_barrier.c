/*
 * collective_barrier.c - barriers.
 */
#include "lib/collective.h"

/* Dissemination (Hensgen, Finkel, Manber): in round k each tells the one 2^k further on, so after
 * log2(n) rounds each has heard, directly or not, of all. */
static void barrier_dissemination(struct collective *c, const struct circle *on)
{
    for (int distance = 1; distance < on->size; distance *= 2) {
        collective_send(c, circle_rank(on, on->rank + distance), COVEY_BYTES, NULL, 0);
        collective_receive(c, circle_rank(on, on->rank - distance), COVEY_BYTES, NULL, 0);
        collective_fence(c);
    }
}

static int barrier_plan(covey_team_t *team, struct collective **c)
{
    if (team == NULL)
        return error_set(COVEY_EINVAL, "barrier: NULL");
    int error = collective_create(team, "barrier", c);
    if (error != COVEY_OK)
        return error;
    const struct circle all = circle_all(team);
    barrier_dissemination(*c, &all);
    return COVEY_OK;
}

int covey_barrier(covey_team_t *team)
{
    struct collective *c = NULL;
    int error = barrier_plan(team, &c);
    return collective_run(error, c);
}

int covey_ibarrier(covey_team_t *team, covey_req_t **req)
{
    struct collective *c = NULL;
    int error = barrier_plan(team, &c);
    return collective_start(error, c, req);
}
