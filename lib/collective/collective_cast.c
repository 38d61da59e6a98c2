/*
 * collective_cast.c - calls in which every member has something for all the others, by casts: what
 * one host has is one frame that reaches all the others at once. Pairwise protocols are ill suited
 * to such calls, as Schmidt & Sunderam find in section 5: by messages each host has to be sent what
 * each of the n-1 others has; by casts n frames are all.
 *
 * They must not all cast at once: what reaches one host then comes from all the others together,
 * and what its buffers do not hold is lost and repaired. So in the order of places each waits for
 * what the one so many places before has cast, as many as AHEAD_BYTES are: small arrays all go at
 * once, large ones one after another. Nobody waits for one that waits for it.
 *
 * A reduction by casts is that of short arrays: each host has all that the others brought, and
 * computes what its members want of the result. All fold in one order: within each host in that of
 * host_reduce(), and then the hosts in the order of their first ranks; where operations do not
 * commute each member casts for itself, and the order is that of ranks. So the same call among the
 * same members has the same bits every time, and all members have the same bits.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"

#define AHEAD_BYTES ((size_t)128 * 1024) /* that may be on their way to one host */

void allgather_cast(struct collective *c, const struct circle *on, const struct vector *v)
{
    size_t most = 1, width = covey_type_size(v->type);
    int *ranks = collective_memory(c, (size_t)on->size * sizeof *ranks);
    int n = 0, before = -1;
    if (ranks == NULL || on->size == 1)
        return;
    team_find_way(collective_team(c)); /* as it is now: a cast goes by what is known */
    for (int i = 0; i < on->size; i++) {
        size_t bytes = vector_count(v, circle_rank(on, i)) * width;
        most = bytes > most ? bytes : most;
    }
    size_t ahead = AHEAD_BYTES > most ? AHEAD_BYTES / most : 1;
    for (int i = 0; i < on->size; i++) {
        int rank = circle_rank(on, i);
        if (i == on->rank)
            continue;
        int received =
            collective_receive(c, rank, v->type, vector_block(v, rank), vector_count(v, rank));
        if (i < on->rank && (size_t)(on->rank - i) == ahead)
            before = received;
        ranks[n++] = rank;
    }
    int own = circle_rank(on, on->rank);
    int cast = collective_cast(c, ranks, n, v->type, vector_block(v, own), vector_count(v, own));
    collective_after(c, cast, before);
}

/* Who cast, and the arrays of all of them by rank. */
struct told {
    bool by_host; /* leads, for their hosts; otherwise all for themselves */
    struct host_circles circles;
    struct circle on; /* rank -1: the caller gets its result from its lead */
    void **arrays;
};

/* False: no memory. */
static bool tell_all(struct collective *c, const struct reduction *r, struct told *t)
{
    const struct covey_team *team = collective_team(c);
    size_t bytes = r->count * covey_type_size(r->type);
    uint8_t *own = collective_memory(c, bytes);
    *t = (struct told){.by_host = op_commutes(team->vm, r->op) && team->hosts < team->size,
                       .on = circle_all(team)};
    if (own == NULL)
        return false;
    if (t->by_host) {
        struct reduction within = *r;
        within.acc = own;
        if (!host_circles(c, 0, &t->circles))
            return false;
        host_reduce(c, &t->circles, &within);
        t->on = t->circles.leads;
    } else
        collective_copy(c, own, r->own, bytes);
    collective_fence(c);
    if (t->on.rank < 0)
        return true;
    t->arrays = collective_memory(c, (size_t)team->size * sizeof *t->arrays);
    uint8_t *blocks = collective_memory(c, (size_t)t->on.size * bytes);
    if (t->arrays == NULL || blocks == NULL)
        return false;
    for (int i = 0; i < t->on.size; i++)
        t->arrays[circle_rank(&t->on, i)] = i == t->on.rank ? own : blocks + (size_t)i * bytes;
    const struct vector all = {.type = r->type, .each = r->count, .arrays = t->arrays};
    allgather_cast(c, &t->on, &all);
    collective_fence(c);
    return true;
}

/* That range of what all cast, in the order of places. */
static void fold_told(struct collective *c, const struct reduction *r, const struct told *t,
                      struct range range, void *result)
{
    size_t width = covey_type_size(r->type), at = range.first * width;
    const uint8_t *have = (const uint8_t *)t->arrays[circle_rank(&t->on, 0)] + at;
    if (t->on.size == 1)
        collective_copy(c, result, have, range.count * width);
    for (int i = 1; i < t->on.size; i++) {
        const uint8_t *next = (const uint8_t *)t->arrays[circle_rank(&t->on, i)] + at;
        collective_reduce(c, r->op, r->type, &(struct operands){have, next, result, range.count});
        collective_fence(c);
        have = result;
    }
}

void allreduce_cast(struct collective *c, const struct reduction *r)
{
    struct told told;
    if (!tell_all(c, r, &told))
        return;
    if (told.on.rank >= 0)
        fold_told(c, r, &told, (struct range){0, r->count}, r->acc);
    collective_fence(c);
    if (told.by_host)
        host_bcast(c, &told.circles, &(struct array){r->type, r->acc, r->count});
}

/* The elements of the result that are for a rank. */
static struct range part_of(const struct collective *c, const struct vector *parts, int rank)
{
    return (struct range){vector_range(parts, 0, rank, collective_team(c)->size),
                          vector_count(parts, rank)};
}

void reduce_scatter_cast(struct collective *c, const struct reduction *r,
                         const struct vector *parts, void *result)
{
    const struct covey_team *team = collective_team(c);
    const struct range own = part_of(c, parts, team->rank);
    struct told told;
    if (!tell_all(c, r, &told))
        return;
    if (told.on.rank < 0) {
        collective_receive(c, circle_rank(&told.circles.local, 0), r->type, result, own.count);
        return;
    }
    fold_told(c, r, &told, own, result);
    for (int i = 1; told.by_host && i < told.circles.local.size; i++) {
        int rank = circle_rank(&told.circles.local, i);
        const struct range part = part_of(c, parts, rank);
        void *of_rank = r->temp + part.first * covey_type_size(r->type);
        fold_told(c, r, &told, part, of_rank);
        collective_fence(c);
        collective_send(c, rank, r->type, of_rank, part.count);
    }
}
