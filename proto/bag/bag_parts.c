/*
 * bag_parts.c - wholes as parts, and back; see bag_parts.h.
 */
#include "proto/bag/bag_parts.h"

#include <assert.h>
#include <stdlib.h>

struct bag_incoming {
    struct bag_incoming *next;
    uint32_t source;
    struct bag_parcel parcel;
};

size_t bag_part_put(uint8_t *bytes, const uint8_t *whole, size_t size, size_t *at)
{
    size_t length = size - *at < BAG_PART_BYTES ? size - *at : BAG_PART_BYTES;
    struct cursor c = cursor_writer(bytes, BAG_PART_HEAD_BYTES + BAG_PART_BYTES);
    uint8_t place = *at == 0 ? BAG_PART_FIRST : 0;
    if (*at + length == size)
        place |= BAG_PART_LAST;
    cursor_put_u8(&c, place);
    cursor_put_u8(&c, 0);
    cursor_put_u16(&c, 0);
    cursor_put_bytes(&c, whole + *at, length);
    *at += length;
    return BAG_PART_HEAD_BYTES + length;
}

/* ---- what goes out ---- */

struct shared { /* by those to whom it goes */
    uint8_t *bytes;
    size_t size, users;
};

struct bag_outgoing_whole {
    struct bag_outgoing_whole *next;
    uint32_t to;
    uint8_t kind;
    size_t at;
    struct shared *shared;
};

static void shared_release(struct shared *shared)
{
    assert(shared->users > 0);
    if (--shared->users > 0)
        return;
    free(shared->bytes);
    free(shared);
}

static void append(struct bag_outgoing *all, struct bag_outgoing_whole *o)
{
    if (all->last != NULL)
        all->last->next = o;
    else
        all->first = o;
    all->last = o;
    all->bytes += o->shared->size;
}

bool bag_outgoing_add(struct bag_outgoing *all, uint8_t kind, const uint32_t *to, size_t count,
                      struct bag_parcel *whole)
{
    struct bag_outgoing_whole *made = NULL, *next;
    struct shared *shared = malloc(sizeof *shared);
    for (size_t i = count; i > 0 && shared != NULL; i--) {
        struct bag_outgoing_whole *o = malloc(sizeof *o);
        if (o == NULL) {
            free(shared);
            shared = NULL;
            break;
        }
        *o = (struct bag_outgoing_whole){
            .next = made, .to = to[i - 1], .kind = kind, .shared = shared};
        made = o;
    }
    if (shared != NULL) {
        *shared = (struct shared){.bytes = whole->bytes, .size = whole->used, .users = count};
        *whole = (struct bag_parcel){.bytes = NULL};
    }
    for (; made != NULL; made = next) {
        next = made->next;
        made->next = NULL;
        if (shared != NULL)
            append(all, made);
        else
            free(made);
    }
    return shared != NULL;
}

size_t bag_outgoing_to(const struct bag_outgoing *all, uint32_t to)
{
    size_t bytes = 0;
    for (const struct bag_outgoing_whole *o = all->first; o != NULL; o = o->next)
        bytes += o->to == to ? o->shared->size - o->at : 0;
    return bytes;
}

static bool has_earlier(const struct bag_outgoing *all, const struct bag_outgoing_whole *than)
{
    const struct bag_outgoing_whole *o = all->first;
    while (o != than && o->to != than->to)
        o = o->next;
    return o != than;
}

static void unlink_after(struct bag_outgoing *all, struct bag_outgoing_whole *before)
{
    struct bag_outgoing_whole **at = before == NULL ? &all->first : &before->next;
    struct bag_outgoing_whole *o = *at;
    *at = o->next;
    if (all->last == o)
        all->last = before;
    assert(all->bytes >= o->shared->size - o->at);
    all->bytes -= o->shared->size - o->at;
    shared_release(o->shared);
    free(o);
}

bool bag_outgoing_send(struct bag_outgoing *all, bag_part_fn *send, void *context)
{
    uint8_t part[BAG_PART_HEAD_BYTES + BAG_PART_BYTES];
    struct bag_outgoing_whole *before = NULL, *o = all->first;
    bool any = false;
    while (o != NULL) {
        bool room = !has_earlier(all, o);
        while (room && o->at < o->shared->size) {
            size_t at = o->at;
            size_t size = bag_part_put(part, o->shared->bytes, o->shared->size, &at);
            room = send(context, o->kind, o->to, part, size);
            if (room) {
                all->bytes -= at - o->at;
                o->at = at;
                any = true;
            }
        }
        if (o->at < o->shared->size)
            before = o;
        else
            unlink_after(all, before);
        o = before == NULL ? all->first : before->next;
    }
    return any;
}

void bag_outgoing_fini(struct bag_outgoing *all)
{
    while (all->first != NULL)
        unlink_after(all, NULL);
}

/* ---- what comes in ---- */

static uint8_t place_get(struct cursor *part)
{
    uint8_t place = cursor_get_u8(part);
    uint8_t first = cursor_get_u8(part);
    if (first != 0 || cursor_get_u16(part) != 0 || place > (BAG_PART_FIRST | BAG_PART_LAST))
        part->bad = true;
    return place;
}

static const char *parcel_add(struct bag_parcel *p, uint8_t place, struct cursor *part)
{
    size_t size = cursor_left(part);
    if (place & BAG_PART_FIRST) {
        p->used = 0;
        p->failed = false;
    } else if (p->used == 0) {
        return "its first part is missing";
    }
    struct cursor c = bag_parcel_room(p, size);
    cursor_put_bytes(&c, part->at, size);
    if (cursor_ok(&c))
        return NULL;
    bag_parcel_fini(p);
    return "memory is exhausted";
}

static struct bag_incoming *incoming_get(struct bag_incoming **all, uint32_t source)
{
    struct bag_incoming *in = *all;
    while (in != NULL && in->source != source)
        in = in->next;
    if (in != NULL)
        return in;
    in = calloc(1, sizeof *in);
    if (in == NULL)
        return NULL;
    in->source = source;
    in->next = *all;
    *all = in;
    return in;
}

const struct bag_parcel *bag_incoming_take(struct bag_incoming **all, uint32_t source,
                                           struct cursor *part, const char **refused)
{
    uint8_t place = place_get(part);
    *refused = cursor_left(part) > 0 ? NULL : "bad payload"; /* no part is empty */
    if (*refused != NULL)
        return NULL;
    struct bag_incoming *in = incoming_get(all, source);
    *refused = in == NULL ? "memory is exhausted" : parcel_add(&in->parcel, place, part);
    return *refused == NULL && place & BAG_PART_LAST ? &in->parcel : NULL;
}

static const struct bag_incoming *incoming_find(const struct bag_incoming *in, uint32_t source)
{
    while (in != NULL && in->source != source)
        in = in->next;
    return in;
}

size_t bag_incoming_bytes(const struct bag_incoming *all, uint32_t source)
{
    const struct bag_incoming *in = incoming_find(all, source);
    return in == NULL ? 0 : in->parcel.capacity;
}

size_t bag_incoming_all(const struct bag_incoming *all)
{
    size_t bytes = 0;
    for (; all != NULL; all = all->next)
        bytes += all->parcel.capacity;
    return bytes;
}

struct cursor bag_incoming_head(const struct bag_incoming *all, uint32_t source)
{
    static const uint8_t none[1];
    const struct bag_incoming *in = incoming_find(all, source);
    return in == NULL || in->parcel.used == 0 ? cursor_reader(none, 0)
                                              : cursor_reader(in->parcel.bytes, in->parcel.used);
}

void bag_incoming_drop(struct bag_incoming **all, bool (*is)(uint32_t source, uint32_t value),
                       uint32_t value)
{
    while (*all != NULL) {
        struct bag_incoming *in = *all;
        if (!is(in->source, value)) {
            all = &in->next;
            continue;
        }
        *all = in->next;
        bag_parcel_fini(&in->parcel);
        free(in);
    }
}

static bool any(uint32_t source, uint32_t value)
{
    (void)source, (void)value;
    return true;
}

void bag_incoming_fini(struct bag_incoming **all)
{
    bag_incoming_drop(all, any, 0);
}
