/*
 * origin.h - what the state knows of one daemon: its session, how far its commands were applied,
 * and the events for it that it has not taken yet.
 */
#ifndef COVEY_PROTO_ORIGIN_H
#define COVEY_PROTO_ORIGIN_H

#include "proto/state/state.h"

struct kept_event {
    struct kept_event *next;
    struct event event; /* its body lies behind this struct */
};

struct origin {
    uint32_t host;
    uint64_t session;  /* 0: none is open */
    uint64_t ended;    /* this session and those before it are no more */
    uint64_t applied;  /* the last command of the session */
    uint64_t sequence; /* the last event for it */
    struct kept_event *first, *last;
    size_t *kept_bytes; /* of all origins, counted there */
};

void origin_open(struct origin *o, uint64_t session);
void origin_end(struct origin *o, uint64_t session); /* that one and those before it */

/* Where a command stands: APPLIED: it is its turn. */
enum state_verdict origin_turn(const struct origin *o, const struct command *command);

/* Numbers an event and keeps it; NULL: no memory, and nothing changed. */
const struct event *origin_tell(struct origin *o, const struct event *event);
void origin_taken(struct origin *o, uint64_t sequence); /* forgets those up to it */

/*   origin = host=u32 session ended applied sequence=u64 count=u32 *(size=u32 event)
 * A load refuses what could not have been saved. */
void origin_save(const struct origin *o, struct cursor *c);
bool origin_load(struct origin *o, struct cursor *c);

#endif
