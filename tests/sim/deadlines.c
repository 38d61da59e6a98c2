/*
 * deadlines.c - see deadlines.h. Each number knows its place in the heap, so that its time can
 * change; one that is never due has none.
 */
#include "tests/sim/deadlines.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#define NOWHERE SIZE_MAX

struct entry {
    uint64_t time_us;
    uint32_t number;
};

struct deadlines {
    uint32_t most;
    struct entry *heap;
    size_t count;
    size_t *at; /* of each number in the heap */
};

struct deadlines *deadlines_create(uint32_t most)
{
    struct deadlines *d = calloc(1, sizeof *d);

    if (!d)
        abort();
    d->most = most;
    d->heap = calloc(most + 1, sizeof *d->heap);
    d->at = calloc(most + 1, sizeof *d->at);
    if (!d->heap || !d->at)
        abort();
    for (uint32_t i = 0; i <= most; i++)
        d->at[i] = NOWHERE;
    return d;
}

void deadlines_destroy(struct deadlines *d)
{
    free(d->at);
    free(d->heap);
    free(d);
}

static bool is_before(const struct entry *a, const struct entry *b)
{
    return a->time_us != b->time_us ? a->time_us < b->time_us : a->number < b->number;
}

static void put(struct deadlines *d, size_t at, struct entry e)
{
    d->heap[at] = e;
    d->at[e.number] = at;
}

/* Finds the place of an entry, from one that is free on. */
static void settle(struct deadlines *d, size_t at, struct entry e)
{
    size_t child;

    for (; at > 0 && is_before(&e, &d->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(d, at, d->heap[(at - 1) / 2]);
    for (; (child = 2 * at + 1) < d->count; at = child) {
        if (child + 1 < d->count && is_before(&d->heap[child + 1], &d->heap[child]))
            child++;
        if (!is_before(&d->heap[child], &e))
            break;
        put(d, at, d->heap[child]);
    }
    put(d, at, e);
}

void deadlines_set(struct deadlines *d, uint32_t number, uint64_t time_us)
{
    assert(number <= d->most);
    size_t at = d->at[number];

    if (time_us != UINT64_MAX) {
        settle(d, at == NOWHERE ? d->count++ : at, (struct entry){time_us, number});
        return;
    }
    if (at == NOWHERE)
        return;
    d->at[number] = NOWHERE;
    if (at != --d->count)
        settle(d, at, d->heap[d->count]);
}

uint64_t deadlines_next(const struct deadlines *d, uint32_t *number)
{
    if (d->count == 0)
        return UINT64_MAX;
    *number = d->heap[0].number;
    return d->heap[0].time_us;
}
