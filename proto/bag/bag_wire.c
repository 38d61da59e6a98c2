/*
 * bag_wire.c - requests, answers and logs of bags as bytes; put and get mirror each other. The
 * grammar stands in bag_wire.h.
 */
#include "proto/bag/bag_wire.h"

#include <stdlib.h>

#include "proto/wire/grow.h"

#define PARCEL_FIRST 1024

_Static_assert(1 + 1 + 2 + 4 + 8 + 4 + 4 + 4 + 8 == BAG_RECORD_BYTES, "record");
_Static_assert(8 + 4 + 4 + 4 + 4 + 4 + 8 + 8 + 8 == BAG_REQUEST_BYTES, "request");
_Static_assert(8 + 4 + 4 + 4 + 4 + 8 + 8 == BAG_ANSWER_BYTES, "answer");
_Static_assert(8 + 4 + 4 + 8 == BAG_LOG_BYTES, "log");

/* ---- records ---- */

void bag_record_put(struct cursor *c, const struct bag_record *r)
{
    cursor_put_u8(c, r->kind);
    cursor_put_u8(c, r->flag);
    cursor_put_u16(c, 0);
    cursor_put_i32(c, r->priority);
    cursor_put_u64(c, r->number);
    cursor_put_u32(c, r->term);
    cursor_put_u32(c, r->task);
    cursor_put_u32(c, r->handle);
    cursor_put_u64(c, r->size);
    if (r->size > 0)
        cursor_put_bytes(c, r->bytes, r->size);
}

void bag_record_get(struct cursor *c, struct bag_record *record)
{
    struct bag_record r = {.kind = cursor_get_u8(c)};
    r.flag = cursor_get_u8(c);
    uint16_t reserved = cursor_get_u16(c);
    r.priority = cursor_get_i32(c);
    r.number = cursor_get_u64(c);
    r.term = cursor_get_u32(c);
    r.task = cursor_get_u32(c);
    r.handle = cursor_get_u32(c);
    uint64_t size = cursor_get_u64(c);
    if (reserved != 0 || r.kind < BAG_PUT || r.kind > BAG_PARAMS || size > cursor_left(c))
        c->bad = true;
    r.size = (size_t)size;
    r.bytes = cursor_get_view(c, r.size);
    if (cursor_ok(c))
        *record = r;
}

/* ---- heads ---- */

static void flags_put(struct cursor *c, uint8_t flags)
{
    cursor_put_u8(c, flags);
    cursor_put_u8(c, 0);
    cursor_put_u16(c, 0);
}

static uint8_t flags_get(struct cursor *c, uint8_t known)
{
    uint8_t flags = cursor_get_u8(c);
    uint8_t first = cursor_get_u8(c);
    if (first != 0 || cursor_get_u16(c) != 0 || (flags & ~known) != 0)
        c->bad = true;
    return flags;
}

void bag_request_put(struct cursor *c, const struct bag_request *r)
{
    cursor_put_u64(c, r->bag);
    cursor_put_u32(c, r->handle);
    cursor_put_u32(c, r->term);
    cursor_put_u8(c, r->flags);
    cursor_put_u8(c, 0);
    cursor_put_u16(c, r->weight);
    cursor_put_u32(c, r->hold);
    cursor_put_u32(c, r->want);
    cursor_put_u64(c, r->number);
    cursor_put_u64(c, r->taken);
    cursor_put_u64(c, r->received);
    if (r->flags & BAG_LEFT)
        cursor_put_u32(c, r->left_ms);
}

void bag_request_get(struct cursor *c, struct bag_request *request)
{
    struct bag_request r = {.bag = cursor_get_u64(c)};
    r.handle = cursor_get_u32(c);
    r.term = cursor_get_u32(c);
    r.flags = cursor_get_u8(c);
    if (cursor_get_u8(c) != 0 || r.flags > (BAG_HELLO | BAG_LEFT))
        c->bad = true;
    r.weight = cursor_get_u16(c);
    r.hold = cursor_get_u32(c);
    r.want = cursor_get_u32(c);
    r.number = cursor_get_u64(c);
    r.taken = cursor_get_u64(c);
    r.received = cursor_get_u64(c);
    if (r.flags & BAG_LEFT)
        r.left_ms = cursor_get_u32(c);
    if (r.number == 0 || r.taken > r.received)
        c->bad = true;
    if (cursor_ok(c))
        *request = r;
}

void bag_answer_put(struct cursor *c, const struct bag_answer *a)
{
    cursor_put_u64(c, a->bag);
    cursor_put_u32(c, a->handle);
    cursor_put_u32(c, a->term);
    flags_put(c, a->flags);
    cursor_put_i32(c, a->error);
    cursor_put_u64(c, a->acked);
    cursor_put_u64(c, a->first);
}

void bag_answer_get(struct cursor *c, struct bag_answer *answer)
{
    struct bag_answer a = {.bag = cursor_get_u64(c)};
    a.handle = cursor_get_u32(c);
    a.term = cursor_get_u32(c);
    a.flags = flags_get(c, BAG_WELCOME | BAG_REFUSED | BAG_COMPLETE | BAG_DRAINED | BAG_SAVED);
    a.error = cursor_get_i32(c);
    a.acked = cursor_get_u64(c);
    a.first = cursor_get_u64(c);
    if (cursor_ok(c))
        *answer = a;
}

void bag_log_put(struct cursor *c, const struct bag_log *l)
{
    cursor_put_u64(c, l->bag);
    cursor_put_u32(c, l->epoch);
    flags_put(c, l->flags);
    cursor_put_u64(c, l->position);
}

void bag_log_get(struct cursor *c, struct bag_log *log)
{
    struct bag_log l = {.bag = cursor_get_u64(c)};
    l.epoch = cursor_get_u32(c);
    l.flags = flags_get(c, BAG_LOG_BEGIN | BAG_LOG_REFUSED | BAG_LOG_FULL);
    l.position = cursor_get_u64(c);
    if (cursor_ok(c))
        *log = l;
}

void bag_params_put(struct cursor *c, const struct bag_params *p)
{
    cursor_put_u64(c, p->lease_us);
    cursor_put_u32(c, p->deaths_max);
    cursor_put_u8(c, (uint8_t)((p->in_order ? 1 : 0) | (p->keep ? 2 : 0) | p->copies << 2 |
                               (p->single ? 16 : 0)));
    cursor_put_text(c, p->name);
}

void bag_params_get(struct cursor *c, struct bag_params *params)
{
    struct bag_params p = {.lease_us = cursor_get_u64(c)};
    p.deaths_max = cursor_get_u32(c);
    uint8_t flags = cursor_get_u8(c);
    p.in_order = (flags & 1) != 0;
    p.keep = (flags & 2) != 0;
    p.copies = flags >> 2 & 3;
    p.single = (flags & 16) != 0;
    cursor_get_text(c, p.name, sizeof p.name);
    if (flags > 31 || p.copies > BAG_BACKUPS_MAX || p.deaths_max == 0 || p.name[0] == '\0')
        c->bad = true;
    if (cursor_ok(c))
        *params = p;
}

/* ---- bytes that grow ---- */

void bag_parcel_fini(struct bag_parcel *p)
{
    free(p->bytes);
    *p = (struct bag_parcel){.bytes = NULL};
}

struct cursor bag_parcel_room(struct bag_parcel *p, size_t size)
{
    if (p->failed || !GROW(p->bytes, p->capacity, p->used + size, PARCEL_FIRST)) {
        p->failed = true;
        return (struct cursor){.bad = true};
    }
    p->used += size;
    return cursor_writer(p->bytes + p->used - size, size);
}

void bag_parcel_add(struct bag_parcel *p, const struct bag_record *record)
{
    struct cursor c = bag_parcel_room(p, BAG_RECORD_BYTES + record->size);
    bag_record_put(&c, record);
}
