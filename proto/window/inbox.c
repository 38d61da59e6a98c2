/*
 * inbox.c - frames out of a byte stream. A frame that lies whole in the window's memory is given in
 * place and consumed by the next call; otherwise its parts are collected here.
 */
#include "proto/window/inbox.h"

#include <stdlib.h>
#include <string.h>

#define INBOX_BYTES (FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX)

/* Collects up to `want` bytes of the frame in in->bytes. False: no memory. */
static bool collect(struct inbox *in, struct window *w, size_t want)
{
    const uint8_t *bytes;
    size_t size;

    if (!in->bytes && !(in->bytes = malloc(INBOX_BYTES)))
        return false;
    while (in->size < want && (size = window_readable(w, &bytes)) > 0) {
        if (size > want - in->size)
            size = want - in->size;
        memcpy(in->bytes + in->size, bytes, size);
        in->size += size;
        window_consume(w, size);
    }
    return true;
}

/* The frame that begins at bytes, if `size` bytes hold its header: 1, 0 not yet, -1 refused. */
static int peek(const uint8_t *bytes, size_t size, struct frame *frame, const char **reason)
{
    if (size < FRAME_HEADER_BYTES)
        return 0;
    *reason = frame_decode(bytes, frame);
    return *reason ? -1 : 1;
}

static int next_collected(struct inbox *in, struct window *w, struct frame *frame,
                          const uint8_t **payload, const char **reason)
{
    int found;

    *reason = "out of memory";
    if (!collect(in, w, FRAME_HEADER_BYTES))
        return -1;
    found = peek(in->bytes, in->size, frame, reason);
    if (found <= 0)
        return found;
    collect(in, w, FRAME_HEADER_BYTES + frame->length);
    in->missing = FRAME_HEADER_BYTES + frame->length - in->size;
    if (in->missing > 0)
        return 0;
    in->size = 0;
    *payload = in->bytes + FRAME_HEADER_BYTES;
    return 1;
}

/* A frame that lies whole and contiguous in the window: 1, 0 if it does not, -1 refused. */
static int next_in_place(struct inbox *in, struct window *w, struct frame *frame,
                         const uint8_t **payload, const char **reason)
{
    const uint8_t *bytes;
    size_t size = window_readable(w, &bytes);
    int found = peek(bytes, size, frame, reason);

    if (found <= 0)
        return found;
    if (size < FRAME_HEADER_BYTES + frame->length)
        return 0;
    in->given = FRAME_HEADER_BYTES + frame->length;
    *payload = bytes + FRAME_HEADER_BYTES;
    return 1;
}

int inbox_next(struct inbox *in, struct window *w, struct frame *frame, const uint8_t **payload,
               const char **reason)
{
    in->missing = 0;
    if (in->given > 0) {
        window_consume(w, in->given);
        in->given = 0;
    }
    if (in->size == 0) {
        int found = next_in_place(in, w, frame, payload, reason);

        if (found != 0)
            return found;
    }
    return next_collected(in, w, frame, payload, reason);
}

void inbox_put_back(struct inbox *in, const struct frame *frame)
{
    if (in->given > 0)
        in->given = 0;
    else
        in->size = FRAME_HEADER_BYTES + frame->length;
}

void inbox_clear(struct inbox *in)
{
    free(in->bytes);
    *in = (struct inbox){0};
}
