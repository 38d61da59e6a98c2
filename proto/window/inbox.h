/*
 * inbox.h - gives whole frames out of a window's byte stream.
 */
#ifndef COVEY_PROTO_INBOX_H
#define COVEY_PROTO_INBOX_H

#include "proto/window/window.h"
#include "proto/wire/frame.h"

struct inbox {
    size_t given;   /* bytes of the window that the frame given last occupies */
    size_t missing; /* bytes of the frame under way that have not come; 0: none is */
};

/* Takes the next whole frame, if there is one: returns 1 and sets *frame and *payload, which stay
 * valid until the next call or packet; 0: none yet; -1: refused, *reason says why. The stream
 * cannot be read on after a refusal. */
int inbox_next(struct inbox *in, struct window *w, struct frame *frame, const uint8_t **payload,
               const char **reason);
/* Gives the frame that was taken last back; the next call takes it again. */
void inbox_put_back(struct inbox *in);

#endif
