/*
 * window_ring.c - the ring of stream bytes. Behind its end lies a spare area: when a view meets the
 * end too early, the first bytes of the ring are repeated there, so that a reader gets a whole
 * frame in one piece. That costs a copy of at most RING_VIEW_BYTES once per turn of the ring.
 *
 * A burst leaves a large ring behind, all of which a trickle of bytes would touch in time:
 * thousands of daemons, each of which was sent a table once, would have half a MiB more for good.
 */
#include "proto/window/window_ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define RING_CAPACITY_MIN (2u * 1024)     /* a coordinator has thousands, which carry little */
#define RING_CAPACITY_LARGE (512u * 1024) /* then little is repeated for each byte */
#define RING_LITTLE 64                    /* that part of its capacity */
#define RING_LULLS 32                     /* after so many it begins anew */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t window_ring_index(const struct window_ring *r, uint64_t offset)
{
    return (size_t)offset & (r->capacity - 1);
}

static size_t window_ring_spare(size_t capacity)
{
    return smaller(capacity, RING_VIEW_BYTES);
}

void window_ring_free(struct window_ring *r)
{
    free(r->bytes);
    *r = (struct window_ring){0};
}

/* Nothing lies in it now. */
static void window_ring_begin(struct window_ring *r)
{
    r->lulls = r->most <= r->capacity / RING_LITTLE ? r->lulls + 1 : 0;
    r->most = 0;
    if (r->lulls >= RING_LULLS && r->capacity > RING_CAPACITY_MIN)
        window_ring_free(r);
}

bool window_ring_reserve(struct window_ring *r, uint64_t begin, uint64_t used, uint64_t end)
{
    assert(begin <= used && used <= end);
    if (begin == used)
        window_ring_begin(r);
    if (end - begin > r->most)
        r->most = (size_t)(end - begin);
    if (end - begin <= r->capacity)
        return true;
    struct window_ring grown = {.capacity = r->capacity == 0 ? RING_CAPACITY_MIN : r->capacity,
                                .most = r->most};
    while (grown.capacity < end - begin)
        grown.capacity *= 2;
    if (grown.capacity > RING_VIEW_BYTES && grown.capacity < RING_CAPACITY_LARGE)
        grown.capacity = RING_CAPACITY_LARGE;
    grown.bytes = malloc(grown.capacity + window_ring_spare(grown.capacity));
    if (grown.bytes == NULL)
        return false;
    while (begin < used) {
        const uint8_t *bytes;
        size_t run = window_ring_run(r, begin, (size_t)(used - begin), &bytes);
        window_ring_put(&grown, begin, bytes, run);
        begin += run;
    }
    window_ring_free(r);
    *r = grown;
    return true;
}

void window_ring_put(struct window_ring *r, uint64_t offset, const void *bytes, size_t size)
{
    assert(size <= r->capacity);
    size_t at = window_ring_index(r, offset);
    size_t run = smaller(size, r->capacity - at);
    memcpy(r->bytes + at, bytes, run);
    if (run < size)
        memcpy(r->bytes, (const uint8_t *)bytes + run, size - run);
}

size_t window_ring_run(const struct window_ring *r, uint64_t offset, size_t size,
                       const uint8_t **bytes)
{
    assert(r->capacity > 0);
    size_t at = window_ring_index(r, offset);
    *bytes = r->bytes + at;
    return smaller(size, r->capacity - at);
}

size_t window_ring_view(struct window_ring *r, uint64_t begin, uint64_t end, const uint8_t **bytes)
{
    assert(begin <= end && end - begin <= r->capacity);
    size_t size = (size_t)(end - begin);
    if (size == 0)
        return 0;
    size_t run = window_ring_run(r, begin, r->capacity, bytes);
    if (run >= smaller(size, RING_VIEW_BYTES))
        return smaller(size, run);
    size = smaller(size, smaller(RING_VIEW_BYTES, run + window_ring_spare(r->capacity)));
    /* The ring's first bytes, offsets turn .. end-1, are repeated behind its end. */
    uint64_t turn = begin + run, from = r->mirrored_end > turn ? r->mirrored_end : turn;
    end = begin + size;
    assert(end <= turn || end - turn <= window_ring_spare(r->capacity));
    if (from < end) {
        memcpy(r->bytes + r->capacity + (from - turn), r->bytes + (from - turn),
               (size_t)(end - from));
        r->mirrored_end = end;
    }
    return size;
}
