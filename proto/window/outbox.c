/*
 * outbox.c - the queue before a window, in chunks of at least CHUNK_BYTES so that many small frames
 * cost one allocation.
 */
#include "proto/window/outbox.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 65536

struct outbox_chunk {
    struct outbox_chunk *next;
    size_t capacity, start, end; /* bytes[start..end) wait */
    uint8_t bytes[];
};

/* The tail chunk if `size` more bytes fit, or a new tail; NULL: no memory. */
static struct outbox_chunk *room_for(struct outbox *o, size_t size)
{
    size_t capacity = size > CHUNK_BYTES ? size : CHUNK_BYTES;
    struct outbox_chunk *chunk;

    if (o->tail && o->tail->capacity - o->tail->end >= size)
        return o->tail;
    chunk = malloc(sizeof *chunk + capacity);
    if (!chunk)
        return NULL;
    chunk->next = NULL;
    chunk->capacity = capacity;
    chunk->start = chunk->end = 0;
    if (o->tail)
        o->tail->next = chunk;
    else
        o->head = chunk;
    o->tail = chunk;
    return chunk;
}

bool outbox_append(struct outbox *o, const void *header, size_t header_bytes, const void *body,
                   size_t body_bytes)
{
    struct outbox_chunk *chunk = room_for(o, header_bytes + body_bytes);

    if (!chunk)
        return false;
    memcpy(chunk->bytes + chunk->end, header, header_bytes);
    if (body_bytes > 0)
        memcpy(chunk->bytes + chunk->end + header_bytes, body, body_bytes);
    chunk->end += header_bytes + body_bytes;
    o->bytes += header_bytes + body_bytes;
    return true;
}

static void drop_head(struct outbox *o)
{
    struct outbox_chunk *chunk = o->head;

    o->head = chunk->next;
    if (!o->head)
        o->tail = NULL;
    free(chunk);
}

void outbox_pump(struct outbox *o, struct window *w)
{
    while (o->head) {
        struct outbox_chunk *chunk = o->head;
        size_t waiting = chunk->end - chunk->start;
        size_t taken = window_write(w, chunk->bytes + chunk->start, waiting);

        chunk->start += taken;
        o->bytes -= taken;
        if (taken < waiting)
            return;
        drop_head(o);
    }
}

void outbox_clear(struct outbox *o)
{
    while (o->head)
        drop_head(o);
    o->bytes = 0;
}
