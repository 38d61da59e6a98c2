/*
 * collective_allgather.c - a block of every member to all members.
 */
#include "lib/collective.h"

/* A ring: in each of n-1 steps everybody passes on what came in the step before. */
static void allgather_ring(struct collective *c, const struct circle *on, const struct vector *v)
{
    int to = circle_rank(on, on->rank + 1), from = circle_rank(on, on->rank - 1);
    for (int i = 0; i + 1 < on->size; i++) {
        int out = circle_rank(on, on->rank - i), in = circle_rank(on, on->rank - i - 1);
        collective_send(c, to, v->type, vector_block(v, out), vector_count(v, out));
        collective_receive(c, from, v->type, vector_block(v, in), vector_count(v, in));
        collective_fence(c);
    }
}

static int allgather_plan(covey_team_t *team, const void *send, const struct vector *v,
                          struct collective **c)
{
    int error = vector_check(team, "allgather", 0, v);
    if (error == COVEY_OK && send == NULL && vector_count(v, team->rank) > 0)
        error = error_set(COVEY_EINVAL, "allgather: NULL");
    if (error == COVEY_OK)
        error = collective_create(team, "allgather", c);
    if (error != COVEY_OK)
        return error;
    const struct circle all = circle_all(team);
    collective_copy(*c, vector_block(v, team->rank), send,
                    vector_count(v, team->rank) * covey_type_size(v->type));
    collective_fence(*c);
    allgather_ring(*c, &all, v);
    return COVEY_OK;
}

int covey_allgather(covey_team_t *team, int type, const void *send, void *recv, size_t count)
{
    struct collective *c = NULL;
    int error =
        allgather_plan(team, send, &(struct vector){.type = type, .base = recv, .each = count}, &c);
    return collective_run(error, c);
}

int covey_iallgather(covey_team_t *team, int type, const void *send, void *recv, size_t count,
                     covey_req_t **req)
{
    struct collective *c = NULL;
    int error =
        allgather_plan(team, send, &(struct vector){.type = type, .base = recv, .each = count}, &c);
    return collective_start(error, c, req);
}
