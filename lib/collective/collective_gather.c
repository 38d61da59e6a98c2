/*
 * collective_gather.c - a block of every member to the root, and the other way: gather, scatter.
 *
 *   linear    the root with each: large blocks, and uneven ones, whose sizes only the root knows
 *   binomial  a tree in log2(n) rounds: small blocks, which are copied on their way
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"
#include "lib/msg/error.h"

/* ---- the tree -------------------------------------------------------------------------------- */

/* One member's part of the tree: it stands for the places place .. place + span - 1 from the root
 * on, whose blocks are together in `memory`. */
struct branch {
    const struct circle *on;
    const struct vector *v;
    uint8_t *memory;
    int root, place, span;
};

static size_t block_bytes(const struct branch *b)
{
    return b->v->each * covey_type_size(b->v->type);
}

static bool branch_init(struct collective *c, struct branch *b)
{
    int bit = 1;
    b->place = circle_place(b->on, b->on->rank - b->root);
    while (bit < b->on->size && (b->place & bit) == 0)
        bit *= 2;
    b->span = bit < b->on->size - b->place ? bit : b->on->size - b->place;
    bool in_place = b->place == 0 && b->root == 0;
    b->memory = in_place ? b->v->base : collective_memory(c, block_bytes(b) * (size_t)b->span);
    return b->memory != NULL || block_bytes(b) == 0;
}

/* Elements of the child's branch that begins at `bit` further on. */
static size_t child_count(const struct branch *b, int bit)
{
    int span = b->on->size - b->place - bit;
    return b->v->each * (size_t)(span < bit ? span : bit);
}

/* Between the root's memory in the order of places and the array in that of ranks. */
static void branch_turn(struct collective *c, const struct branch *b, bool to_array)
{
    size_t before = (size_t)b->root * block_bytes(b);
    size_t behind = (size_t)(b->on->size - b->root) * block_bytes(b);
    uint8_t *array = b->v->base;
    if (b->place != 0 || b->memory == array)
        return;
    collective_copy(c, to_array ? array + before : b->memory, to_array ? b->memory : array + before,
                    behind);
    collective_copy(c, to_array ? array : b->memory + behind, to_array ? b->memory + behind : array,
                    before);
}

static void gather_binomial(struct collective *c, struct branch *b, const void *own)
{
    int bit = 1;
    if (!branch_init(c, b))
        return;
    collective_copy(c, b->memory, own, block_bytes(b));
    for (; bit < b->on->size && (b->place & bit) == 0; bit *= 2) {
        if (b->place + bit < b->on->size)
            collective_receive(c, circle_rank(b->on, b->on->rank + bit), b->v->type,
                               b->memory + (size_t)bit * block_bytes(b), child_count(b, bit));
    }
    collective_fence(c);
    if (b->place != 0)
        collective_send(c, circle_rank(b->on, b->on->rank - bit), b->v->type, b->memory,
                        b->v->each * (size_t)b->span);
    branch_turn(c, b, true);
}

static void scatter_binomial(struct collective *c, struct branch *b, void *own)
{
    int bit = 1;
    if (!branch_init(c, b))
        return;
    while (bit < b->on->size && (b->place & bit) == 0)
        bit *= 2;
    branch_turn(c, b, false);
    if (b->place != 0)
        collective_receive(c, circle_rank(b->on, b->on->rank - bit), b->v->type, b->memory,
                           b->v->each * (size_t)b->span);
    collective_fence(c);
    for (bit /= 2; bit > 0; bit /= 2) {
        if (b->place + bit < b->on->size)
            collective_send(c, circle_rank(b->on, b->on->rank + bit), b->v->type,
                            b->memory + (size_t)bit * block_bytes(b), child_count(b, bit));
    }
    collective_copy(c, own, b->memory, block_bytes(b));
}

/* ---- the root with each ---------------------------------------------------------------------- */

static size_t own_bytes(const struct array *own)
{
    return own->count * covey_type_size(own->type);
}

static void gather_linear(struct collective *c, int root, const struct array *own,
                          const struct vector *v)
{
    const struct covey_team *team = collective_team(c);
    if (team->rank != root) {
        if (own->count > 0)
            collective_send(c, root, own->type, own->base, own->count);
        return;
    }
    collective_copy(c, vector_block(v, root), own->base, own_bytes(own));
    for (int i = 1; i < team->size; i++) {
        int from = (root + i) % team->size;
        if (vector_count(v, from) > 0)
            collective_receive(c, from, v->type, vector_block(v, from), vector_count(v, from));
    }
}

static void scatter_linear(struct collective *c, int root, const struct array *own,
                           const struct vector *v)
{
    const struct covey_team *team = collective_team(c);
    if (team->rank != root) {
        if (own->count > 0)
            collective_receive(c, root, own->type, own->base, own->count);
        return;
    }
    for (int i = 1; i < team->size; i++) {
        int to = (root + i) % team->size;
        if (vector_count(v, to) > 0)
            collective_send(c, to, v->type, vector_block(v, to), vector_count(v, to));
    }
    collective_copy(c, own->base, vector_block(v, root), own_bytes(own));
}

/* ---- the calls ------------------------------------------------------------------------------- */

struct direction {
    const char *name;
    enum operation operation;
    enum algorithm binomial;
    enum shared_kind shared;
};
static const struct direction gathering = {"gather", OPERATION_GATHER, GATHER_BINOMIAL,
                                           SHARED_GATHER};
static const struct direction scattering = {"scatter", OPERATION_SCATTER, SCATTER_BINOMIAL,
                                            SHARED_SCATTER};

/* What the root alone must give right. */
static int root_check(const covey_team_t *team, const struct direction *d, int root,
                      const struct array *own, const struct vector *v)
{
    int error = collective_check(team, d->name, root, own);
    if (error != COVEY_OK || team->rank != root)
        return error;
    error = vector_check(team, d->name, root, v);
    if (error == COVEY_OK && vector_count(v, root) != own->count)
        error = error_set(COVEY_EINVAL, "%s: the root's own block has %zu elements, not %zu",
                          d->name, vector_count(v, root), own->count);
    return error;
}

static void gather_build(struct collective *c, const struct direction *d, int root,
                         const struct array *own, const struct vector *v)
{
    const struct covey_team *team = collective_team(c);
    const struct circle all = circle_all(team);
    struct branch b = {.on = &all, .v = v, .root = root};
    bool gather = d == &gathering;
    if (!v->uneven && team_choose_messages(team, d->operation, own_bytes(own)) == d->binomial) {
        if (gather)
            gather_binomial(c, &b, own->base);
        else
            scatter_binomial(c, &b, own->base);
    } else if (gather) {
        gather_linear(c, root, own, v);
    } else {
        scatter_linear(c, root, own, v);
    }
}

/* NOLINTNEXTLINE(readability-function-size): what both calls are given */
static int gather_start(covey_team_t *team, const struct direction *d, int root,
                        const struct array *own, const struct vector *v, covey_req_t **req)
{
    struct collective *c = NULL;
    struct vector placed = *v;
    bool gather = d == &gathering, all_know_sizes = !v->uneven;
    const struct shared_call job = {.kind = d->shared,
                                    .name = d->name,
                                    .root = root,
                                    .type = own->type,
                                    .count = own->count,
                                    .send = gather ? own->base : v->base,
                                    .recv = gather ? v->base : own->base};
    int error = root_check(team, d, root, own, v);
    if (error == COVEY_OK && all_know_sizes && shared_chosen(team, &job))
        return shared_start(team, &job, req);
    if (error == COVEY_OK)
        error = collective_create(team, d->name, &c);
    if (error == COVEY_OK && (team->rank != root || vector_place(c, &placed)))
        gather_build(c, d, root, own, &placed);
    return collective_start(error, c, req);
}

int covey_gather(covey_team_t *team, int root, int type, const void *send, void *recv, size_t count)
{
    return covey_igather(team, root, type, send, recv, count, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_igather(covey_team_t *team, int root, int type, const void *send, void *recv,
                  size_t count, covey_req_t **req)
{
    const struct array own = {type, (void *)send, count};
    const struct vector v = {.type = type, .base = recv, .each = count};
    return gather_start(team, &gathering, root, &own, &v, req);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_gatherv(covey_team_t *team, int root, int type, const void *send, size_t count,
                  void *recv, const size_t *counts, const size_t *starts)
{
    return covey_igatherv(team, root, type, send, count, recv, counts, starts, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_igatherv(covey_team_t *team, int root, int type, const void *send, size_t count,
                   void *recv, const size_t *counts, const size_t *starts, covey_req_t **req)
{
    const struct array own = {type, (void *)send, count};
    const struct vector v = {
        .type = type, .base = recv, .uneven = true, .counts = counts, .starts = starts};
    return gather_start(team, &gathering, root, &own, &v, req);
}

int covey_scatter(covey_team_t *team, int root, int type, const void *send, void *recv,
                  size_t count)
{
    return covey_iscatter(team, root, type, send, recv, count, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_iscatter(covey_team_t *team, int root, int type, const void *send, void *recv,
                   size_t count, covey_req_t **req)
{
    const struct array own = {type, recv, count};
    const struct vector v = {.type = type, .base = (void *)send, .each = count};
    return gather_start(team, &scattering, root, &own, &v, req);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_scatterv(covey_team_t *team, int root, int type, const void *send, const size_t *counts,
                   const size_t *starts, void *recv, size_t count)
{
    return covey_iscatterv(team, root, type, send, counts, starts, recv, count, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_iscatterv(covey_team_t *team, int root, int type, const void *send, const size_t *counts,
                    const size_t *starts, void *recv, size_t count, covey_req_t **req)
{
    const struct array own = {type, recv, count};
    const struct vector v = {
        .type = type, .base = (void *)send, .uneven = true, .counts = counts, .starts = starts};
    return gather_start(team, &scattering, root, &own, &v, req);
}
