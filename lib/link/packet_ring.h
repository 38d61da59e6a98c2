/*
 * packet_ring.h - the frames that come to a packet socket, in a ring that the kernel fills in our
 * memory: those of a task (link_packet.h) and those of the daemon (daemon/link/ether.h).
 *
 * Looking whether a frame has come is a read of memory; only sleeping (poll() on the descriptor)
 * needs the kernel. Nothing here knows what the frames mean.
 */
#ifndef COVEY_LIB_LINK_PACKET_RING_H
#define COVEY_LIB_LINK_PACKET_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet_ring {
    int fd; /* the owner's */
    uint8_t *memory;
    size_t bytes, block_bytes, slot_bytes;
    unsigned slots, slots_a_block, next;
    size_t frame_bytes; /* the largest frame */
    uint8_t *large; /* where a frame that no slot holds is read to; NULL: slots hold every one */
};

/* Of `bytes` in all, over a socket whose interface has that MTU. A slot has room for the frame of a
 * payload of up to slot_payload bytes; a larger one waits in the socket's queue. It needs no
 * privilege, and waits for the kernel, some milliseconds. Returns whether it could be had; to be
 * unmapped in any case. */
bool packet_ring_map(struct packet_ring *r, int fd, size_t mtu, size_t bytes, size_t slot_payload);
void packet_ring_unmap(struct packet_ring *r); /* also one that is all zero */

/* The frame that has waited longest, its link header included, *size bytes; NULL: none. It stays
 * where it is until packet_ring_release(). */
const uint8_t *packet_ring_next(struct packet_ring *r, size_t *size);
void packet_ring_release(struct packet_ring *r);
bool packet_ring_waiting(const struct packet_ring *r); /* packet_ring_next() would look at one */

/* Bytes of payloads that may wait to be read, before any are lost. */
size_t packet_ring_room(const struct packet_ring *r);

#endif
