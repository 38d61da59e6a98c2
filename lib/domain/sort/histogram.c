/*
 * histogram.c - exact splitters: sort here, and narrow down for each of the P - 1 borders of the
 * result where it cuts the piece, until the parts are exactly as large as they shall be; then
 * exchange and merge as sample sort does.
 *
 * Each round of a border: every member shows the middle element of what is still open in its piece;
 * the weighted median of these is the pivot; the number of elements before it, of all members, says
 * on which side of it the border is. At least a quarter of what was open is closed by each round,
 * whatever the keys are (a median of medians): values are only compared, so that records serve,
 * too. All borders go through a round together.
 */
#include "lib/domain/sort/probe.h"

#include "lib/domain/base/error.h"

#include <stdlib.h>
#include <string.h>

/* A comparison that contradicts itself could go on for ever; 64 bits of elements need fewer. */
#define ROUNDS_MAX 200

struct borders {
    int count;                          /* P - 1 */
    size_t *low, *high;                 /* a border: the cut is between these, both included */
    char *keys, *all_keys;              /* a border, and a member and border */
    uint64_t *places, *all_places;      /* the same: index and weight of the middle element */
    uint64_t *before, *all_before;      /* a border: elements before its pivot */
    struct sort_probe *probes, *pivots; /* a member; a border */
    size_t *cuts;
};

static void borders_free(const struct sort_run *run, struct borders *b)
{
    free(b->low);
    run_free(run, b->keys);
    run_free(run, b->all_keys);
    free(b->places);
    free(b->probes);
}

static int borders_init(struct borders *b, const struct sort_run *run, size_t n)
{
    size_t count = (size_t)run->size - 1, members = (size_t)run->size;
    *b = (struct borders){.count = (int)count};
    b->low = calloc(2 * count + members + 1, sizeof *b->low);
    b->keys = run_alloc(run, count);
    b->all_keys = run_alloc(run, count * members);
    b->places = calloc(2 * count * (members + 2), sizeof *b->places);
    b->probes = calloc(members + count, sizeof *b->probes);
    if (b->low == NULL || b->keys == NULL || b->all_keys == NULL || b->places == NULL ||
        b->probes == NULL) {
        borders_free(run, b);
        domain_fail(COVEY_ENOMEM, "sort: no memory for the borders of %d members", run->size);
        return COVEY_ENOMEM;
    }
    b->high = b->low + count;
    b->cuts = b->high + count;
    b->all_places = b->places + 2 * count;
    b->before = b->all_places + 2 * count * members;
    b->all_before = b->before + count;
    b->pivots = b->probes + members;
    for (size_t i = 0; i < count; i++)
        b->high[i] = n;
    memset(b->keys, 0, count * run->order->size);
    return 0;
}

/* The middle elements of all members, with what each stands for. */
static int borders_show(struct borders *b, const struct sort_run *run,
                        const struct sort_piece *piece)
{
    size_t size = run->order->size, count = (size_t)b->count;
    for (size_t i = 0; i < count; i++) {
        size_t open = b->high[i] > b->low[i] ? b->high[i] - b->low[i] : 0;
        size_t middle = b->low[i] + open / 2;
        b->places[2 * i] = middle;
        b->places[2 * i + 1] = open;
        if (open > 0)
            memcpy(b->keys + i * size, piece->base + middle * size, size);
    }
    int error = covey_allgather(run->team, run->order->wire_type, b->keys, b->all_keys,
                                count * run->order->wire_count);
    if (error == 0)
        error = covey_allgather(run->team, COVEY_UINT64, b->places, b->all_places, 2 * count);
    return error < 0 ? run_fail(error) : 0;
}

/* Sets the pivot of a border; its weight is 0 when nothing is open. */
static void border_pivot(struct borders *b, const struct sort_run *run, size_t border)
{
    size_t count = (size_t)b->count, n = 0;
    uint64_t open = 0;
    for (size_t i = 0; i < (size_t)run->size; i++) {
        const uint64_t *place = b->all_places + 2 * (i * count + border);
        if (place[1] == 0)
            continue;
        b->probes[n++] =
            (struct sort_probe){.key = b->all_keys + (i * count + border) * run->order->size,
                                .rank = i,
                                .index = place[0],
                                .weight = place[1]};
        open += place[1];
    }
    probes_sort(run, b->probes, n);
    size_t at = probes_find(b->probes, n, open / 2);
    if (n > 0)
        b->pivots[border] = b->probes[at < n ? at : n - 1];
    else
        b->pivots[border].weight = 0;
}

/* How many elements of all members are before each pivot; returns how many borders are open. */
static int borders_count(struct borders *b, const struct sort_run *run,
                         const struct sort_piece *piece)
{
    int open = 0;
    for (size_t i = 0; i < (size_t)b->count; i++) {
        border_pivot(b, run, i);
        open += b->pivots[i].weight > 0;
        b->before[i] = b->pivots[i].weight > 0 ? piece_cut(run, piece, &b->pivots[i]) : 0;
    }
    if (open == 0)
        return 0;
    int error = covey_allreduce(run->team, COVEY_OP_SUM, COVEY_UINT64, b->before, b->all_before,
                                (size_t)b->count);
    return error < 0 ? run_fail(error) : open;
}

/* The pivot itself is behind the border, or before it. */
static void borders_narrow(struct borders *b, const struct sort_run *run)
{
    for (size_t i = 0; i < (size_t)b->count; i++) {
        const struct sort_probe *pivot = &b->pivots[i];
        size_t before = (size_t)b->before[i];
        if (pivot->weight == 0)
            continue;
        if (run->targets[i + 1] == b->all_before[i])
            b->low[i] = b->high[i] = before;
        else if (run->targets[i + 1] < b->all_before[i])
            b->high[i] = before < b->high[i] ? before : b->high[i];
        else {
            before += pivot->rank == (uint64_t)run->rank;
            b->low[i] = before > b->low[i] ? before : b->low[i];
        }
    }
}

static int borders_find(struct borders *b, const struct sort_run *run,
                        const struct sort_piece *piece)
{
    for (int round = 0; round < ROUNDS_MAX; round++) {
        int error = borders_show(b, run, piece);
        int open = error < 0 ? error : borders_count(b, run, piece);
        if (open <= 0)
            return open;
        borders_narrow(b, run);
    }
    return domain_fail(COVEY_EINVAL, "sort: the comparison contradicts itself");
}

static void borders_cut(struct borders *b, const struct sort_run *run, size_t n)
{
    for (int i = 1; i <= run->size; i++) {
        size_t cut = i < run->size ? b->low[i - 1] : n;
        cut = cut < n ? cut : n;
        b->cuts[i] = cut > b->cuts[i - 1] ? cut : b->cuts[i - 1];
    }
}

int sort_histogram(const struct sort_run *run, struct sort_piece *piece)
{
    struct borders borders;
    int error = piece_sort(run, piece);
    if (error < 0 || run->size == 1)
        return error;
    error = borders_init(&borders, run, piece->n);
    if (error != 0)
        return error;
    error = borders_find(&borders, run, piece);
    if (error == 0) {
        borders_cut(&borders, run, piece->n);
        error = piece_exchange(run, piece, borders.cuts);
    }
    borders_free(run, &borders);
    return error;
}
