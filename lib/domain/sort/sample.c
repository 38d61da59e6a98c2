/*
 * sample.c - sample sort: each member sorts what it has and shows the others evenly spaced elements
 * of it (regular sampling, Shi & Schaeffer 1992); by the same P - 1 of these all cut their pieces,
 * and each part goes to its rank, which merges the parts. With k samples a member no part is larger
 * than its share by more than n / k elements.
 */
#include "lib/domain/sort/probe.h"

#include "lib/domain/base/error.h"
#include "lib/domain/sort/cost.h"

#include <stdlib.h>
#include <string.h>

struct samples {
    size_t each; /* of a member that has so many elements, fewer otherwise */
    size_t n;
    char *keys, *own;
    struct sort_probe *probes;
    size_t *counts; /* of the members, in elements of the wire */
    size_t *cuts;
};

static uint64_t count_of(const struct sort_run *run, int rank)
{
    return run->starts[rank + 1] - run->starts[rank];
}

static size_t samples_of(const struct sort_run *run, const struct samples *s, int rank)
{
    uint64_t n = count_of(run, rank);
    return n < s->each ? (size_t)n : s->each;
}

static void samples_free(const struct sort_run *run, struct samples *s)
{
    run_free(run, s->keys);
    run_free(run, s->own);
    free(s->probes);
    free(s->counts);
    free(s->cuts);
}

static int samples_init(struct samples *s, const struct sort_run *run)
{
    *s = (struct samples){.each = cost_samples(run->size)};
    s->counts = calloc((size_t)run->size, sizeof *s->counts);
    s->cuts = calloc((size_t)run->size + 1, sizeof *s->cuts);
    for (int i = 0; i < run->size; i++)
        s->n += samples_of(run, s, i);
    s->keys = run_alloc(run, s->n);
    s->own = run_alloc(run, s->each);
    s->probes = calloc(s->n + 1, sizeof *s->probes);
    if (s->counts != NULL && s->cuts != NULL && s->keys != NULL && s->own != NULL &&
        s->probes != NULL)
        return 0;
    samples_free(run, s);
    domain_fail(COVEY_ENOMEM, "sort: no memory for %zu samples", s->n);
    return COVEY_ENOMEM;
}

/* Where samples come from follows from the counts, which all members know: only keys are sent. */
static int samples_gather(struct samples *s, const struct sort_run *run,
                          const struct sort_piece *piece)
{
    size_t size = run->order->size, own = samples_of(run, s, run->rank), at = 0;
    uint64_t weight;
    for (size_t j = 0; j < own; j++)
        memcpy(s->own + j * size, piece->base + probe_place(piece->n, own, j, &weight) * size,
               size);
    for (int i = 0; i < run->size; i++)
        s->counts[i] = samples_of(run, s, i) * run->order->wire_count;
    int error =
        covey_allgatherv(run->team, run->order->wire_type, s->own, s->keys, s->counts, NULL);
    if (error < 0)
        return run_fail(error);
    for (int i = 0; i < run->size; i++) {
        size_t count = samples_of(run, s, i), n = (size_t)count_of(run, i);
        for (size_t j = 0; j < count; j++, at++) {
            struct sort_probe *probe = &s->probes[at];
            probe->key = s->keys + at * size;
            probe->rank = (uint64_t)i;
            probe->index = probe_place(n, count, j, &probe->weight);
        }
    }
    probes_sort(run, s->probes, s->n);
    return 0;
}

static void samples_cut(struct samples *s, const struct sort_run *run,
                        const struct sort_piece *piece)
{
    for (int i = 1; i <= run->size; i++) {
        size_t at = i < run->size ? probes_find(s->probes, s->n, run->targets[i]) : s->n;
        size_t cut = at < s->n ? piece_cut(run, piece, &s->probes[at]) : piece->n;
        s->cuts[i] = cut > s->cuts[i - 1] ? cut : s->cuts[i - 1];
    }
}

int sort_sample(const struct sort_run *run, struct sort_piece *piece)
{
    struct samples samples;
    int error = piece_sort(run, piece);
    if (error == 0)
        error = samples_init(&samples, run);
    if (error != 0)
        return error;
    error = samples_gather(&samples, run, piece);
    if (error == 0) {
        samples_cut(&samples, run, piece);
        error = piece_exchange(run, piece, samples.cuts);
    }
    samples_free(run, &samples);
    return error;
}
