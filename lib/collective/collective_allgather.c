/*
 * collective_allgather.c - a block of every member to all members.
 *
 *   bruck   log2(n) rounds, each of twice as many blocks, and a copy of all: small ones, equal ones
 *   ring    n-1 rounds of one block between neighbours, by host: large ones
 *   linear  everybody to everybody at once
 *   hosts   to one member of each host, between these, and to the others of their hosts; equal ones
 *   cast    like hosts, and between hosts what one has is one frame for all (collective_cast.c);
 *           unequal blocks each by its own member
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"
#include "lib/msg/error.h"

#include <assert.h>
#include <string.h>

#define BRUCK_BYTES 8192 /* of a block: up to here rounds cost more than copies */

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

/* Blocks that stand by host are to stand by rank. */
struct by_host {
    const uint8_t *from;
    uint8_t *to;
    const int *ranks;
    size_t block;
};

static int turn_blocks(struct collective *c, void *arg)
{
    const struct by_host *turn = arg;
    for (int i = 0; turn->block > 0 && i < collective_team(c)->size; i++)
        memcpy(turn->to + (size_t)turn->ranks[i] * turn->block,
               turn->from + (size_t)i * turn->block, turn->block);
    return COVEY_OK;
}

/* Of the leads: each has the blocks of its host in `blocks`, where all stand by host. */
static void tell_leads(struct collective *c, const struct host_circles *circles,
                       const struct host_order *order, const struct vector *v, uint8_t *blocks,
                       bool cast)
{
    size_t size = (size_t)collective_team(c)->size, width = covey_type_size(v->type);
    const struct circle *leads = &circles->leads;
    size_t *counts = collective_memory(c, size * sizeof *counts);
    void **arrays = collective_memory(c, size * sizeof *arrays);
    if (counts == NULL || arrays == NULL)
        return;
    size_t most = 0, least = SIZE_MAX;
    for (int i = 0; i < leads->size; i++) {
        int rank = circle_rank(leads, i);
        counts[rank] = (size_t)(order->first[i + 1] - order->first[i]) * v->each;
        arrays[rank] = blocks + (size_t)order->first[i] * v->each * width;
        most = counts[rank] > most ? counts[rank] : most;
        least = counts[rank] < least ? counts[rank] : least;
    }
    const struct vector parts = {.type = v->type, .counts = counts, .arrays = arrays};
    const struct vector equal = {.type = v->type, .base = blocks, .each = most};
    if (cast)
        allgather_cast(c, leads, &parts);
    else if (leads->size > 2 && most == least && most * width <= BRUCK_BYTES)
        allgather_bruck(c, leads, &equal);
    else
        allgather_ring(c, leads, &parts);
}

static void allgather_hosts(struct collective *c, const void *send, const struct vector *v,
                            bool cast)
{
    const struct covey_team *team = collective_team(c);
    size_t block = v->each * covey_type_size(v->type), size = (size_t)team->size;
    struct host_circles circles;
    struct host_order order;
    if (!host_circles(c, 0, &circles) || !host_order(c, &circles, &order))
        return;
    bool turned = false, leads = circles.leads.rank >= 0;
    for (int i = 0; i < team->size; i++)
        turned = turned || order.ranks[i] != i;
    uint8_t *blocks = leads && turned ? collective_memory(c, size * block) : v->base;
    struct by_host *turn = leads && turned ? collective_memory(c, sizeof *turn) : NULL;
    if (leads && turned && (blocks == NULL || turn == NULL))
        return;
    uint8_t *own = leads ? blocks + (size_t)order.first[circles.leads.rank] * block : NULL;
    host_collect(c, &circles, &(struct array){v->type, (void *)(uintptr_t)send, v->each}, own);
    collective_fence(c);
    if (leads)
        tell_leads(c, &circles, &order, v, blocks, cast);
    collective_fence(c);
    if (turn != NULL) {
        *turn = (struct by_host){blocks, v->base, order.ranks, block};
        collective_call(c, turn_blocks, turn);
        collective_fence(c);
    }
    host_bcast(c, &circles, &(struct array){v->type, v->base, v->each * size});
}

static size_t mean_bytes(const struct covey_team *team, const struct vector *v)
{
    return vector_range(v, 0, team->size, team->size) * covey_type_size(v->type) /
           (size_t)team->size;
}

void allgather_build(struct collective *c, const void *send, const struct vector *v)
{
    const struct covey_team *team = collective_team(c);
    const struct circle all = circle_all(team);
    size_t width = covey_type_size(v->type);
    size_t bytes = mean_bytes(team, v);
    enum algorithm algorithm = team_choose_messages(team, OPERATION_ALLGATHER, bytes);
    collective_copy(c, vector_block(v, team->rank), send, vector_count(v, team->rank) * width);
    collective_fence(c);
    /* Those of hosts and casts are for whole calls. */
    bool other = algorithm == ALLGATHER_HOSTS || algorithm == ALLGATHER_CAST;
    bool bruck = algorithm == ALLGATHER_BRUCK || (other && bytes <= BRUCK_BYTES);
    if (algorithm == ALLGATHER_LINEAR)
        allgather_linear(c, &all, v);
    else if (bruck && v->counts == NULL)
        allgather_bruck(c, &all, v);
    else {
        struct circle by_host;
        int root = 0;
        assert(bruck || other || algorithm == ALLGATHER_RING);
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

/* Unequal blocks. */
static void allgatherv_cast(struct collective *c, const void *send, const struct vector *v)
{
    const struct circle all = circle_all(collective_team(c));
    collective_copy(c, vector_block(v, all.rank), send,
                    vector_count(v, all.rank) * covey_type_size(v->type));
    collective_fence(c);
    allgather_cast(c, &all, v);
}

static int allgather_plan(covey_team_t *team, const void *send, const struct vector *v,
                          struct collective **c)
{
    int error = collective_create(team, "allgather", c);
    struct vector placed = *v;
    if (error != COVEY_OK || !vector_place(*c, &placed))
        return error;
    size_t bytes = mean_bytes(team, &placed);
    enum algorithm algorithm = team_choose_messages(team, OPERATION_ALLGATHER, bytes);
    if (!v->uneven && (algorithm == ALLGATHER_HOSTS || algorithm == ALLGATHER_CAST))
        allgather_hosts(*c, send, &placed, algorithm == ALLGATHER_CAST);
    else if (algorithm == ALLGATHER_CAST)
        allgatherv_cast(*c, send, &placed);
    else
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
    const struct shared_call job = {.kind = SHARED_ALLGATHER,
                                    .name = "allgather",
                                    .type = type,
                                    .count = count,
                                    .send = send,
                                    .recv = recv};
    int error = allgather_check(team, send, &v);
    if (error == COVEY_OK && shared_chosen(team, &job))
        return shared_start(team, &job, req);
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
