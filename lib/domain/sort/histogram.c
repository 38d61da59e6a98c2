/*
 * histogram.c - exact splitters: sort here, and narrow down for each of the P - 1 borders of the
 * result where it cuts the piece, until the parts are exactly as large as they shall be; then
 * exchange and merge as sample sort does.
 *
 * Each round of a border: every member shows evenly spaced elements ("probes") of what is still
 * open in its piece, and where that begins and ends. Between two probes of a member that follow one
 * another are as many elements as all know, so of each probe all know the least and the most
 * elements of all members that can be before it. The last probe that is surely not behind the
 * border, and the first one that is surely not before it, close what is outside of them: of k
 * probes a member at most 4 / k stays open, whatever the keys are. Where all open elements are
 * shown the places are exact. Values are only compared, so that records serve, too. All borders go
 * through a round together, and in the first one they have the same probes.
 *
 * Harsh, Kale and Solomonik ("Histogram sort with sampling", SPAA 2019) count the elements before
 * each probe by another collective; with regular samples of sorted pieces that is not needed.
 */
#include "lib/domain/sort/probe.h"

#include "lib/domain/base/error.h"

#include <stdlib.h>
#include <string.h>

/* A comparison that contradicts itself could go on for ever; 64 bits of elements need fewer. */
#define ROUNDS_MAX 100

/* What is open of a piece: low <= the cut <= high. */
struct open {
    uint64_t low, high;
};

struct borders {
    int count, ranges;            /* P - 1; of which probes are shown: 1 in the first round */
    size_t each;                  /* probes of a member and range, or as many as are open */
    struct open *open, *all_open; /* a range; a member and range */
    char *keys, *all_keys;        /* the same times `each` */
    struct sort_probe *probes;    /* of one range, of all members */
    size_t *next;                 /* a member: its first probe that was not passed */
    size_t *cuts;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void borders_free(const struct sort_run *run, struct borders *b)
{
    free(b->open);
    run_free(run, b->keys);
    run_free(run, b->all_keys);
    free(b->probes);
    free(b->next);
}

static int borders_init(struct borders *b, const struct sort_run *run, size_t n)
{
    size_t members = (size_t)run->size, count = members - 1;
    size_t keys = larger(run->probes.first, count * run->probes.next);
    *b = (struct borders){.count = (int)count, .ranges = 1, .each = run->probes.first};
    b->open = calloc(count * (members + 1), sizeof *b->open);
    b->keys = run_alloc(run, keys);
    b->all_keys = run_alloc(run, keys * members);
    b->probes = calloc(larger(run->probes.first, run->probes.next) * members, sizeof *b->probes);
    b->next = calloc(2 * members + 1, sizeof *b->next);
    if (b->open == NULL || b->keys == NULL || b->all_keys == NULL || b->probes == NULL ||
        b->next == NULL) {
        borders_free(run, b);
        domain_fail(COVEY_ENOMEM, "sort: no memory for the borders of %d members", run->size);
        return COVEY_ENOMEM;
    }
    b->all_open = b->open + count;
    b->cuts = b->next + members;
    for (size_t i = 0; i < count; i++)
        b->open[i].high = n;
    memset(b->keys, 0, keys * run->order->size);
    return 0;
}

/* ---- A round: what members show -------------------------------------------------------------- */

static size_t size_of(struct open open)
{
    return open.high > open.low ? (size_t)(open.high - open.low) : 0;
}

static size_t shown_of(const struct borders *b, struct open open)
{
    return size_of(open) < b->each ? size_of(open) : b->each;
}

static struct open open_of(const struct borders *b, int member, int range)
{
    return b->all_open[(size_t)member * (size_t)b->ranges + (size_t)range];
}

/* The element that is the j-th probe, counted from where the range begins; behind the last one its
 * end. */
static size_t probe_of(const struct borders *b, struct open open, size_t j)
{
    uint64_t weight;
    size_t count = shown_of(b, open);
    return j < count ? probe_place(size_of(open), count, j, &weight) : size_of(open);
}

static int borders_gather(struct borders *b, const struct sort_run *run)
{
    size_t ranges = (size_t)b->ranges;
    covey_req_t *keys = NULL;
    int error = covey_iallgather(run->team, run->order->wire_type, b->keys, b->all_keys,
                                 ranges * b->each * run->order->wire_count, &keys);
    if (error == 0)
        error = covey_allgather(run->team, COVEY_UINT64, b->open, b->all_open, 2 * ranges);
    if (error == 0)
        error = covey_wait(keys, COVEY_FOREVER);
    if (error < 0)
        run_fail(error);
    covey_req_free(&keys);
    return error;
}

static int borders_show(struct borders *b, const struct sort_run *run,
                        const struct sort_piece *piece)
{
    size_t size = run->order->size;
    for (size_t r = 0; r < (size_t)b->ranges; r++)
        for (size_t j = 0; j < shown_of(b, b->open[r]); j++)
            memcpy(b->keys + (r * b->each + j) * size,
                   piece->base + (b->open[r].low + probe_of(b, b->open[r], j)) * size, size);
    return borders_gather(b, run);
}

/* The probes of all members in their order; returns how many. */
static size_t range_sort(struct borders *b, const struct sort_run *run, int range)
{
    size_t n = 0;
    for (int i = 0; i < run->size; i++) {
        struct open open = open_of(b, i, range);
        size_t first = ((size_t)i * (size_t)b->ranges + (size_t)range) * b->each;
        for (size_t j = 0; j < shown_of(b, open); j++)
            b->probes[n++] =
                (struct sort_probe){.key = b->all_keys + (first + j) * run->order->size,
                                    .rank = (uint64_t)i,
                                    .index = open.low + probe_of(b, open, j)};
    }
    probes_sort(run, b->probes, n);
    return n;
}

/* ---- A round: what is closed ----------------------------------------------------------------- */

/* The probes between which the border is, counted from the first open elements on; NULL: none. */
struct bracket {
    const struct sort_probe *lower, *upper;
};

/* Passes the probes in their order. At least `least` elements are before one: of each member those
 * up to its last probe before; and at most `most`: those before its next probe. */
static struct bracket border_find(struct borders *b, const struct sort_run *run, int range,
                                  size_t n, uint64_t target)
{
    struct bracket found = {NULL, NULL};
    uint64_t least = 0, most = 0;
    for (int i = 0; i < run->size; i++) {
        b->next[i] = 0;
        most += probe_of(b, open_of(b, i, range), 0);
    }
    for (size_t k = 0; k < n && found.upper == NULL; k++) {
        const struct sort_probe *probe = &b->probes[k];
        struct open open = open_of(b, (int)probe->rank, range);
        size_t *next = &b->next[probe->rank], at = probe_of(b, open, *next);
        size_t before = *next > 0 ? probe_of(b, open, *next - 1) + 1 : 0;
        if (most <= target)
            found.lower = probe;
        if (least + at - before >= target) /* of its own member all before it are */
            found.upper = probe;
        ++*next;
        least += at + 1 - before;
        most += probe_of(b, open, *next) - at;
    }
    return found;
}

static void border_narrow(const struct sort_run *run, const struct sort_piece *piece,
                          const struct bracket *bracket, struct open *open)
{
    if (bracket->lower != NULL) {
        size_t before = piece_cut(run, piece, bracket->lower);
        open->low = larger(open->low, before < open->high ? before : (size_t)open->high);
    }
    if (bracket->upper != NULL) {
        size_t before = piece_cut(run, piece, bracket->upper);
        open->high = before < open->high ? larger(before, open->low) : open->high;
    }
}

/* Returns whether all places are exact now. */
static int border_close(struct borders *b, const struct sort_run *run,
                        const struct sort_piece *piece, int border, size_t n)
{
    int range = b->ranges == 1 ? 0 : border, all_shown = 1;
    uint64_t before = 0, between = 0, target = run->targets[border + 1];
    struct open *open = &b->open[border];
    for (int i = 0; i < run->size; i++) {
        struct open of = open_of(b, i, range);
        before += of.low;
        between += size_of(of);
        all_shown = all_shown && shown_of(b, of) == size_of(of);
    }
    if (target <= before)
        open->high = open->low;
    else if (target - before >= between)
        open->low = open->high;
    else {
        struct bracket bracket = border_find(b, run, range, n, target - before);
        border_narrow(run, piece, &bracket, open);
        return all_shown;
    }
    return 1;
}

/* Returns how many borders are open still. */
static int borders_close(struct borders *b, const struct sort_run *run,
                         const struct sort_piece *piece)
{
    size_t n = 0;
    int left = 0;
    for (int i = 0; i < b->count; i++) {
        if (i < b->ranges)
            n = range_sort(b, run, i);
        left += !border_close(b, run, piece, i, n);
    }
    b->ranges = b->count;
    b->each = run->probes.next;
    return left;
}

static int borders_find(struct borders *b, const struct sort_run *run,
                        const struct sort_piece *piece)
{
    for (int round = 0; round < ROUNDS_MAX; round++) {
        int error = borders_show(b, run, piece);
        int left = error < 0 ? error : borders_close(b, run, piece);
        if (left <= 0)
            return left;
    }
    return domain_fail(COVEY_EINVAL, "sort: the comparison contradicts itself");
}

static void borders_cut(struct borders *b, const struct sort_run *run, size_t n)
{
    for (int i = 1; i <= run->size; i++) {
        size_t cut = i < run->size ? (size_t)b->open[i - 1].low : n;
        cut = cut < n ? cut : n;
        b->cuts[i] = larger(cut, b->cuts[i - 1]);
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
