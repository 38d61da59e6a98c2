/*
 * collective_bcast.c - one array to all members.
 *
 *   linear             the root to each: two members, or very few
 *   binomial           log2(n) rounds of the whole array: small ones
 *   scatter-allgather  a block to each, then all blocks round the ring: van de Geijn's, large ones
 *   chain              pieces along a line of members, all of whose links are busy: the largest
 *   hosts              between hosts first, then within them
 *   cast               one frame for the members of all hosts, by link-level broadcast
 *
 * All but `hosts` go through a circle in which the members of a host stand in a row.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"

#include <assert.h>

#define PIECE_BYTES ((size_t)128 * 1024) /* of a chain */
#define PIECES_AHEAD 4                   /* that may be on their way to one member */

static int place_from(const struct circle *on, int root)
{
    return (on->rank - root + on->size) % on->size;
}

/* Who has the array gives it to the half of its part of the tree that is further away. */
void bcast_binomial(struct collective *c, const struct circle *on, int root, const struct array *a)
{
    int place = place_from(on, root), bit = 1;
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

static void bcast_linear(struct collective *c, const struct circle *on, int root,
                         const struct array *a)
{
    if (on->rank != root)
        collective_receive(c, circle_rank(on, root), a->type, a->base, a->count);
    for (int i = 1; i < on->size && on->rank == root; i++)
        collective_send(c, circle_rank(on, root + i), a->type, a->base, a->count);
}

void bcast_cast(struct collective *c, const struct circle *on, int root, const struct array *a)
{
    if (on->rank != root) {
        collective_receive(c, circle_rank(on, root), a->type, a->base, a->count);
        return;
    }
    int *ranks = collective_memory(c, (size_t)on->size * sizeof *ranks);
    team_find_way(collective_team(c)); /* as it is now: a cast goes by what is known */
    for (int i = 1; i < on->size && ranks != NULL; i++)
        ranks[i - 1] = circle_rank(on, root + i);
    if (ranks != NULL)
        collective_cast(c, ranks, on->size - 1, a->type, a->base, a->count);
}

static void bcast_chain(struct collective *c, const struct circle *on, int root,
                        const struct array *a)
{
    size_t width = covey_type_size(a->type), piece = PIECE_BYTES / width, left = a->count;
    int place = place_from(on, root), got[PIECES_AHEAD] = {-1, -1, -1, -1};
    uint8_t *at = a->base;
    for (int i = 0; left > 0 || i == 0; i++) {
        size_t n = left < piece ? left : piece;
        int received = -1;
        if (place > 0) {
            received = collective_receive(c, circle_rank(on, on->rank - 1), a->type, at, n);
            collective_after(c, received, got[i % PIECES_AHEAD]);
            got[i % PIECES_AHEAD] = received;
        }
        if (place + 1 < on->size) {
            int sent = collective_send(c, circle_rank(on, on->rank + 1), a->type, at, n);
            collective_after(c, sent, received);
        }
        at += n * width;
        left -= n;
    }
}

/* The array cut into n blocks: those of the places from `first` to before `end`. */
static struct array array_blocks(const struct array *a, int first, int end, int n)
{
    size_t parts = (size_t)n, i = (size_t)first, j = (size_t)(end < n ? end : n);
    size_t from = a->count / parts * i + a->count % parts * i / parts;
    size_t to = a->count / parts * j + a->count % parts * j / parts;
    uint8_t *base = a->base;
    return (struct array){a->type, base + from * covey_type_size(a->type), to - from};
}

/* Blocks by place from the root on: each parent keeps its own and sends those of its children. */
static void scatter_blocks(struct collective *c, const struct circle *on, int root,
                           const struct array *a)
{
    int place = place_from(on, root), bit = 1;
    while (bit < on->size && (place & bit) == 0)
        bit *= 2;
    if (place != 0) {
        const struct array own = array_blocks(a, place, place + bit, on->size);
        collective_receive(c, circle_rank(on, on->rank - bit), a->type, own.base, own.count);
        collective_fence(c);
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        if (place + bit >= on->size)
            continue;
        const struct array child = array_blocks(a, place + bit, place + 2 * bit, on->size);
        collective_send(c, circle_rank(on, on->rank + bit), a->type, child.base, child.count);
    }
}

static void bcast_scatter_allgather(struct collective *c, const struct circle *on, int root,
                                    const struct array *a)
{
    size_t n = (size_t)on->size;
    size_t *counts = collective_memory(c, n * sizeof *counts);
    void **arrays = collective_memory(c, n * sizeof *arrays);
    if (counts == NULL || arrays == NULL)
        return;
    for (int i = 0; i < on->size; i++) {
        const struct array block = array_blocks(a, i, i + 1, on->size);
        counts[circle_rank(on, root + i)] = block.count;
        arrays[circle_rank(on, root + i)] = block.base;
    }
    const struct vector blocks = {.type = a->type, .counts = counts, .arrays = arrays};
    scatter_blocks(c, on, root, a);
    collective_fence(c);
    allgather_ring(c, on, &blocks);
}

/* Within one stage of two: of the plain ones, by size. */
static void bcast_chosen(struct collective *c, const struct circle *on, int root,
                         const struct array *a)
{
    size_t bytes = a->count * covey_type_size(a->type);
    if (on->size > 2 && bytes > PIECE_BYTES)
        bcast_chain(c, on, root, a);
    else
        bcast_binomial(c, on, root, a);
}

void host_bcast(struct collective *c, const struct host_circles *circles, const struct array *a)
{
    const struct covey_team *team = collective_team(c);
    if (!shared_suits(team, a->count * covey_type_size(a->type))) {
        bcast_binomial(c, &circles->local, 0, a);
        return;
    }
    const struct shared_call bcast = {.kind = SHARED_BCAST,
                                      .name = "bcast",
                                      .root = shared_place(team, circle_rank(&circles->local, 0)),
                                      .type = a->type,
                                      .count = a->count,
                                      .send = a->base,
                                      .recv = a->base};
    collective_shared(c, &bcast, 1);
}

static void bcast_hosts(struct collective *c, int root, const struct array *a)
{
    struct host_circles circles;
    if (!host_circles(c, root, &circles))
        return;
    if (circles.leads.rank >= 0) {
        bcast_chosen(c, &circles.leads, circles.root_place, a);
        collective_fence(c);
    }
    host_bcast(c, &circles, a);
}

static void bcast_build(struct collective *c, int root, const struct array *a)
{
    const struct covey_team *team = collective_team(c);
    size_t bytes = a->count * covey_type_size(a->type);
    enum algorithm algorithm = team_choose(team, OPERATION_BCAST, bytes);
    struct circle all = circle_all(team);
    if (algorithm != BCAST_HOSTS && !circle_by_host(c, &root, &all))
        return;
    switch (algorithm) {
    case BCAST_LINEAR:
        bcast_linear(c, &all, root, a);
        break;
    case BCAST_CHAIN:
        bcast_chain(c, &all, root, a);
        break;
    case BCAST_SCATTER_ALLGATHER:
        bcast_scatter_allgather(c, &all, root, a);
        break;
    case BCAST_HOSTS:
        bcast_hosts(c, root, a);
        break;
    case BCAST_CAST:
        bcast_cast(c, &all, root, a);
        break;
    case BCAST_BINOMIAL:
        bcast_binomial(c, &all, root, a);
        break;
    default:
        assert(!"an algorithm of bcast that is not carried out");
    }
}

int covey_bcast(covey_team_t *team, int root, int type, void *base, size_t count)
{
    return covey_ibcast(team, root, type, base, count, COLLECTIVE_WAITS);
}

int covey_ibcast(covey_team_t *team, int root, int type, void *base, size_t count,
                 covey_req_t **req)
{
    struct collective *c = NULL;
    const struct array a = {type, base, count};
    const struct shared_call job = {.kind = SHARED_BCAST,
                                    .name = "bcast",
                                    .root = root,
                                    .type = type,
                                    .count = count,
                                    .send = base,
                                    .recv = base};
    int error = collective_check(team, "bcast", root, &a);
    if (error == COVEY_OK && shared_chosen(team, &job))
        return shared_start(team, &job, req);
    if (error == COVEY_OK)
        error = collective_create(team, "bcast", &c);
    if (error == COVEY_OK)
        bcast_build(c, root, &a);
    return collective_start(error, c, req);
}
