/*
 * reply.c - answers. Their contents grow in memory and leave in frames of a size that no queue has
 * to fear; the last one says so. When memory is exhausted the answer says that instead.
 */
#include "daemon/post/reply.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/post/post.h"
#include "lib/covey.h"
#include "proto/wire/format.h"
#include "proto/wire/grow.h"

#define REPLY_HEAD_BYTES 8
#define REPLY_PART_BYTES 60000
#define REPLY_FIRST_BYTES 4096

void reply_begin(struct reply *r, struct daemon *d, uint32_t to, uint32_t request)
{
    *r = (struct reply){.daemon = d, .to = to, .request = request};
}

struct cursor reply_room(struct reply *r, size_t size)
{
    if (!GROW(r->bytes, r->capacity, r->used + size, REPLY_FIRST_BYTES)) {
        r->failed = true;
        return cursor_writer(NULL, 0);
    }
    return cursor_writer(r->bytes + r->used, size);
}

void reply_add(struct reply *r, const struct cursor *c)
{
    if (cursor_ok(c) && !r->failed)
        r->used = (size_t)(c->at - r->bytes);
    else
        r->failed = true;
}

static void part_send(const struct reply *r, int32_t status, size_t at, size_t size, bool last)
{
    uint8_t payload[REPLY_HEAD_BYTES + REPLY_PART_BYTES];
    struct cursor c = cursor_writer(payload, sizeof payload);
    assert(size <= REPLY_PART_BYTES);
    control_put_reply(&c, &(struct control_reply){.request = r->request, .status = status});
    if (size > 0)
        cursor_put_bytes(&c, r->bytes + at, size);
    struct frame frame = {
        .length = (uint32_t)(REPLY_HEAD_BYTES + size),
        .kind = FRAME_REPLY,
        .flags = (uint8_t)(r->flags | (last ? FRAME_LAST : 0)),
        .source = daemon_tid(r->daemon),
        .destination = r->to,
    };
    post_send(r->daemon, &frame, payload);
}

static void parts_send(struct reply *r, int32_t status, bool last)
{
    size_t at = 0;
    if (r->failed) {
        free(r->bytes);
        reply_error(r->daemon, r->to, r->request, COVEY_ENOMEM, "the daemon's memory is exhausted");
        return;
    }
    do {
        size_t left = r->used - at, size = left < REPLY_PART_BYTES ? left : REPLY_PART_BYTES;
        part_send(r, status, at, size, last && at + size == r->used);
        at += size;
    } while (at < r->used);
    free(r->bytes);
}

void reply_send(struct reply *r, int32_t status)
{
    parts_send(r, status, true);
}

void reply_send_part(struct reply *r)
{
    parts_send(r, 0, false);
}

void reply_done(struct daemon *d, uint32_t to, uint32_t request)
{
    struct reply r;
    reply_begin(&r, d, to, request);
    reply_send(&r, 0);
}

void reply_error(struct daemon *d, uint32_t to, uint32_t request, int32_t status,
                 const char *format, ...)
{
    char text[CONTROL_REASON_MAX + 1];
    uint8_t bytes[CONTROL_REASON_MAX + 3];
    FORMAT(text, sizeof text, format);
    struct reply r;
    reply_begin(&r, d, to, request);
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_text(&c, text);
    r.bytes = bytes;
    r.used = strlen(text) + 2;
    part_send(&r, status, 0, r.used, true);
}
