/*
 * collective_bcast.c - one array to all members.
 */
#include "lib/collective.h"

/* A binomial tree: who has the array gives it to the one half of its part away. */
static void bcast_binomial(struct collective *c, const struct circle *on, int root,
                           const struct array *a)
{
    int place = (on->rank - root + on->size) % on->size, bit = 1;
    while (bit < on->size && (place & bit) == 0)
        bit *= 2;
    if (place != 0) {
        collective_receive(c, circle_rank(on, on->rank - bit), a->type, a->base, a->count);
        collective_fence(c);
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        if (place + bit < on->size)
            collective_send(c, circle_rank(on, on->rank + bit), a->type, a->base, a->count);
    }
}

static int bcast_plan(covey_team_t *team, int root, const struct array *a, struct collective **c)
{
    int error = collective_check(team, "bcast", root, a);
    if (error == COVEY_OK)
        error = collective_create(team, "bcast", c);
    if (error != COVEY_OK)
        return error;
    const struct circle all = circle_all(team);
    bcast_binomial(*c, &all, root, a);
    return COVEY_OK;
}

int covey_bcast(covey_team_t *team, int root, int type, void *base, size_t count)
{
    struct collective *c = NULL;
    int error = bcast_plan(team, root, &(struct array){type, base, count}, &c);
    return collective_run(error, c);
}

int covey_ibcast(covey_team_t *team, int root, int type, void *base, size_t count,
                 covey_req_t **req)
{
    struct collective *c = NULL;
    int error = bcast_plan(team, root, &(struct array){type, base, count}, &c);
    return collective_start(error, c, req);
}
