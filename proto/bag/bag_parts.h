/*
 * bag_parts.h - a whole of any size as frames, one behind the other, and back.
 *
 *   part  = place=u8 3u8(0) *u8
 *   place = BAG_PART_FIRST, BAG_PART_LAST, both or none
 */
#ifndef COVEY_PROTO_BAG_PARTS_H
#define COVEY_PROTO_BAG_PARTS_H

#include "proto/bag/bag_wire.h"

#define BAG_PART_HEAD_BYTES 4
#define BAG_PART_BYTES 60000 /* behind the head */

enum bag_part { BAG_PART_FIRST = 1, BAG_PART_LAST = 2 };

/* The part of a whole of `size` bytes that begins at *at, into bytes[BAG_PART_HEAD_BYTES +
 * BAG_PART_BYTES]: returns its length, and moves *at on. */
size_t bag_part_put(uint8_t *bytes, const uint8_t *whole, size_t size, size_t *at);

/* Large wholes that go out part by part, as far as there is room, in the order in which they were
 * added to each receiver: so nobody is busy with one of them for long. */
struct bag_outgoing {
    struct bag_outgoing_whole *first, *last; /* NULL at first */
    size_t bytes;                            /* that wait */
};

/* Sends a part, or says that there is no room for it now: false. */
typedef bool bag_part_fn(void *context, uint8_t kind, uint32_t to, const uint8_t *part,
                         size_t size);

/* Takes the whole, which is to go to all of them; false: memory is exhausted. */
bool bag_outgoing_add(struct bag_outgoing *all, uint8_t kind, const uint32_t *to, size_t count,
                      struct bag_parcel *whole);
/* Bytes that wait for a receiver. */
size_t bag_outgoing_to(const struct bag_outgoing *all, uint32_t to);
/* Sends what can be sent; whether there was anything. */
bool bag_outgoing_send(struct bag_outgoing *all, bag_part_fn *send, void *context);
void bag_outgoing_fini(struct bag_outgoing *all);

/* What is coming in, of several senders: a list, NULL at first. */
struct bag_incoming;

/* Adds a part of a sender. The whole when that was the last one: it lives until that sender's next
 * part. NULL: not yet, or *refused says why. */
const struct bag_parcel *bag_incoming_take(struct bag_incoming **all, uint32_t source,
                                           struct cursor *part, const char **refused);
/* Bytes that are kept of a sender, and of all; the beginning of what comes from it. */
size_t bag_incoming_bytes(const struct bag_incoming *all, uint32_t source);
size_t bag_incoming_all(const struct bag_incoming *all);
struct cursor bag_incoming_head(const struct bag_incoming *all, uint32_t source);
/* What came of the senders for which `is` holds is forgotten. */
void bag_incoming_drop(struct bag_incoming **all, bool (*is)(uint32_t source, uint32_t value),
                       uint32_t value);
void bag_incoming_fini(struct bag_incoming **all);

#endif
