/*
 * cast_ring.h - fragments by number: the datagrams of a window of consecutive numbers, kept as
 * they are on the wire. The same memory serves a sender for repairs, a receiver for putting
 * messages together and survivors for handing on.
 */
#ifndef COVEY_PROTO_CAST_RING_H
#define COVEY_PROTO_CAST_RING_H

#include <stddef.h>
#include <stdint.h>

struct cast_slot {
    uint64_t number;
    uint16_t size; /* of the datagram, 0: none */
    uint8_t flags;
    uint16_t back;
    uint32_t wanted; /* host that asked for it, CAST_WANTED_BY_MANY, 0: none */
    unsigned repairs;
    uint64_t repaired_us;
    uint64_t serial; /* of its message, at the sender */
};
#define CAST_WANTED_BY_MANY UINT32_MAX

struct cast_ring {
    uint32_t window;
    size_t slot_bytes;
    uint8_t *bytes; /* NULL: no memory yet */
    struct cast_slot *slots;
};

int cast_ring_init(struct cast_ring *ring); /* window and slot_bytes are set; -ENOMEM */
void cast_ring_fini(struct cast_ring *ring);

/* The slot that holds that fragment, NULL: none does. */
struct cast_slot *cast_ring_get(const struct cast_ring *ring, uint64_t number);
/* Makes its slot that of the fragment: whatever was there is forgotten. */
struct cast_slot *cast_ring_take(struct cast_ring *ring, uint64_t number, size_t size);
uint8_t *cast_ring_bytes(const struct cast_ring *ring, uint64_t number);
/* Forgets the fragments from .. to-1. */
void cast_ring_drop(struct cast_ring *ring, uint64_t from, uint64_t to);

#endif
