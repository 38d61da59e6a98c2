/*
 * window_ring.h - bytes of a stream, each kept at its offset modulo the capacity. A ring grows by
 * doubling when it must. When it holds little for a while it begins anew, as small as it can be.
 */
#ifndef COVEY_PROTO_WINDOW_RING_H
#define COVEY_PROTO_WINDOW_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A view is contiguous for at least so many bytes, if they are there. */
#define RING_VIEW_BYTES (72u * 1024) /* WINDOW_VIEW_BYTES */

struct window_ring {
    uint8_t *bytes;
    size_t capacity;       /* a power of two, or 0 */
    uint64_t mirrored_end; /* the bytes behind the end repeat the first ones up to this offset */
    size_t most;           /* bytes that it was to hold since it was empty */
    unsigned lulls;        /* times in a row that it was empty again after it held little */
};

void window_ring_free(struct window_ring *r);

/* Makes room for the offsets begin .. end-1, of which begin .. used-1 are kept. False, and nothing
 * changed, when memory is exhausted. */
bool window_ring_reserve(struct window_ring *r, uint64_t begin, uint64_t used, uint64_t end);

/* Copies in; room must have been made. */
void window_ring_put(struct window_ring *r, uint64_t offset, const void *bytes, size_t size);

/* Sets *bytes to what is at `offset`; returns how many of `size` bytes follow before the wrap. */
size_t window_ring_run(const struct window_ring *r, uint64_t offset, size_t size,
                       const uint8_t **bytes);

/* The bytes begin .. end-1: sets *bytes and returns how many follow contiguously there, at least
 * RING_VIEW_BYTES if there are so many. Must be asked with growing offsets. */
size_t window_ring_view(struct window_ring *r, uint64_t begin, uint64_t end, const uint8_t **bytes);

#endif
