/*
 * outbox.h - the bytes that a window sends, from when they are queued until they are acknowledged:
 * a list of chunks without a limit of its own. What may be queued for a host is bounded by the
 * credit between tasks, above.
 */
#ifndef COVEY_PROTO_OUTBOX_H
#define COVEY_PROTO_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/window/window.h"

struct outbox {
    struct outbox_chunk *head, *tail;
    struct outbox_chunk *waiting; /* the first with bytes that the window has not got; NULL: none */
    size_t bytes;                 /* that the window has not got */
    uint64_t lent;                /* bytes that it ever got, all of them from here */
};

/* Appends a header and a body, both or none; false when memory is exhausted. */
bool outbox_append(struct outbox *o, const void *header, size_t header_bytes, const void *body,
                   size_t body_bytes);
/* Appends bytes in memory from malloc(), which the outbox then owns; false: it does not. */
bool outbox_give(struct outbox *o, uint8_t *bytes, size_t size);
/* Lends the window what it takes, and frees what has been acknowledged: only here. The window is
 * one whose `lent_stay` is set. */
void outbox_pump(struct outbox *o, struct window *w);
/* What the window has not got is not sent any more. */
void outbox_withdraw(struct outbox *o);
/* Frees all, after the window. */
void outbox_free(struct outbox *o);

#endif
