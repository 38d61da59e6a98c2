/*
 * op_sort.c - covey_sort_array(): equal parts to all members, their sort by covey_sort(3), and the
 * pieces of the result, as they lie, back to the caller.
 *
 *   arguments: n[0] type, n[1] count; out[0] the array
 */
#include "lib/domain/base/error.h"
#include "lib/domain/door/door.h"
#include "lib/domain/sort/algorithms.h"
#include "lib/domain/sort/memory.h"
#include "lib/domain/sort/order.h"
#include "lib/domain/sort/speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(size_t count)
{
    return domain_fail(COVEY_ENOMEM, "no memory for a copy of %zu elements", count);
}

/* ---- the caller alone ---- */

/* Without options: what a handle measures for its choice takes longer than a short sort. */
static int sort_here(const struct covey_sort_kind *kind, void *base, size_t count)
{
    struct sort_order order;
    int error = order_init(&order, kind);
    if (error < 0)
        return error;
    char *keys = memory_new(count * order.size + 1);
    char *scratch = memory_new(count * order.size + 1);
    if (keys == NULL || scratch == NULL) {
        error = no_memory(count);
    } else if (count > 0) {
        order_encode(&order, base, keys, count);
        order.kernel->sort(&order, keys, count, scratch);
        order_decode(&order, keys, base, count);
    }
    free(keys);
    free(scratch);
    return error;
}

static int sort_alone(struct door_member *member, const struct covey_sort_kind *kind, void *base,
                      size_t count)
{
    covey_sort_t *sort = NULL;
    snprintf(member->algorithm, sizeof member->algorithm, "local");
    if (member->options[0] == '\0')
        return sort_here(kind, base, count);
    int error = covey_sort_create(member->team, kind, member->options, &member->network, &sort);
    if (error == 0)
        error = covey_sort_run(sort, base, count);
    covey_sort_free(&sort);
    return error;
}

/* ---- a team ---- */

struct parts {
    size_t *counts; /* by rank */
    void *whole;    /* at the caller: the result */
    void *mine;     /* the part as it came */
    void *sorted;
    size_t sorted_count;
};

static void parts_free(struct parts *parts)
{
    free(parts->counts);
    free(parts->whole);
    free(parts->mine);
    covey_free(parts->sorted);
}

static int parts_init(struct parts *parts, const struct door_member *member, size_t count,
                      size_t bytes)
{
    int size = covey_team_size(member->team), rank = covey_team_rank(member->team);
    *parts = (struct parts){.counts = calloc((size_t)size, sizeof(size_t))};
    for (int i = 0; parts->counts != NULL && i < size; i++)
        parts->counts[i] = count / (size_t)size + ((size_t)i < count % (size_t)size);
    if (parts->counts != NULL)
        parts->mine = memory_new(parts->counts[rank] * bytes + 1);
    if (rank == 0)
        parts->whole = memory_new(count * bytes + 1);
    if (parts->mine == NULL || (rank == 0 && parts->whole == NULL))
        return domain_break(member->team, no_memory(count));
    return 0;
}

static int sort_parts(struct door_member *member, const struct covey_sort_kind *kind,
                      struct parts *parts)
{
    covey_sort_t *sort = NULL;
    size_t mine = parts->counts[covey_team_rank(member->team)];
    int error = covey_sort_create(member->team, kind, member->options, &member->network, &sort);
    if (error == 0)
        error =
            covey_sort_run_uneven(sort, parts->mine, mine, &parts->sorted, &parts->sorted_count);
    snprintf(member->algorithm, sizeof member->algorithm, "%s", covey_sort_taken(sort));
    covey_sort_free(&sort);
    return error;
}

static int gather(const struct door_member *member, int type, struct parts *parts)
{
    uint64_t mine = parts->sorted_count;
    int size = covey_team_size(member->team);
    uint64_t *counts = calloc((size_t)size, sizeof *counts);
    if (counts == NULL)
        return domain_break(member->team, no_memory(parts->sorted_count));
    int error = covey_allgather(member->team, COVEY_UINT64, &mine, counts, 1);
    for (int i = 0; i < size; i++)
        parts->counts[i] = (size_t)counts[i];
    free(counts);
    if (error == 0)
        error = covey_gatherv(member->team, 0, type, parts->sorted, parts->sorted_count,
                              parts->whole, parts->counts, NULL);
    return error < 0 ? domain_fail_of(error, "the gathering of what is sorted") : 0;
}

static int run_sort(struct door_member *member, const struct door_args *args)
{
    const struct covey_sort_kind kind = {.type = (int32_t)args->n[0]};
    size_t count = (size_t)args->n[1], bytes = covey_type_size(kind.type);
    int rank = covey_team_rank(member->team);
    struct parts parts;
    if (covey_team_size(member->team) == 1)
        return sort_alone(member, &kind, args->out[0], count);
    int error = parts_init(&parts, member, count, bytes);
    if (error == 0) {
        error = covey_scatterv(member->team, 0, kind.type, args->out[0], parts.counts, NULL,
                               parts.mine, parts.counts[rank]);
        error = error < 0 ? domain_fail_of(error, "the way to the workers") : 0;
    }
    if (error == 0)
        error = sort_parts(member, &kind, &parts);
    if (error == 0)
        error = gather(member, kind.type, &parts);
    if (error == 0 && rank == 0 && count > 0)
        memcpy(args->out[0], parts.whole, count * bytes);
    parts_free(&parts);
    return error;
}

/* ---- what it takes ---- */

/* By which an array is short: then nothing is measured for it. */
#define ROUGH_S 3e-8 /* an element */
#define SHORT_S 1.5e-3

/* At the caller; what it does not know yet it measures. */
static int learn_speeds(const struct door_args *args, const struct door_setting *s,
                        struct sort_cost *cost)
{
    const struct covey_sort_kind kind = {.type = (int32_t)args->n[0]};
    struct sort_order order;
    struct sort_memory memory = {.blocks = {{.base = NULL}}};
    struct sort_run run = {.team = s->alone, .order = &order, .memory = &memory, .size = 1};
    int error = order_init(&order, &kind);
    *cost = (struct sort_cost){
        .total = (double)args->n[1], .bytes = (double)order.size, .place = door_place_alone};
    if (error == 0)
        error = speed_learn(&run, cost->total / s->tasks, cost->total, cost);
    memory_free(&memory);
    cost->place = s->place;
    return error;
}

/* The least of the library's own predictions; the parts go out, and come back as they are then. */
static double cost_sort(const struct door_args *args, const struct door_setting *s)
{
    struct domain_algorithm rows[SORT_ALGORITHMS];
    const struct covey_domain_network *network = &s->place.network;
    struct sort_cost cost;
    double rough_s = (double)args->n[1] * ROUGH_S, least_s = HUGE_VAL;
    if (s->tasks < 2 && rough_s < SHORT_S)
        return rough_s;
    if (learn_speeds(args, s, &cost) < 0)
        return HUGE_VAL;
    sort_predict(&cost, 0, rows);
    if (s->tasks < 2)
        return rows[0].seconds;
    for (int i = 1; i < SORT_ALGORITHMS; i++)
        least_s = fmin(least_s, rows[i].seconds);
    double moved = cost.total * cost.bytes * (s->tasks - 1) / s->tasks;
    return least_s + 2 * ((s->tasks - 1) * network->alpha_s + moved * network->beta_s);
}

const struct door_op door_sort = {.name = "covey_sort_array", .run = run_sort, .cost = cost_sort};

int covey_sort_array(covey_t *vm, int type, void *base, size_t count, const char *options,
                     struct covey_door_report *report)
{
    const struct covey_sort_kind kind = {.type = type};
    struct sort_order order;
    char cause[200];
    int error = order_init(&order, &kind);
    if (error < 0) {
        snprintf(cause, sizeof cause, "%s", covey_domain_error_text());
        return domain_fail(error, "covey_sort_array: %s", cause);
    }
    if ((base == NULL && count > 0) || count > PTRDIFF_MAX / order.size)
        return domain_fail(COVEY_EINVAL,
                           "covey_sort_array: the array is NULL, or larger than memory");
    const struct door_args args = {.n = {type, (int64_t)count}, .out = {base}};
    return door_call(vm, DOOR_SORT, &args, options, report);
}
