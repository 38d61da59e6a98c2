/*
 * collective_barrier.c - barriers: nobody leaves before all have come.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"
#include "lib/msg/error.h"

#include <assert.h>

static void barrier_tell(struct collective *c, const struct circle *on, int place)
{
    collective_send(c, circle_rank(on, place), COVEY_BYTES, NULL, 0);
}

static void hear(struct collective *c, const struct circle *on, int place)
{
    collective_receive(c, circle_rank(on, place), COVEY_BYTES, NULL, 0);
}

/* Hensgen, Finkel and Manber: in round k each tells the one 2^k further on, so after log2(n) rounds
 * each has heard, directly or not, of all. */
static void barrier_dissemination(struct collective *c, const struct circle *on)
{
    for (int distance = 1; distance < on->size; distance *= 2) {
        barrier_tell(c, on, on->rank + distance);
        hear(c, on, on->rank - distance);
        collective_fence(c);
    }
}

/* A binomial tree: to place 0, all that are below having come. */
static void gather_up(struct collective *c, const struct circle *on)
{
    int bit = 1;
    for (; bit < on->size && (on->rank & bit) == 0; bit *= 2) {
        if (on->rank + bit < on->size)
            hear(c, on, on->rank + bit);
    }
    collective_fence(c);
    if (on->rank != 0)
        barrier_tell(c, on, on->rank - bit);
}

static void release(struct collective *c, const struct circle *on)
{
    const struct array nothing = {.type = COVEY_BYTES};
    bcast_binomial(c, on, 0, &nothing);
}

/* Half of the way back is one frame for all hosts. */
static void barrier_cast(struct collective *c, const struct circle *on)
{
    const struct array nothing = {.type = COVEY_BYTES};
    gather_up(c, on);
    collective_fence(c);
    bcast_cast(c, on, 0, &nothing);
}

/* The lead knows that all of its host have come. */
static void host_gather(struct collective *c, const struct host_circles *circles)
{
    const struct covey_team *team = collective_team(c);
    if (!shared_suits(team, 0)) {
        gather_up(c, &circles->local);
        return;
    }
    const struct shared_call gather = {.kind = SHARED_REDUCE,
                                       .name = "barrier",
                                       .type = COVEY_BYTES,
                                       .root = shared_place(team, circle_rank(&circles->local, 0))};
    collective_shared(c, &gather, 0);
}

static void barrier_hosts(struct collective *c)
{
    struct host_circles circles;
    if (!host_circles(c, 0, &circles))
        return;
    host_gather(c, &circles);
    collective_fence(c);
    if (circles.leads.rank >= 0)
        barrier_dissemination(c, &circles.leads);
    collective_fence(c);
    host_bcast(c, &circles, &(struct array){.type = COVEY_BYTES});
}

static void barrier_build(struct collective *c)
{
    const struct circle all = circle_all(collective_team(c));
    switch (team_choose(collective_team(c), OPERATION_BARRIER, 0)) {
    case BARRIER_TREE:
        gather_up(c, &all);
        collective_fence(c);
        release(c, &all);
        break;
    case BARRIER_HOSTS:
        barrier_hosts(c);
        break;
    case BARRIER_CAST:
        barrier_cast(c, &all);
        break;
    case BARRIER_DISSEMINATION:
        barrier_dissemination(c, &all);
        break;
    default:
        assert(!"an algorithm of barrier that is not carried out");
    }
}

static int barrier_plan(covey_team_t *team, struct collective **c)
{
    if (team == NULL)
        return error_set(COVEY_EINVAL, "barrier: NULL");
    int error = collective_create(team, "barrier", c);
    if (error == COVEY_OK)
        barrier_build(*c);
    return error;
}

int covey_barrier(covey_team_t *team)
{
    return covey_ibarrier(team, COLLECTIVE_WAITS);
}

int covey_ibarrier(covey_team_t *team, covey_req_t **req)
{
    struct collective *c = NULL;
    const struct shared_call job = {.kind = SHARED_BARRIER, .name = "barrier", .type = COVEY_BYTES};
    if (team != NULL && shared_chosen(team, &job))
        return shared_start(team, &job, req);
    int error = barrier_plan(team, &c);
    return collective_start(error, c, req);
}
