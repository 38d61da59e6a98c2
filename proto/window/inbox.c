/*
 * inbox.c - frames out of a byte stream, read where they lie in the window's memory: a frame is
 * looked at when it is there as a whole, and consumed by the call after the one that gave it.
 * Nothing is copied. The window can hold the largest frame in one piece, see window_view().
 */
#include "proto/window/inbox.h"

#include <assert.h>

_Static_assert(FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX <= WINDOW_VIEW_BYTES,
               "a frame can be seen as a whole");

int inbox_next(struct inbox *in, struct window *w, struct frame *frame, const uint8_t **payload,
               const char **reason)
{
    const uint8_t *bytes;

    assert(in->given <= window_unread(w));
    window_consume(w, in->given);
    in->given = in->missing = 0;
    if (!window_view(w, FRAME_HEADER_BYTES, &bytes))
        return 0;
    *reason = frame_decode(bytes, frame);
    if (*reason != NULL)
        return -1;
    if (!window_view(w, FRAME_HEADER_BYTES + frame->length, &bytes)) {
        in->missing = FRAME_HEADER_BYTES + frame->length - window_unread(w);
        return 0;
    }
    in->given = FRAME_HEADER_BYTES + frame->length;
    *payload = bytes + FRAME_HEADER_BYTES;
    return 1;
}

void inbox_put_back(struct inbox *in)
{
    in->given = 0;
}
