/*
 * schedule.c - chooses how the phases of an all-to-all are found, and puts the parts together.
 *
 *   schedule_tree   the paper's algorithm: optimal when all links have one rate, and also when the
 *                   bottleneck is the slowest link
 *   schedule_pack   a search, for links of unequal rates
 *   schedule_sync   the synchronisations, for the phases of either
 *   schedule_proof  proves a schedule and shares nothing with these but the form of the result
 *
 * The network is the caller's and is only read; a schedule owns its arrays. Nothing is random but
 * by the seed.
 */
#include "proto/schedule/schedule.h"

#include <stdlib.h>

#include "proto/schedule/schedule_pack.h"
#include "proto/schedule/schedule_sync.h"
#include "proto/schedule/schedule_tree.h"

#define EXCESS 1.05 /* of a searched schedule over the bound, at most, if one is found */
#define STEPS 8     /* in which the search then gives way, up to what the paper's phases take */

/* ---- Sorting ----------------------------------------------------------------------------- */

enum key { KEY_PHASE, KEY_FROM, KEY_TO };

static uint32_t key_of(const struct schedule_message *m, enum key key)
{
    return key == KEY_PHASE ? m->phase : key == KEY_FROM ? m->from : m->to;
}

/* One stable pass; counts has room for every key and one more. */
static void sort_by(const struct schedule_message *in, struct schedule_message *out, size_t count,
                    enum key key, uint32_t *counts)
{
    for (size_t i = 0; i < count; i++)
        counts[key_of(&in[i], key) + 1]++;
    for (size_t k = 1; k <= count; k++)
        counts[k] += counts[k - 1];
    for (size_t i = 0; i < count; i++)
        out[counts[key_of(&in[i], key)]++] = in[i];
}

/* Sorts messages by phase, sender, receiver. Returns 0, or -1 when memory is exhausted. */
static int schedule_sort(struct schedule *schedule)
{
    size_t count = schedule->message_count, keys = count + 2;
    struct schedule_message *other = calloc(count + 1, sizeof *other), *mine = schedule->messages;
    uint32_t *counts[3] = {calloc(keys, sizeof(uint32_t)), calloc(keys, sizeof(uint32_t)),
                           calloc(keys, sizeof(uint32_t))};
    int failed =
        other != NULL && counts[0] != NULL && counts[1] != NULL && counts[2] != NULL ? 0 : -1;

    if (!failed) {
        sort_by(mine, other, count, KEY_TO, counts[0]);
        sort_by(other, mine, count, KEY_FROM, counts[1]);
        sort_by(mine, other, count, KEY_PHASE, counts[2]);
        schedule->messages = other;
        other = mine;
    }
    free(other);
    for (int i = 0; i < 3; i++)
        free(counts[i]);
    return failed;
}

/* ---- Phases ------------------------------------------------------------------------------ */

/* The paper's phases take a slot each. When that is more than the bound a search may do better, in
 * steps from nearly the bound up to them. */
static int schedule_fill(struct schedule *s, const struct network *n, uint64_t seed)
{
    double bound = schedule_pack_time(n), tree = (double)schedule_tree_load(n);
    double range[2] = {0, bound * EXCESS};

    for (int step = 0; step < STEPS && tree > bound && range[0] < tree; step++) {
        range[1] = range[1] < tree ? range[1] : tree - 1;
        int found = schedule_pack_fill(s, n, range, seed);
        if (found != 0)
            return found < 0 ? -1 : 0;
        range[0] = range[1];
        range[1] *= EXCESS;
    }
    s->slots = 1;
    s->bound = schedule_pack_bound(n, 1);
    s->phases = n->rank_count < 2 ? 0 : (uint32_t)schedule_tree_load(n);
    return schedule_tree_fill(s, n);
}

int schedule_create(struct schedule *schedule, const struct network *network, uint64_t seed)
{
    size_t ranks = (size_t)network->rank_count;

    *schedule = (struct schedule){.ranks = network->rank_count};
    schedule->messages = calloc(ranks * ranks + 1, sizeof *schedule->messages);
    if (schedule->messages != NULL && schedule_fill(schedule, network, seed) == 0 &&
        schedule_sort(schedule) == 0 && schedule_sync_fill(schedule, network) == 0)
        return 0;
    schedule_destroy(schedule);
    return -1;
}

void schedule_destroy(struct schedule *schedule)
{
    free(schedule->messages);
    free(schedule->syncs);
    *schedule = (struct schedule){0};
}
