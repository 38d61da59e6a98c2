/*
 * outbox.h - bytes that wait to enter a window: a list of chunks without a limit of its own. What
 * may be queued for a host is bounded by the credit between tasks, above.
 */
#ifndef COVEY_PROTO_OUTBOX_H
#define COVEY_PROTO_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/window/window.h"

struct outbox {
    struct outbox_chunk *head, *tail;
    size_t bytes;
};

/* Appends a header and a body, both or none; false when memory is exhausted. */
bool outbox_append(struct outbox *o, const void *header, size_t header_bytes, const void *body,
                   size_t body_bytes);
/* Moves what the window takes. */
void outbox_pump(struct outbox *o, struct window *w);
void outbox_clear(struct outbox *o);

#endif
