/*
 * body.c - the bytes of a message.
 */
#include "lib/pvm3/message/body.h"
#include "lib/pvm3/core/grow.h"

#include <pvm3.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT_BYTES 512 /* that memory of its own begins with */

void body_fini(struct body *body)
{
    for (int i = 0; i < body->count; i++) {
        if (body->segments[i].capacity > 0)
            free(body->segments[i].bytes);
    }
    free(body->segments);
    memset(body, 0, sizeof *body);
}

static struct body_segment *segment_add(struct body *body)
{
    if (!GROW(body->segments, body->capacity, body->count + 1, 2))
        return NULL;
    struct body_segment *added = &body->segments[body->count++];
    *added = (struct body_segment){0};
    return added;
}

static int segment_grow(struct body_segment *s, size_t size)
{
    size_t capacity = s->capacity == 0 ? SEGMENT_BYTES : 2 * s->capacity;
    if (capacity < s->size + size)
        capacity = s->size + size;
    uint8_t *grown = realloc(s->bytes, capacity);
    if (grown == NULL)
        return PvmNoMem;
    s->bytes = grown;
    s->capacity = capacity;
    return PvmOk;
}

uint8_t *body_extend(struct body *body, size_t size)
{
    struct body_segment *last = body->count > 0 ? &body->segments[body->count - 1] : NULL;
    if (last == NULL || last->capacity == 0)
        last = segment_add(body);
    if (last == NULL)
        return NULL;
    if (last->size + size > last->capacity || last->capacity == 0)
        if (segment_grow(last, size) != PvmOk)
            return NULL;
    uint8_t *room = last->bytes + last->size;
    last->size += size;
    body->size += size;
    return room;
}

int body_refer(struct body *body, const void *bytes, size_t size)
{
    struct body_segment *s = segment_add(body);
    if (s == NULL)
        return PvmNoMem;
    *s = (struct body_segment){.bytes = (uint8_t *)(uintptr_t)bytes, .size = size};
    body->size += size;
    return PvmOk;
}

size_t body_left(const struct body *body)
{
    size_t left = 0;
    for (int i = body->at; i < body->count; i++)
        left += body->segments[i].size;
    return left - body->offset;
}

static void skip_ended(struct body *body)
{
    while (body->at < body->count && body->offset == body->segments[body->at].size) {
        body->at++;
        body->offset = 0;
    }
}

/* The next bytes where they lie, if they lie in one segment; NULL otherwise. */
static const uint8_t *body_view(struct body *body, size_t size)
{
    skip_ended(body);
    if (body->at == body->count || body->segments[body->at].size - body->offset < size)
        return NULL;
    const uint8_t *view = body->segments[body->at].bytes + body->offset;
    body->offset += size;
    return view;
}

int body_read(struct body *body, void *bytes, size_t size)
{
    uint8_t *to = bytes;
    const uint8_t *view = size == 0 ? NULL : body_view(body, size);
    if (view != NULL)
        memcpy(to, view, size);
    if (view != NULL || size == 0)
        return PvmOk;
    if (body_left(body) < size)
        return PvmNoData;
    while (size > 0) {
        skip_ended(body);
        size_t part = body->segments[body->at].size - body->offset;
        part = part < size ? part : size;
        memcpy(to, body->segments[body->at].bytes + body->offset, part);
        body->offset += part;
        to += part;
        size -= part;
    }
    return PvmOk;
}

void body_rewind(struct body *body)
{
    body->at = 0;
    body->offset = 0;
}

int body_append(struct body *body, const struct body *from)
{
    uint8_t *to = body_extend(body, from->size);
    if (to == NULL)
        return PvmNoMem;
    for (int i = 0; i < from->count; i++) {
        memcpy(to, from->segments[i].bytes, from->segments[i].size);
        to += from->segments[i].size;
    }
    return PvmOk;
}
