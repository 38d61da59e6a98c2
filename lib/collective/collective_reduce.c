/*
 * collective_reduce.c - one result of an array of every member: reduce, allreduce.
 *
 *   binomial            a tree to the root, the whole array on each edge: small ones
 *   recursive-doubling  everybody has the result of twice as many members after each round: small
 *   rabenseifner        recursive halving, after which each has the result of a part, and then the
 *                       parts to the root or to all: large ones
 *   ring                parts go round, by host, once to be reduced and once to be told: the
 *                       largest
 *   hosts               within hosts first
 *   cast                of allreduce: within hosts first, one frame of each host for all others,
 *                       and everybody computes: short ones (collective_cast.c)
 *
 * Numbers of members that are no power of two: the first of them are taken together in pairs
 * beforehand (Rabenseifner). Pairs and halves are neighbours, so all but the ring keep the order of
 * ranks, for operations that do not commute.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"
#include "lib/msg/error.h"

#include <assert.h>

#define SMALL_BYTES 16384 /* up to here leads tell each other their whole arrays */

/* ---- parts and folds ------------------------------------------------------------------------- */

/* The range of part `i` of `n` of a reduction's elements, whole grains each. */
static struct range reduction_part(struct collective *c, const struct reduction *r, int i, int n)
{
    size_t grain = op_grain(collective_team(c)->vm, r->op), parts = (size_t)n, at = (size_t)i;
    size_t grains = r->count / grain;
    size_t first = grains / parts * at + grains % parts * at / parts;
    size_t end = grains / parts * (at + 1) + grains % parts * (at + 1) / parts;
    return (struct range){first * grain, (end - first) * grain};
}

static size_t offset(const struct reduction *r, struct range range)
{
    return range.first * covey_type_size(r->type);
}

int reduction_send(struct collective *c, const struct reduction *r, int rank, struct range range)
{
    return collective_send(c, rank, r->type, r->acc + offset(r, range), range.count);
}

void reduction_receive(struct collective *c, const struct reduction *r, int rank,
                       struct range range)
{
    collective_receive(c, rank, r->type, r->temp + offset(r, range), range.count);
    collective_fence(c);
}

void reduction_fold(struct collective *c, const struct reduction *r, struct range range, bool lower)
{
    uint8_t *acc = r->acc + offset(r, range), *temp = r->temp + offset(r, range);
    const struct operands on = {.left = lower ? temp : acc,
                                .right = lower ? acc : temp,
                                .result = acc,
                                .count = range.count};
    collective_reduce(c, r->op, r->type, &on);
    collective_fence(c);
}

static struct range whole(const struct reduction *r)
{
    return (struct range){0, r->count};
}

static void reduce_begin(struct collective *c, const struct reduction *r)
{
    collective_copy(c, r->acc, r->own, r->count * covey_type_size(r->type));
    collective_fence(c);
}

/* ---- the tree -------------------------------------------------------------------------------- */

void reduce_binomial(struct collective *c, const struct circle *on, int root,
                     const struct reduction *r)
{
    int place = circle_place(on, on->rank - root), bit = 1;
    const void *have = r->own; /* copied nowhere before something is added to it */
    for (; bit < on->size && (place & bit) == 0; bit *= 2) {
        if (place + bit >= on->size)
            continue;
        reduction_receive(c, r, circle_rank(on, on->rank + bit), whole(r));
        const struct operands sum = {have, r->temp, r->acc, r->count};
        collective_reduce(c, r->op, r->type, &sum);
        collective_fence(c);
        have = r->acc;
    }
    if (place != 0)
        collective_send(c, circle_rank(on, on->rank - bit), r->type, have, r->count);
    else if (have != r->acc)
        reduce_begin(c, r);
}

/* In the order of ranks the result comes about at place 0. */
static void reduce_in_order(struct collective *c, const struct circle *on, int root,
                            const struct reduction *r)
{
    reduce_binomial(c, on, 0, r);
    collective_fence(c);
    if (on->rank == 0 && root != 0)
        reduction_send(c, r, circle_rank(on, root), whole(r));
    if (on->rank == root && root != 0)
        collective_receive(c, circle_rank(on, 0), r->type, r->acc, r->count);
}

/* ---- powers of two --------------------------------------------------------------------------- */

/* The members left after the first 2 * extra were taken together in pairs. */
struct power {
    int size, extra;
    int own; /* number among them, -1: the other of the pair stands for this one */
};

static struct power power_of(const struct circle *on)
{
    struct power p = {.size = 1};
    while (p.size * 2 <= on->size)
        p.size *= 2;
    p.extra = on->size - p.size;
    if (on->rank >= 2 * p.extra)
        p.own = on->rank - p.extra;
    else
        p.own = on->rank % 2 == 1 ? on->rank / 2 : -1;
    return p;
}

static int power_place(const struct power *p, int number)
{
    return number < p->extra ? 2 * number + 1 : number + p->extra;
}

static void pair_up(struct collective *c, const struct circle *on, const struct power *p,
                    const struct reduction *r)
{
    reduce_begin(c, r);
    if (p->own < 0)
        reduction_send(c, r, circle_rank(on, on->rank + 1), whole(r));
    else if (p->own < p->extra) {
        reduction_receive(c, r, circle_rank(on, on->rank - 1), whole(r));
        reduction_fold(c, r, whole(r), true);
    }
}

static void pair_tell(struct collective *c, const struct circle *on, const struct power *p,
                      const struct reduction *r)
{
    collective_fence(c);
    if (p->own < 0)
        collective_receive(c, circle_rank(on, on->rank + 1), r->type, r->acc, r->count);
    else if (p->own < p->extra)
        reduction_send(c, r, circle_rank(on, on->rank - 1), whole(r));
}

/* The result is in acc of all. Keeps the order of places. */
static void allreduce_recursive_doubling(struct collective *c, const struct circle *on,
                                         const struct reduction *r)
{
    const struct power p = power_of(on);
    pair_up(c, on, &p, r);
    for (int mask = 1; p.own >= 0 && mask < p.size; mask *= 2) {
        int other = circle_rank(on, power_place(&p, p.own ^ mask));
        reduction_send(c, r, other, whole(r));
        reduction_receive(c, r, other, whole(r));
        reduction_fold(c, r, whole(r), (p.own & mask) != 0);
    }
    pair_tell(c, on, &p, r);
}

/* Which of the p.size parts a number has the result of after so many rounds: first .. first + n
 * - 1.
 */
static struct range halved(const struct power *p, int number, int rounds, struct range *other)
{
    size_t first = 0, n = (size_t)p->size;
    *other = (struct range){0, n};
    for (int i = 0; i < rounds; i++) {
        n /= 2;
        bool upper = (number >> i & 1) != 0;
        *other = (struct range){upper ? first : first + n, n};
        first = upper ? first + n : first;
    }
    return (struct range){first, n};
}

/* The elements of those parts. */
static struct range reduce_elements(struct collective *c, const struct reduction *r,
                                    const struct power *p, struct range parts)
{
    struct range first = reduction_part(c, r, (int)parts.first, p->size);
    struct range last = reduction_part(c, r, (int)(parts.first + parts.count) - 1, p->size);
    return (struct range){first.first, last.first + last.count - first.first};
}

static void halve(struct collective *c, const struct circle *on, const struct power *p,
                  const struct reduction *r)
{
    int round = 1;
    for (int mask = 1; p->own >= 0 && mask < p->size; mask *= 2, round++) {
        struct range theirs, mine = halved(p, p->own, round, &theirs);
        int other = circle_rank(on, power_place(p, p->own ^ mask));
        mine = reduce_elements(c, r, p, mine);
        reduction_send(c, r, other, reduce_elements(c, r, p, theirs));
        reduction_receive(c, r, other, mine);
        reduction_fold(c, r, mine, (p->own & mask) != 0);
    }
}

/* The rounds of halve() backwards. */
static void double_up(struct collective *c, const struct circle *on, const struct power *p,
                      const struct reduction *r)
{
    int rounds = 0;
    while (1 << rounds < p->size)
        rounds++;
    for (int round = rounds; p->own >= 0 && round > 0; round--) {
        struct range theirs, mine = halved(p, p->own, round, &theirs);
        int other = circle_rank(on, power_place(p, p->own ^ 1 << (round - 1)));
        theirs = reduce_elements(c, r, p, theirs);
        reduction_send(c, r, other, reduce_elements(c, r, p, mine));
        collective_receive(c, other, r->type, r->acc + offset(r, theirs), theirs.count);
        collective_fence(c);
    }
}

static void allreduce_rabenseifner(struct collective *c, const struct circle *on,
                                   const struct reduction *r)
{
    const struct power p = power_of(on);
    pair_up(c, on, &p, r);
    halve(c, on, &p, r);
    double_up(c, on, &p, r);
    pair_tell(c, on, &p, r);
}

static struct range result_of(struct collective *c, const struct reduction *r,
                              const struct power *p, int number)
{
    struct range other;
    int rounds = 0;
    while (1 << rounds < p->size)
        rounds++;
    return reduce_elements(c, r, p, halved(p, number, rounds, &other));
}

static void reduce_rabenseifner(struct collective *c, const struct circle *on, int root,
                                const struct reduction *r)
{
    const struct power p = power_of(on);
    pair_up(c, on, &p, r);
    halve(c, on, &p, r);
    collective_fence(c);
    if (on->rank != root && p.own >= 0)
        reduction_send(c, r, circle_rank(on, root), result_of(c, r, &p, p.own));
    for (int i = 0; on->rank == root && i < p.size; i++) {
        struct range part = result_of(c, r, &p, i);
        if (i != p.own)
            collective_receive(c, circle_rank(on, power_place(&p, i)), r->type,
                               r->acc + offset(r, part), part.count);
    }
}

/* ---- the ring -------------------------------------------------------------------------------- */

static void allreduce_ring(struct collective *c, const struct circle *on, const struct reduction *r)
{
    int to = circle_rank(on, on->rank + 1), from = circle_rank(on, on->rank - 1), n = on->size;
    reduce_begin(c, r);
    for (int i = 0; i + 1 < n; i++) {
        struct range in = reduction_part(c, r, circle_place(on, on->rank - i - 1), n);
        reduction_send(c, r, to, reduction_part(c, r, circle_place(on, on->rank - i), n));
        reduction_receive(c, r, from, in);
        reduction_fold(c, r, in, true);
    }
    for (int i = 0; i + 1 < n; i++) {
        struct range in = reduction_part(c, r, circle_place(on, on->rank - i), n);
        reduction_send(c, r, to, reduction_part(c, r, circle_place(on, on->rank - i + 1), n));
        collective_receive(c, from, r->type, r->acc + offset(r, in), in.count);
        collective_fence(c);
    }
}

/* ---- within hosts, and between them ---------------------------------------------------------- */

void host_reduce(struct collective *c, const struct host_circles *circles,
                 const struct reduction *r)
{
    const struct covey_team *team = collective_team(c);
    if (!shared_suits(team, r->count * covey_type_size(r->type))) {
        reduce_binomial(c, &circles->local, 0, r);
        return;
    }
    const struct shared_call reduce = {.kind = SHARED_REDUCE,
                                       .name = "reduce",
                                       .root = shared_place(team, circle_rank(&circles->local, 0)),
                                       .op = r->op,
                                       .type = r->type,
                                       .count = r->count,
                                       .send = r->own,
                                       .recv = r->acc};
    collective_shared(c, &reduce, 0);
}

/* What a lead has of its host is what it brings to the others. */
static void reduce_hosts(struct collective *c, int root, const struct reduction *r, bool all)
{
    struct host_circles circles;
    struct reduction between = *r;
    if (!host_circles(c, root, &circles))
        return;
    host_reduce(c, &circles, r);
    collective_fence(c);
    between.own = r->acc;
    const struct array result = {r->type, r->acc, r->count};
    bool small = r->count * covey_type_size(r->type) <= SMALL_BYTES;
    if (circles.leads.rank >= 0 && all && small)
        allreduce_recursive_doubling(c, &circles.leads, &between);
    else if (circles.leads.rank >= 0 && all)
        allreduce_rabenseifner(c, &circles.leads, &between);
    else if (circles.leads.rank >= 0)
        reduce_binomial(c, &circles.leads, circles.root_place, &between);
    collective_fence(c);
    if (all)
        host_bcast(c, &circles, &result);
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Scratch memory, and a result's where the caller has none. */
static bool reduce_prepare(struct collective *c, struct reduction *r, void *result)
{
    size_t bytes = r->count * covey_type_size(r->type);
    r->temp = collective_memory(c, bytes);
    r->acc = result != NULL ? result : collective_memory(c, bytes);
    return r->temp != NULL && r->acc != NULL;
}

static void reduce_build(struct collective *c, int root, struct reduction *r)
{
    const struct covey_team *team = collective_team(c);
    const struct circle all = circle_all(team);
    bool commutes = op_commutes(team->vm, r->op);
    size_t bytes = r->count * covey_type_size(r->type);
    enum algorithm algorithm = team_choose(team, OPERATION_REDUCE, bytes);
    assert(algorithm == REDUCE_RABENSEIFNER || algorithm == REDUCE_HOSTS ||
           algorithm == REDUCE_BINOMIAL);
    if (algorithm == REDUCE_RABENSEIFNER)
        reduce_rabenseifner(c, &all, root, r);
    else if (algorithm == REDUCE_HOSTS && commutes)
        reduce_hosts(c, root, r, false);
    else if (commutes)
        reduce_binomial(c, &all, root, r);
    else
        reduce_in_order(c, &all, root, r);
}

static void allreduce_build(struct collective *c, struct reduction *r)
{
    const struct covey_team *team = collective_team(c);
    const struct circle all = circle_all(team);
    struct circle by_host;
    int root = 0;
    bool commutes = op_commutes(team->vm, r->op);
    size_t bytes = r->count * covey_type_size(r->type);
    enum algorithm algorithm = team_choose(team, OPERATION_ALLREDUCE, bytes);
    assert(algorithm == ALLREDUCE_RABENSEIFNER || algorithm == ALLREDUCE_RING ||
           algorithm == ALLREDUCE_HOSTS || algorithm == ALLREDUCE_CAST ||
           algorithm == ALLREDUCE_RECURSIVE_DOUBLING);
    if (algorithm == ALLREDUCE_RABENSEIFNER)
        allreduce_rabenseifner(c, &all, r);
    else if (algorithm == ALLREDUCE_RING && commutes) {
        if (circle_by_host(c, &root, &by_host))
            allreduce_ring(c, &by_host, r);
    } else if (algorithm == ALLREDUCE_HOSTS && commutes)
        reduce_hosts(c, 0, r, true);
    else if (algorithm == ALLREDUCE_CAST)
        allreduce_cast(c, r);
    else
        allreduce_recursive_doubling(c, &all, r);
}

/* Of both calls: root -1 is all. */
static int reduce_check(const covey_team_t *team, int root, const struct reduction *r, void *result)
{
    const char *name = root < 0 ? "allreduce" : "reduce";
    const struct array own = {r->type, (void *)r->own, r->count};
    const struct array whole_result = {r->type, result, r->count};
    int error = collective_check(team, name, root < 0 ? 0 : root, &own);
    if (error == COVEY_OK && (root < 0 || team->rank == root))
        error = collective_check(team, name, 0, &whole_result);
    return error != COVEY_OK ? error : op_check(team->vm, name, r->op, r->type, r->count);
}

static int reduce_start(covey_team_t *team, int root, struct reduction *r, void *result,
                        covey_req_t **req)
{
    struct collective *c = NULL;
    const struct shared_call job = {.kind = root < 0 ? SHARED_ALLREDUCE : SHARED_REDUCE,
                                    .name = root < 0 ? "allreduce" : "reduce",
                                    .root = root < 0 ? 0 : root,
                                    .op = r->op,
                                    .type = r->type,
                                    .count = r->count,
                                    .send = r->own,
                                    .recv = result};
    int error = reduce_check(team, root, r, result);
    if (error == COVEY_OK && shared_chosen(team, &job))
        return shared_start(team, &job, req);
    if (error == COVEY_OK)
        error = collective_create(team, job.name, &c);
    bool wanted = error == COVEY_OK && (root < 0 || team->rank == root);
    bool prepared = error == COVEY_OK && reduce_prepare(c, r, wanted ? result : NULL);
    if (prepared && root < 0)
        allreduce_build(c, r);
    else if (prepared)
        reduce_build(c, root, r);
    return collective_start(error, c, req);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_reduce(covey_team_t *team, int root, int op, int type, const void *send, void *recv,
                 size_t count)
{
    return covey_ireduce(team, root, op, type, send, recv, count, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_ireduce(covey_team_t *team, int root, int op, int type, const void *send, void *recv,
                  size_t count, covey_req_t **req)
{
    struct reduction r = {.op = op, .type = type, .count = count, .own = send};
    return root < 0 ? error_set(COVEY_EINVAL, "reduce: the team has no rank %d", root)
                    : reduce_start(team, root, &r, recv, req);
}

int covey_allreduce(covey_team_t *team, int op, int type, const void *send, void *recv,
                    size_t count)
{
    return covey_iallreduce(team, op, type, send, recv, count, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_iallreduce(covey_team_t *team, int op, int type, const void *send, void *recv,
                     size_t count, covey_req_t **req)
{
    struct reduction r = {.op = op, .type = type, .count = count, .own = send};
    return reduce_start(team, -1, &r, recv, req);
}
