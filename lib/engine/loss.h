/*
 * loss.h - messages that a link took with it.
 */
#ifndef COVEY_LIB_ENGINE_LOSS_H
#define COVEY_LIB_ENGINE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct covey;
struct frame;
struct peer;

/* The last messages on a link that closed, first .. next-1; see loss.c. */
struct loss {
    uint64_t first, next;
    uint64_t sent_bytes; /* to that task by then, over all ways */
    uint64_t syncs;      /* likewise, hand-overs */
    uint64_t at_us;      /* when it is told, or judged; 0: there is none */
    uint64_t seen_bytes;
};

void loss_note(struct conn *conn, uint64_t sequence); /* a message begins on it */
void loss_on_close(struct covey *vm, const struct conn *conn, bool broken);
void loss_on_frame(struct covey *vm, const struct frame *frame,
                   const uint8_t *payload); /* LINK_LOST */
void loss_check(struct covey *vm, struct peer *peer, uint64_t now_us);

#endif
