/*
 * cast_ring.c - fragments by number. A number has one slot, number modulo the window, so that
 * nothing is searched; what a slot held before is overwritten, which is why its number is kept in
 * it.
 */
#include "proto/cast/cast_ring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int cast_ring_init(struct cast_ring *ring)
{
    ring->bytes = malloc(ring->window * ring->slot_bytes);
    ring->slots = calloc(ring->window, sizeof *ring->slots);
    if (ring->bytes != NULL && ring->slots != NULL)
        return 0;
    cast_ring_fini(ring);
    return -ENOMEM;
}

void cast_ring_fini(struct cast_ring *ring)
{
    free(ring->bytes);
    free(ring->slots);
    ring->bytes = NULL;
    ring->slots = NULL;
}

struct cast_slot *cast_ring_get(const struct cast_ring *ring, uint64_t number)
{
    if (ring->slots == NULL)
        return NULL;
    struct cast_slot *slot = &ring->slots[number % ring->window];
    return slot->size > 0 && slot->number == number ? slot : NULL;
}

struct cast_slot *cast_ring_take(struct cast_ring *ring, uint64_t number, size_t size)
{
    assert(ring->slots != NULL && size > 0 && size <= ring->slot_bytes);
    struct cast_slot *slot = &ring->slots[number % ring->window];
    *slot = (struct cast_slot){.number = number, .size = (uint16_t)size};
    return slot;
}

uint8_t *cast_ring_bytes(const struct cast_ring *ring, uint64_t number)
{
    assert(ring->bytes != NULL);
    return ring->bytes + number % ring->window * ring->slot_bytes;
}

void cast_ring_drop(struct cast_ring *ring, uint64_t from, uint64_t to)
{
    if (ring->slots == NULL)
        return;
    assert(from <= to);
    if (to - from > ring->window)
        from = to - ring->window;
    for (; from < to; from++) {
        struct cast_slot *slot = cast_ring_get(ring, from);
        if (slot != NULL)
            slot->size = 0;
    }
}
