/*
 * collective_reduce_scatter.c - a block of the result to every member.
 *
 *   pairwise         each sends every other the block that is his, and reduces what comes for its
 * own ring             blocks go round and are added to: fewer partners, operations that commute
 *   reduce-scatterv  the whole result at one member, who hands out the blocks
 *   cast             all to all, one frame of each host, and each reduces its own block: short ones
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"
#include "lib/msg/error.h"

#include <assert.h>

/* Of each member's `own` array the block `v` says is for each; result: the own one. */
struct blocks {
    int op;
    const struct vector *v;
    uint8_t *result;
};

/* ---- pairwise -------------------------------------------------------------------------------- */

/* What came of members below is in acc with the own block, and of those above in `upper`. They come
 * from the next lower one downwards, round the end, so each goes to the left of what is there. */
struct sides {
    uint8_t *temp[2], *upper;
    int folded, upper_received; /* the last reduction; what the first one above sent */
};

static int fold(struct collective *c, const struct blocks *b, const void *left, const void *right,
                void *result)
{
    const struct operands on = {left, right, result, vector_count(b->v, collective_team(c)->rank)};
    return collective_reduce(c, b->op, b->v->type, &on);
}

/* The i-th round: a receive, and its reduction while the next one comes. */
static int reduce_scatter_take(struct collective *c, const struct blocks *b, struct sides *s, int i,
                               int before)
{
    const struct covey_team *team = collective_team(c);
    int from = (team->rank - i + team->size) % team->size;
    bool first_upper = from == team->size - 1;
    uint8_t *to = first_upper ? s->upper : s->temp[i % 2];
    uint8_t *acc = from < team->rank ? b->result : s->upper;
    int received = collective_receive(c, from, b->v->type, to, vector_count(b->v, team->rank));
    collective_after(c, received, before);
    if (first_upper) {
        s->upper_received = received;
        return received;
    }
    int folded = fold(c, b, to, acc, acc);
    collective_after(c, folded, received);
    collective_after(c, folded, s->folded);
    collective_after(c, folded, s->upper_received);
    s->folded = folded;
    return folded;
}

static void pairwise(struct collective *c, const struct blocks *b)
{
    const struct covey_team *team = collective_team(c);
    size_t bytes = vector_count(b->v, team->rank) * covey_type_size(b->v->type);
    struct sides s = {.folded = -1, .upper_received = -1};
    uint8_t *memory = collective_memory(c, 3 * bytes);
    if (memory == NULL)
        return;
    s.temp[0] = memory;
    s.temp[1] = memory + bytes;
    s.upper = memory + 2 * bytes;
    int taken[2] = {-1, -1}, sent[2] = {-1, -1};
    for (int i = 1; i < team->size; i++) {
        int to = (team->rank + i) % team->size;
        int send =
            collective_send(c, to, b->v->type, vector_block(b->v, to), vector_count(b->v, to));
        collective_after(c, send, sent[i % 2]);
        sent[i % 2] = send;
        taken[i % 2] = reduce_scatter_take(c, b, &s, i, taken[i % 2]);
    }
    collective_fence(c);
    if (team->rank + 1 < team->size)
        fold(c, b, b->result, s.upper, b->result);
}

/* ---- the others ------------------------------------------------------------------------------ */

/* Each block begins at the member behind its own in the circle and comes home after n-1 steps. */
static void ring(struct collective *c, const struct blocks *b)
{
    const struct covey_team *team = collective_team(c);
    struct circle on;
    int root = 0;
    size_t width = covey_type_size(b->v->type), most = 0;
    for (int i = 0; i < team->size; i++)
        most = vector_count(b->v, i) > most ? vector_count(b->v, i) : most;
    uint8_t *memory = collective_memory(c, 2 * most * width);
    if (memory == NULL || !circle_by_host(c, &root, &on))
        return;
    const void *have = vector_block(b->v, circle_rank(&on, on.rank - 1));
    for (int i = 1; i < team->size; i++) {
        int out = circle_rank(&on, on.rank - i), in = circle_rank(&on, on.rank - i - 1);
        uint8_t *temp = memory + (size_t)(i % 2) * most * width;
        const struct operands sum = {.left = temp,
                                     .right = in == team->rank ? b->result : vector_block(b->v, in),
                                     .result = in == team->rank ? b->result : temp,
                                     .count = vector_count(b->v, in)};
        collective_send(c, circle_rank(&on, on.rank + 1), b->v->type, have,
                        vector_count(b->v, out));
        collective_receive(c, circle_rank(&on, on.rank - 1), b->v->type, temp, sum.count);
        collective_fence(c);
        collective_reduce(c, b->op, b->v->type, &sum);
        collective_fence(c);
        have = temp;
    }
}

static void reduce_scatterv(struct collective *c, const struct blocks *b)
{
    const struct covey_team *team = collective_team(c);
    const struct circle on = circle_all(team);
    size_t count = vector_range(b->v, 0, team->size, team->size);
    size_t width = covey_type_size(b->v->type), own = vector_count(b->v, team->rank);
    struct reduction r = {.op = b->op, .type = b->v->type, .count = count, .own = b->v->base};
    r.acc = collective_memory(c, count * width);
    r.temp = collective_memory(c, count * width);
    if (r.acc == NULL || r.temp == NULL)
        return;
    struct vector parts = *b->v;
    parts.base = r.acc;
    reduce_binomial(c, &on, 0, &r);
    collective_fence(c);
    if (team->rank != 0)
        collective_receive(c, 0, r.type, b->result, own);
    else
        collective_copy(c, b->result, r.acc, own * width);
    for (int i = 1; i < team->size && team->rank == 0; i++)
        collective_send(c, i, r.type, vector_block(&parts, i), vector_count(&parts, i));
}

static void cast(struct collective *c, const struct blocks *b)
{
    const struct covey_team *team = collective_team(c);
    size_t count = vector_range(b->v, 0, team->size, team->size);
    struct reduction r = {.op = b->op, .type = b->v->type, .count = count, .own = b->v->base};
    r.temp = collective_memory(c, count * covey_type_size(r.type));
    if (r.temp != NULL)
        reduce_scatter_cast(c, &r, b->v, b->result);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The own block into the result first; in place, where that is in the way of others, all of it
 * somewhere else before. */
static bool reduce_scatter_prepare(struct collective *c, struct vector *v, uint8_t *result)
{
    const struct covey_team *team = collective_team(c);
    size_t width = covey_type_size(v->type);
    size_t bytes = vector_range(v, 0, team->size, team->size) * width;
    if (v->base == (void *)result) {
        uint8_t *copy = collective_memory(c, bytes);
        collective_copy(c, copy, v->base, bytes);
        collective_fence(c);
        v->base = copy;
    }
    collective_copy(c, result, vector_block(v, team->rank), vector_count(v, team->rank) * width);
    collective_fence(c);
    return v->base != NULL || bytes == 0;
}

static void reduce_scatter_build(struct collective *c, const struct blocks *b)
{
    const struct covey_team *team = collective_team(c);
    size_t bytes = vector_range(b->v, 0, team->size, team->size) * covey_type_size(b->v->type);
    enum algorithm algorithm = team_choose_messages(team, OPERATION_REDUCE_SCATTER, bytes);
    assert(algorithm == REDUCE_SCATTER_RING || algorithm == REDUCE_SCATTER_PAIRWISE ||
           algorithm == REDUCE_SCATTER_REDUCE_SCATTERV || algorithm == REDUCE_SCATTER_CAST);
    if (algorithm == REDUCE_SCATTER_RING && op_commutes(team->vm, b->op))
        ring(c, b);
    else if (algorithm == REDUCE_SCATTER_REDUCE_SCATTERV)
        reduce_scatterv(c, b);
    else if (algorithm == REDUCE_SCATTER_CAST)
        cast(c, b);
    else
        pairwise(c, b);
}

static int reduce_scatter_check(const covey_team_t *team, int op, const struct vector *v,
                                const void *result)
{
    int error = vector_check(team, "reduce_scatter", 0, v);
    for (int i = 0; error == COVEY_OK && i < team->size; i++)
        error = op_check(team->vm, "reduce_scatter", op, v->type, v->counts[i]);
    if (error == COVEY_OK && result == NULL && v->counts[team->rank] > 0)
        error = error_set(COVEY_EINVAL, "reduce_scatter: NULL");
    return error;
}

static int reduce_scatter_start(covey_team_t *team, int op, struct vector *v, void *result,
                                covey_req_t **req)
{
    struct collective *c = NULL;
    int error = reduce_scatter_check(team, op, v, result);
    if (error != COVEY_OK)
        return error;
    const struct shared_call job = {.kind = SHARED_REDUCE_SCATTER,
                                    .name = "reduce_scatter",
                                    .op = op,
                                    .type = v->type,
                                    .count = vector_range(v, 0, team->size, team->size),
                                    .counts = v->counts,
                                    .send = v->base,
                                    .recv = result};
    if (shared_chosen(team, &job))
        return shared_start(team, &job, req);
    error = collective_create(team, "reduce_scatter", &c);
    if (error == COVEY_OK && vector_place(c, v) && reduce_scatter_prepare(c, v, result))
        reduce_scatter_build(c, &(struct blocks){.op = op, .v = v, .result = result});
    return collective_start(error, c, req);
}

int covey_reduce_scatter(covey_team_t *team, int op, int type, const void *send, void *recv,
                         const size_t *counts)
{
    return covey_ireduce_scatter(team, op, type, send, recv, counts, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_ireduce_scatter(covey_team_t *team, int op, int type, const void *send, void *recv,
                          const size_t *counts, covey_req_t **req)
{
    struct vector v = {.type = type, .base = (void *)send, .uneven = true, .counts = counts};
    return reduce_scatter_start(team, op, &v, recv, req);
}
