/*
 * message.h - a message: a list of typed arrays, packed item after item.
 *
 *   packed = *item
 *   item   = type=u8 7u8(0) count=u64 data padding   ; the header is big-endian
 *   data   = count elements in the sender's representation
 *   padding = zeros up to a multiple of 8
 *
 * While it is built, the packed bytes are a list of segments: pieces of the message's own memory
 * and, for arrays packed in place, of the caller's. A received message is one segment.
 */
#ifndef COVEY_LIB_MESSAGE_H
#define COVEY_LIB_MESSAGE_H

#include "lib/covey.h"
#include "proto/wire/frame.h"

#include <stdbool.h>
#include <sys/uio.h>

#define ITEM_HEADER_BYTES 16

struct segment {
    const void *foreign; /* the caller's memory, or NULL: own memory at `offset` */
    size_t offset;
    size_t size;
};

struct covey_msg {
    uint8_t *own;
    size_t own_used, own_capacity;
    struct segment *segments;
    size_t segment_count, segment_capacity;
    uint64_t size; /* of the packed message */

    size_t read_at;         /* offset of the item being read */
    size_t elements_read;   /* of that item */
    uint8_t representation; /* of all items; a foreign one only of a message that was received */

    struct covey_info info;
    uint32_t output_bytes; /* output to acknowledge when the program takes the message */
};

/* A message that will receive `size` packed bytes at message_bytes(); NULL: no memory. */
struct covey_msg *message_receive(uint64_t size, uint8_t representation);
uint8_t *message_bytes(struct covey_msg *msg);

/* Whether this machine can address as much memory: one of 32 bits less than a message may have. */
static inline bool addressable(uint64_t size)
{
    return size <= SIZE_MAX / 2;
}

/* Bytes that an item of that type and count takes, header and padding included; 0: too large. */
uint64_t item_bytes(int type, uint64_t count);
void item_header_encode(uint8_t bytes[ITEM_HEADER_BYTES], int type, uint64_t count);
/* Refuses unknown types, set reserved bytes and a count that `left` bytes of message cannot hold.
 */
bool item_header_decode(const uint8_t *bytes, uint64_t left, int *type, uint64_t *count);

/* Reverses the bytes of each of `count` elements (complex: of each part) of a type. */
void elements_swap(int type, void *base, size_t count);

/* Copies `count` elements of `width` bytes, each array with a stride of its own. */
void elements_copy(void *to, ptrdiff_t to_stride, const void *from, ptrdiff_t from_stride,
                   size_t width, size_t count);

/* Fills iov[0..max) with the packed bytes from `offset` on, up to `size` bytes; returns entries. */
int message_gather(const struct covey_msg *msg, uint64_t offset, size_t size, struct iovec *iov,
                   int max);

/* Copies the packed bytes from `offset` on, up to `size` bytes; returns how many there were. */
size_t message_copy(const struct covey_msg *msg, uint64_t offset, void *to, size_t size);

/* Turns the arrays of a message from a machine of another byte order to this one's, in place; only
 * the first call does anything. What lies behind damage is left: nobody can read that far. */
void message_make_native(struct covey_msg *msg);

#endif
