/*
 * outbox.c - what is sent, in chunks, from when it is queued until the other end has acknowledged
 * it. The window reads it here, and so a byte is copied into the outbox and from there into its
 * datagram, no more; what comes in memory of its own becomes a chunk as it is. Small frames share a
 * chunk, so that many cost one allocation; a chunk is freed when all of it is acknowledged.
 */
#include "proto/window/outbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 65536
#define CHUNK_FIRST_BYTES 4096 /* while nothing else waits, little follows as a rule */

struct outbox_chunk {
    struct outbox_chunk *next;
    uint64_t acknowledged_at;   /* when so many bytes are, the window needs no more of it */
    size_t capacity, lent, end; /* bytes[0..lent) are the window's, bytes[lent..end) wait */
    uint8_t *bytes;             /* behind this struct, or memory that was given */
};

static bool is_given(const struct outbox_chunk *chunk)
{
    return chunk->bytes != (const uint8_t *)(chunk + 1);
}

static struct outbox_chunk *chunk_add(struct outbox *o, size_t capacity, uint8_t *given)
{
    struct outbox_chunk *chunk = malloc(sizeof *chunk + (given != NULL ? 0 : capacity));

    if (chunk == NULL)
        return NULL;
    *chunk = (struct outbox_chunk){.capacity = capacity,
                                   .bytes = given != NULL ? given : (uint8_t *)(chunk + 1)};
    if (o->tail != NULL)
        o->tail->next = chunk;
    else
        o->head = chunk;
    o->tail = chunk;
    return chunk;
}

static void chunk_fill(struct outbox *o, struct outbox_chunk *chunk, size_t size)
{
    assert(size <= chunk->capacity - chunk->end);
    chunk->end += size;
    o->bytes += size;
    if (o->waiting == NULL)
        o->waiting = chunk;
}

bool outbox_append(struct outbox *o, const void *header, size_t header_bytes, const void *body,
                   size_t body_bytes)
{
    size_t size = header_bytes + body_bytes;
    struct outbox_chunk *chunk = o->tail;

    if (chunk == NULL || chunk->capacity - chunk->end < size) {
        size_t capacity = chunk != NULL && !is_given(chunk) ? CHUNK_BYTES : CHUNK_FIRST_BYTES;

        chunk = chunk_add(o, size > capacity ? size : capacity, NULL);
    }
    if (chunk == NULL)
        return false;
    memcpy(chunk->bytes + chunk->end, header, header_bytes);
    if (body_bytes > 0)
        memcpy(chunk->bytes + chunk->end + header_bytes, body, body_bytes);
    chunk_fill(o, chunk, size);
    return true;
}

bool outbox_give(struct outbox *o, uint8_t *bytes, size_t size)
{
    struct outbox_chunk *chunk = chunk_add(o, size, bytes);

    if (chunk != NULL)
        chunk_fill(o, chunk, size);
    return chunk != NULL;
}

static void drop_head(struct outbox *o)
{
    struct outbox_chunk *chunk = o->head;

    o->head = chunk->next;
    if (o->head == NULL)
        o->tail = NULL;
    if (is_given(chunk))
        free(chunk->bytes);
    free(chunk);
}

void outbox_pump(struct outbox *o, struct window *w)
{
    uint64_t acknowledged = o->lent - window_unacknowledged(w);

    assert(window_unacknowledged(w) <= o->lent);
    while (o->head != NULL && o->head != o->waiting && o->head->acknowledged_at <= acknowledged)
        drop_head(o);
    for (struct outbox_chunk *chunk; (chunk = o->waiting) != NULL; o->waiting = chunk->next) {
        size_t size = chunk->end - chunk->lent;
        size_t taken = window_lend(w, chunk->bytes + chunk->lent, size);

        chunk->lent += taken;
        chunk->acknowledged_at = o->lent += taken;
        assert(o->bytes >= taken);
        o->bytes -= taken;
        if (taken < size)
            return;
    }
    assert(o->bytes == 0);
}

void outbox_withdraw(struct outbox *o)
{
    for (struct outbox_chunk *chunk = o->waiting; chunk != NULL; chunk = chunk->next)
        chunk->end = chunk->lent;
    o->bytes = 0;
}

void outbox_free(struct outbox *o)
{
    while (o->head != NULL)
        drop_head(o);
    *o = (struct outbox){0};
}
