/*
 * collective_allgather.c - a block of every member to all members.
 *
 *   bruck   log2(n) rounds, each of twice as many blocks, and a copy of all: small ones, equal ones
 *   ring    n-1 rounds of one block between neighbours, by host: large ones
 *   linear  everybody to everybody at once
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"
#include "lib/msg/error.h"

#include <assert.h>

/* In each of n-1 rounds everybody passes on what came in the one before. */
void allgather_ring(struct collective *c, const struct circle *on, const struct vector *v)
{
    int to = circle_rank(on, on->rank + 1), from = circle_rank(on, on->rank - 1);
    for (int i = 0; i + 1 < on->size; i++) {
        int out = circle_rank(on, on->rank - i), in = circle_rank(on, on->rank - i - 1);
        collective_send(c, to, v->type, vector_block(v, out), vector_count(v, out));
        collective_receive(c, from, v->type, vector_block(v, in), vector_count(v, in));
        collective_fence(c);
    }
}

static void allgather_linear(struct collective *c, const struct circle *on, const struct vector *v)
{
    for (int i = 1; i < on->size; i++) {
        int from = circle_place(on, on->rank - i);
        collective_receive(c, circle_rank(on, from), v->type, vector_block(v, from),
                           vector_count(v, from));
    }
    for (int i = 1; i < on->size; i++)
        collective_send(c, circle_rank(on, on->rank + i), v->type, vector_block(v, on->rank),
                        vector_count(v, on->rank));
}

/* Bruck and others: with the own block first, round k gets 2^k blocks of the one 2^k further on. */
static void allgather_bruck(struct collective *c, const struct circle *on, const struct vector *v)
{
    size_t width = covey_type_size(v->type), block = v->each * width;
    uint8_t *turned = collective_memory(c, block * (size_t)on->size);
    if (turned == NULL)
        return;
    collective_copy(c, turned, vector_block(v, on->rank), block);
    collective_fence(c);
    for (int have = 1; have < on->size; have *= 2) {
        size_t n = (size_t)(have < on->size - have ? have : on->size - have);
        collective_send(c, circle_rank(on, on->rank - have), v->type, turned, n * v->each);
        collective_receive(c, circle_rank(on, on->rank + have), v->type,
                           turned + (size_t)have * block, n * v->each);
        collective_fence(c);
    }
    size_t before = (size_t)on->rank * block, behind = (size_t)(on->size - on->rank) * block;
    collective_copy(c, (uint8_t *)v->base + before, turned, behind);
    collective_copy(c, v->base, turned + behind, before);
}

void allgather_build(struct collective *c, const void *send, const struct vector *v)
{
    const struct covey_team *team = collective_team(c);
    const struct circle all = circle_all(team);
    size_t width = covey_type_size(v->type);
    size_t bytes = vector_range(v, 0, team->size, team->size) * width / (size_t)team->size;
    enum algorithm algorithm = team_choose_messages(team, OPERATION_ALLGATHER, bytes);
    collective_copy(c, vector_block(v, team->rank), send, vector_count(v, team->rank) * width);
    collective_fence(c);
    if (algorithm == ALLGATHER_LINEAR)
        allgather_linear(c, &all, v);
    else if (algorithm == ALLGATHER_BRUCK && v->counts == NULL)
        allgather_bruck(c, &all, v);
    else {
        struct circle by_host;
        int root = 0;
        assert(algorithm == ALLGATHER_RING || algorithm == ALLGATHER_BRUCK);
        if (circle_by_host(c, &root, &by_host))
            allgather_ring(c, &by_host, v);
    }
}

static int allgather_check(const covey_team_t *team, const void *send, const struct vector *v)
{
    int error = vector_check(team, "allgather", 0, v);
    if (error == COVEY_OK && send == NULL && vector_count(v, team->rank) > 0)
        error = error_set(COVEY_EINVAL, "allgather: NULL");
    return error;
}

static int allgather_plan(covey_team_t *team, const void *send, const struct vector *v,
                          struct collective **c)
{
    int error = collective_create(team, "allgather", c);
    struct vector placed = *v;
    if (error == COVEY_OK && vector_place(*c, &placed))
        allgather_build(*c, send, &placed);
    return error;
}

int covey_allgather(covey_team_t *team, int type, const void *send, void *recv, size_t count)
{
    return covey_iallgather(team, type, send, recv, count, COLLECTIVE_WAITS);
}

int covey_iallgather(covey_team_t *team, int type, const void *send, void *recv, size_t count,
                     covey_req_t **req)
{
    struct collective *c = NULL;
    const struct vector v = {.type = type, .base = recv, .each = count};
    int error = allgather_check(team, send, &v);
    if (error == COVEY_OK &&
        team_choose(team, OPERATION_ALLGATHER, count * covey_type_size(type)) == ALLGATHER_SHARED)
        return shared_start(team,
                            &(struct shared_job){.kind = SHARED_ALLGATHER,
                                                 .name = "allgather",
                                                 .type = type,
                                                 .count = count,
                                                 .send = send,
                                                 .recv = recv},
                            req);
    if (error == COVEY_OK)
        error = allgather_plan(team, send, &v, &c);
    return collective_start(error, c, req);
}

int covey_allgatherv(covey_team_t *team, int type, const void *send, void *recv,
                     const size_t *counts, const size_t *starts)
{
    return covey_iallgatherv(team, type, send, recv, counts, starts, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_iallgatherv(covey_team_t *team, int type, const void *send, void *recv,
                      const size_t *counts, const size_t *starts, covey_req_t **req)
{
    struct collective *c = NULL;
    const struct vector v = {
        .type = type, .base = recv, .uneven = true, .counts = counts, .starts = starts};
    int error = allgather_check(team, send, &v);
    if (error == COVEY_OK)
        error = allgather_plan(team, send, &v, &c);
    return collective_start(error, c, req);
}
