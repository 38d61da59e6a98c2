/* window_wire.c - encodes and decodes the pieces of window_wire.h, each pair side by side. */
#include "proto/window/window_wire.h"

enum piece { PIECE_PAD = 0, PIECE_ACK = 1, PIECE_LIMIT = 2, PIECE_PING = 3, PIECE_STREAM = 4 };

static uint32_t saturate(uint64_t number)
{
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

void wire_put_ack(struct cursor *c, const struct ranges *seen, size_t count, uint64_t delay_us)
{
    const struct range *r = &seen->at[seen->count - 1];
    cursor_put_u8(c, PIECE_ACK);
    cursor_put_u8(c, (uint8_t)count);
    cursor_put_u32(c, saturate(delay_us));
    cursor_put_u64(c, r->end - 1);
    cursor_put_u32(c, saturate(r->end - r->begin));
    for (size_t i = 1; i < count; i++, r--) {
        /* a range or gap of 2^32 numbers does not happen; the sets are pruned long before */
        cursor_put_u32(c, saturate(r->begin - (r - 1)->end));
        cursor_put_u32(c, saturate((r - 1)->end - (r - 1)->begin));
    }
}

/* Reads one range that ends below or at *end; moves *end to its begin. */
static const char *get_range(struct cursor *c, struct range *r, uint64_t *end)
{
    uint64_t size = cursor_get_u32(c);
    if (!cursor_ok(c))
        return "acknowledgement cut short";
    if (size == 0)
        return "empty range in acknowledgement";
    if (size > *end)
        return "range in acknowledgement below zero";
    *r = (struct range){*end - size, *end};
    *end = r->begin;
    return NULL;
}

static const char *get_gap(struct cursor *c, uint64_t *end)
{
    uint64_t gap = cursor_get_u32(c);
    if (!cursor_ok(c))
        return "acknowledgement cut short";
    if (gap == 0)
        return "empty gap in acknowledgement";
    if (gap > *end)
        return "gap in acknowledgement below zero";
    *end -= gap;
    return NULL;
}

static const char *get_ack(struct cursor *c, struct wire_packet *p)
{
    size_t count = cursor_get_u8(c);
    p->ack_delay_us = cursor_get_u32(c);
    uint64_t largest = cursor_get_u64(c);
    if (!cursor_ok(c))
        return "acknowledgement cut short";
    if (p->ack)
        return "second acknowledgement";
    if (count == 0 || count > WIRE_RANGES_MAX)
        return "number of ranges in acknowledgement";
    if (largest >= WIRE_OFFSET_MAX)
        return "packet number in acknowledgement too large";
    uint64_t end = largest + 1;
    const char *refusal = get_range(c, &p->ack_ranges[0], &end);
    for (size_t i = 1; i < count && refusal == NULL; i++) {
        refusal = get_gap(c, &end);
        if (refusal == NULL)
            refusal = get_range(c, &p->ack_ranges[i], &end);
    }
    p->ack_count = count;
    p->ack = true;
    return refusal;
}

void wire_put_limit(struct cursor *c, uint64_t offset)
{
    cursor_put_u8(c, PIECE_LIMIT);
    cursor_put_u64(c, offset);
}

static const char *get_limit(struct cursor *c, struct wire_packet *p)
{
    p->limit_offset = cursor_get_u64(c);
    if (!cursor_ok(c))
        return "limit cut short";
    if (p->limit)
        return "second limit";
    if (p->limit_offset > WIRE_OFFSET_MAX)
        return "limit too large";
    p->limit = true;
    return NULL;
}

void wire_put_ping(struct cursor *c)
{
    cursor_put_u8(c, PIECE_PING);
}

static const char *get_ping(struct wire_packet *p)
{
    if (p->ping)
        return "second ping";
    p->ping = true;
    return NULL;
}

void wire_put_stream(struct cursor *c, uint64_t offset, size_t length)
{
    cursor_put_u8(c, PIECE_STREAM);
    cursor_put_u64(c, offset);
    cursor_put_u16(c, (uint16_t)length);
}

static const char *get_stream(struct cursor *c, struct wire_packet *p)
{
    p->offset = cursor_get_u64(c);
    p->length = cursor_get_u16(c);
    p->bytes = cursor_get_view(c, p->length);
    if (!cursor_ok(c))
        return "stream piece cut short";
    if (p->stream)
        return "second stream piece";
    if (p->length == 0)
        return "empty stream piece";
    if (p->offset > WIRE_OFFSET_MAX - p->length)
        return "stream offset too large";
    p->stream = true;
    return NULL;
}

void wire_put_pad(struct cursor *c)
{
    static const uint8_t zeros[256] = {PIECE_PAD};
    for (size_t left = cursor_left(c); left != 0; left = cursor_left(c))
        cursor_put_bytes(c, zeros, left < sizeof zeros ? left : sizeof zeros);
}

const char *wire_decode(struct wire_packet *p, const uint8_t *payload, size_t size)
{
    struct cursor c = cursor_reader(payload, size);
    const char *refusal = NULL;
    p->ack = p->limit = p->ping = p->stream = false;
    while (refusal == NULL && cursor_left(&c) != 0) {
        switch (cursor_get_u8(&c)) {
        case PIECE_PAD:
            return NULL;
        case PIECE_ACK:
            refusal = get_ack(&c, p);
            break;
        case PIECE_LIMIT:
            refusal = get_limit(&c, p);
            break;
        case PIECE_PING:
            refusal = get_ping(p);
            break;
        case PIECE_STREAM:
            refusal = get_stream(&c, p);
            break;
        default:
            refusal = "unknown kind of piece";
        }
    }
    return refusal;
}
