/*
 * reply.h - the answer to a request: contents of any length, sent as one or more REPLY frames.
 */
#ifndef COVEY_DAEMON_REPLY_H
#define COVEY_DAEMON_REPLY_H

#include "daemon/base/daemon.h"

struct reply {
    struct daemon *daemon;
    uint32_t to; /* who asked */
    uint32_t request;
    uint8_t flags; /* FRAME_ETHER: it goes with the frames of the agreement, see node.h */
    uint8_t *bytes;
    size_t used, capacity;
    bool failed; /* memory is exhausted: the answer will say so */
};

void reply_begin(struct reply *r, struct daemon *d, uint32_t to, uint32_t request);

/* A cursor over room for at least `size` more bytes; reply_add() counts what was written by it. */
struct cursor reply_room(struct reply *r, size_t size);
void reply_add(struct reply *r, const struct cursor *c);

/* Sends the contents with a status >= 0 and frees them. */
void reply_send(struct reply *r, int32_t status);
/* The same of contents that are not the last: another reply to the request follows. */
void reply_send_part(struct reply *r);

/* An answer without contents, and one that only says why not (status < 0). */
void reply_done(struct daemon *d, uint32_t to, uint32_t request);
__attribute__((format(printf, 5, 6))) void reply_error(struct daemon *d, uint32_t to,
                                                       uint32_t request, int32_t status,
                                                       const char *format, ...);

#endif
