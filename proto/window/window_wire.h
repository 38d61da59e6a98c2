/*
 * window_wire.h - the payload of a window's packet, and the only file pair that knows its layout.
 *
 *   payload = *piece [PAD]           ; each kind of piece at most once
 *   piece   = ACK / LIMIT / PING / STREAM
 *   ACK     = %x01 count delay largest size *(gap size)
 *   count   = u8      ; of ranges, 1 .. WIRE_RANGES_MAX
 *   delay   = u32     ; us between the arrival of `largest` and this acknowledgement
 *   largest = u64     ; the largest packet number of the first range
 *   size    = u32     ; numbers in the range, > 0, counted downwards
 *   gap     = u32     ; numbers missing between this range and the one above, > 0
 *   LIMIT   = %x02 u64              ; the sender of it takes stream bytes below this offset
 *   PING    = %x03                  ; acknowledge at once
 *   STREAM  = %x04 offset length bytes
 *   offset  = u64 ; length = u16, > 0
 *   PAD     = %x00 *u8              ; the rest of the payload means nothing
 *
 * LIMIT, PING and STREAM must be acknowledged, ACK and PAD need not be. An empty payload is good.
 */
#ifndef COVEY_PROTO_WINDOW_WIRE_H
#define COVEY_PROTO_WINDOW_WIRE_H

#include "proto/window/window_ranges.h"
#include "proto/wire/cursor.h"

#define WIRE_RANGES_MAX 32
#define WIRE_ACK_BYTES(ranges) (10 + 8 * (size_t)(ranges))
#define WIRE_LIMIT_BYTES 9
#define WIRE_PING_BYTES 1
#define WIRE_STREAM_BYTES 11
#define WIRE_STREAM_LENGTH_MAX 65535
#define WIRE_OFFSET_MAX (UINT64_C(1) << 62) /* of stream offsets and packet numbers */

/* A decoded payload. The stream's bytes are a view into it. */
struct wire_packet {
    bool ack, limit, ping, stream;
    uint32_t ack_delay_us;
    size_t ack_count;
    struct range ack_ranges[WIRE_RANGES_MAX]; /* from the highest down */
    uint64_t limit_offset;
    uint64_t offset;
    size_t length;
    const uint8_t *bytes;
};

/* Returns NULL when the whole payload is good, otherwise the reason of refusal. */
const char *wire_decode(struct wire_packet *packet, const uint8_t *payload, size_t size);

/* Each puts one piece; the cursor must have room. wire_put_ack() puts the highest `count` ranges of
 * a non-empty set. */
void wire_put_ack(struct cursor *c, const struct ranges *seen, size_t count, uint64_t delay_us);
void wire_put_limit(struct cursor *c, uint64_t offset);
void wire_put_ping(struct cursor *c);
void wire_put_pad(struct cursor *c); /* fills what is left */
/* Puts the head of a stream piece; `length` bytes must be put behind it. */
void wire_put_stream(struct cursor *c, uint64_t offset, size_t length);

#endif
