/*
 * pivot.c - samples go up a binomial tree of the group to its first rank, which takes the pivot,
 * and the pivot comes down again. On the way up they are thinned out: of two neighbours one stands
 * for both. Messages are one array of keys and one of where these are from.
 */
#include "lib/domain/sort/pivot.h"

#include "lib/domain/base/error.h"
#include "lib/domain/sort/probe.h"

#include <stdlib.h>
#include <string.h>

#define TAG_UP 5
#define TAG_DOWN 6
#define OWN 16    /* samples of a member */
#define MOST 32   /* and of a message */
#define NUMBERS 3 /* of a probe: rank, index, weight */

struct sketch {
    size_t n;
    struct sort_probe probes[2 * MOST];
    char *keys; /* where the keys of the probes are: two halves, used in turn */
    int half;
};

static char *half_of(const struct sketch *s, const struct sort_run *run, int half)
{
    return s->keys + (size_t)half * 2 * MOST * run->order->size;
}

static void sketch_take(struct sketch *s, const struct sort_run *run,
                        const struct sort_piece *piece)
{
    size_t count = piece->n < OWN ? piece->n : OWN, size = run->order->size;
    for (size_t i = 0; i < count; i++) {
        struct sort_probe *probe = &s->probes[i];
        *probe = (struct sort_probe){.rank = (uint64_t)run->rank};
        probe->index = probe_place(piece->n, count, i, &probe->weight);
        probe->key =
            memcpy(half_of(s, run, s->half) + i * size, piece->base + probe->index * size, size);
    }
    s->n = count;
}

/* Sorts the probes and has every second one stand for two when there are too many; their keys move
 * to the other half, one after another. */
static void sketch_settle(struct sketch *s, const struct sort_run *run)
{
    size_t size = run->order->size, step = s->n > MOST ? 2 : 1, kept = 0;
    char *keys = half_of(s, run, !s->half);
    probes_sort(run, s->probes, s->n);
    for (size_t i = 0; i < s->n; i += step, kept++) {
        struct sort_probe probe = s->probes[i];
        if (step == 2 && i + 1 < s->n)
            probe.weight += s->probes[i + 1].weight;
        probe.key = memcpy(keys + kept * size, probe.key, size);
        s->probes[kept] = probe;
    }
    s->n = kept;
    s->half = !s->half;
}

static int probes_send(const struct sort_run *run, int to, int tag, const struct sort_probe *probes,
                       const char *keys, size_t n)
{
    uint64_t numbers[NUMBERS * MOST];
    covey_msg_t *msg = covey_msg_new();
    for (size_t i = 0; i < n; i++) {
        numbers[NUMBERS * i] = probes[i].rank;
        numbers[NUMBERS * i + 1] = probes[i].index;
        numbers[NUMBERS * i + 2] = probes[i].weight;
    }
    int error = msg == NULL ? COVEY_ENOMEM : 0;
    if (error == 0)
        error = covey_pack(msg, COVEY_UINT64, numbers, NUMBERS * n, 1);
    if (error == 0)
        error = covey_pack(msg, run->order->wire_type, keys, n * run->order->wire_count, 1);
    if (error == 0)
        error = covey_team_send(run->team, to, tag, msg);
    covey_msg_free(msg);
    return error < 0 ? run_fail(error) : 0;
}

/* Takes the arrays of a message behind the probes that there are. */
static int probes_unpack(const struct sort_run *run, covey_msg_t *msg, struct sort_probe *probes,
                         char *keys, size_t *n)
{
    const void *view;
    size_t count = 0;
    int error = covey_unpack_view(msg, COVEY_UINT64, &view, &count);
    if (error < 0 || count > NUMBERS * MOST)
        return error < 0 ? error : COVEY_EPROTO;
    *n = count / NUMBERS;
    for (size_t i = 0; i < *n; i++) {
        const uint64_t *numbers = (const uint64_t *)view + NUMBERS * i;
        probes[i] = (struct sort_probe){.key = keys + i * run->order->size,
                                        .rank = numbers[0],
                                        .index = numbers[1],
                                        .weight = numbers[2]};
    }
    return covey_unpack(msg, run->order->wire_type, keys, *n * run->order->wire_count, 1);
}

static int probes_receive(const struct sort_run *run, int from, int tag, struct sort_probe *probes,
                          char *keys, size_t *n)
{
    covey_msg_t *msg = NULL;
    int error = covey_team_recv(run->team, from, tag, COVEY_FOREVER, &msg);
    if (error >= 0)
        error = probes_unpack(run, msg, probes, keys, n);
    covey_msg_free(msg);
    return error < 0 ? run_fail(error) : 0;
}

static int sketch_receive(struct sketch *s, const struct sort_run *run, int from)
{
    size_t more = 0;
    int error = probes_receive(run, from, TAG_UP, s->probes + s->n,
                               half_of(s, run, s->half) + s->n * run->order->size, &more);
    s->n += more;
    if (error == 0)
        sketch_settle(s, run);
    return error;
}

/* Up the tree; returns the step at which this member gave what it had, which is where the pivot
 * comes from. The first rank goes beyond the size. */
static int sketch_up(struct sketch *s, const struct sort_run *run, int first, int size, int *step)
{
    int place = run->rank - first, error = 0;
    for (*step = 1; error == 0 && *step < size; *step *= 2) {
        if ((place & *step) != 0)
            return probes_send(run, run->rank - *step, TAG_UP, s->probes, half_of(s, run, s->half),
                               s->n);
        if (place + *step < size)
            error = sketch_receive(s, run, run->rank + *step);
    }
    return error;
}

/* The pivot is the first of the probes; none when the group has no elements. */
static int sketch_down(struct sketch *s, const struct sort_run *run, int first, int size, int step)
{
    int place = run->rank - first, error = 0;
    char *keys = half_of(s, run, s->half);
    if (place != 0)
        error = probes_receive(run, run->rank - step, TAG_DOWN, s->probes, keys, &s->n);
    for (step /= 2; error == 0 && step > 0; step /= 2) {
        if (place + step < size)
            error = probes_send(run, run->rank + step, TAG_DOWN, s->probes, keys, s->n);
    }
    return error;
}

/* The first rank takes the probe with the share of the left half before it. */
static void sketch_choose(struct sketch *s, const struct sort_run *run, int size)
{
    uint64_t total = 0;
    for (size_t i = 0; i < s->n; i++)
        total += s->probes[i].weight;
    if (s->n == 0)
        return;
    size_t at = probes_find(s->probes, s->n, total / (uint64_t)size * (uint64_t)(size / 2));
    s->probes[0] = s->probes[at < s->n ? at : s->n - 1];
    memmove(half_of(s, run, s->half), s->probes[0].key, run->order->size);
    s->n = 1;
}

int pivot_cut(const struct sort_run *run, const struct sort_piece *piece, int first, int size,
              size_t *cut)
{
    struct sketch s = {.keys = run_alloc(run, 4 * MOST)};
    int step, error = COVEY_ENOMEM;
    if (s.keys == NULL)
        return error;
    sketch_take(&s, run, piece);
    error = sketch_up(&s, run, first, size, &step);
    if (error == 0 && run->rank == first)
        sketch_choose(&s, run, size);
    if (error == 0)
        error = sketch_down(&s, run, first, size, step);
    if (error == 0)
        *cut = s.n > 0 ? piece_cut(run, piece, &s.probes[0]) : 0;
    run_free(run, s.keys);
    return error;
}
