/*
 * arrival.h - a message that arrives, or waits to be received.
 */
#ifndef COVEY_LIB_ENGINE_ARRIVAL_H
#define COVEY_LIB_ENGINE_ARRIVAL_H

#include "lib/msg/message.h"
#include "proto/wire/control.h"
#include "proto/wire/frame.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct covey;
struct covey_req;
struct peer;
struct turn;

struct arrival;

/* The bit of contexts in which members of a team send to each other by rank: they are received by
 * calls, as those of context 0 are. */
#define CONTEXT_TALK 0x80000000u

static inline bool context_is_talk(uint32_t context)
{
    return (context & CONTEXT_TALK) != 0;
}

/* Who has the contexts other than 0, which is the program's. */
struct context_owner {
    bool (*is_dead)(const struct covey *vm, uint32_t context); /* its messages are for nobody */
    /* A message is complete that matched no receive. */
    void (*on_arrival)(struct covey *vm, const struct arrival *arrival);
    int (*rank)(const struct covey *vm, uint32_t context); /* of this task among its members */
};

/* A frame that came before its turn, kept until the messages before it have begun. */
struct held {
    struct held *next;
    struct frame frame;
    uint8_t payload[];
};

/* What the sender of an inlet's message offers to be read; see offer.c. */
struct offered {
    bool here;  /* there is such a message */
    bool taken; /* and it is being read */
    uint64_t copied;
    struct control_offer what;
};

/* Where data frames of one peer come in, in order: a link, or the daemon's stream. */
struct inlet {
    struct arrival *current; /* the message under way on it */
    bool waiting;            /* the first held frame begins a message whose turn has not come */
    uint64_t sequence;       /* of that message */
    struct held *first, *last;
    bool cast; /* what comes here was cast: a gap before it does not end it */
    struct offered offered;
};

struct arrival {
    struct arrival *next, *prev; /* in the list of unexpected messages, in the order they began */
    bool listed;
    uint64_t number;   /* counts arrivals: the order of the list */
    uint64_t sequence; /* among its sender's messages */
    struct peer *peer; /* NULL: made here (notices, output) */
    struct covey_info info;
    uint32_t context;
    uint8_t representation;
    uint64_t received;
    uint8_t preface[ITEM_HEADER_BYTES];
    struct covey_msg *msg;           /* NULL: goes straight into the array of `bound` */
    struct covey_req *bound;         /* the receive that takes it */
    uint64_t buffered;               /* bytes counted as unexpected */
    struct turn *turn;               /* a bulk message that waits for its turn, or has it */
    struct arrival *earlier, *later; /* of its peer's open ones */
    bool counted;                    /* in ready_fd */
    bool complete;                   /* whole, and so are those that its peer sent before */
    bool lost;                       /* nobody gets it: what still comes of it is only read */
    bool cast;
    bool offered; /* its sender holds it: it has no memory here yet */
};

/* Where a message comes in that was cast. */
struct cast_inlet {
    struct cast_inlet *next;
    uint64_t sequence;
    struct inlet inlet;
};

/* A data frame of which `have` bytes of payload are here: begins or continues a message. */
void arrival_on_frame(struct covey *vm, struct peer *peer, struct inlet *inlet,
                      const struct frame *frame, const uint8_t *payload);
/* The same in pieces, for links: first the preface (message header and up to ITEM_HEADER_BYTES of
 * the message), then where the body goes. */
size_t arrival_preface_bytes(const struct frame *frame);
const char *arrival_begin(struct covey *vm, struct peer *peer, struct inlet *inlet,
                          const uint8_t *preface, size_t size);
/* Its message is one of a schedule, or a collective's and not short: others go the other way, and
 * acknowledgements would be in theirs. */
bool arrival_is_exchanged(const struct inlet *inlet);
/* For how long nobody minds that no more of its message is read. */
uint64_t arrival_rest_us(const struct inlet *inlet);
bool arrival_in_turn(const struct peer *peer, const uint8_t *preface, size_t size);
/* Memory for the next bytes of the inlet's message; *size is what fits there. */
uint8_t *arrival_target(struct inlet *inlet, size_t *size);
/* NULL: nobody wants those *size bytes. */
uint8_t *arrival_room(struct inlet *inlet, size_t *size);
void arrival_received(struct covey *vm, struct peer *peer, struct inlet *inlet, size_t size);
/* A message begins that is offered: all of the frame's payload. */
const char *arrival_offer(struct covey *vm, struct peer *peer, struct inlet *inlet,
                          const uint8_t *payload, size_t size);
/* It comes now, by whatever way: there is memory for it. */
void arrival_accept(struct inlet *inlet);
/* Bytes of it come by frames: it was taken back, if it was offered. */
void arrival_resume(struct inlet *inlet);
/* So much of it was read; credit does not count that. */
void arrival_read(struct covey *vm, struct inlet *inlet, size_t size);
void arrival_hold(struct inlet *inlet, struct held *held);
void arrival_release(struct covey *vm, struct peer *peer); /* what was held and is in turn now */
bool arrival_must_hold(struct peer *peer, struct inlet *inlet, const struct frame *frame,
                       const uint8_t *payload);
void arrival_drop(struct covey *vm, struct inlet *inlet); /* the rest will not come */
/* The peer is gone: its casts that came whole are given out, also those that wait behind ordinary
 * messages that never came. */
void arrival_settle_casts(struct covey *vm, struct peer *peer);
void arrival_drop_casts(struct covey *vm, struct peer *peer); /* as arrival_drop(), of casts */
/* What came of those messages that no receive took, and what still comes, is for nobody. Of one
 * sender, or of all (peer NULL); those whose tag has the value under the mask. */
struct arrival_filter {
    uint32_t context;
    const struct peer *peer;
    int tag, mask;
};
void arrival_purge(struct covey *vm, const struct arrival_filter *which);
/* A data frame by the stream of the daemon. */
void arrival_on_data(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* A message in total order: header and all. */
void arrival_on_total(struct covey *vm, struct peer *peer, const uint8_t *payload, size_t size);
/* A complete message made here; takes it, unless there is no memory. */
void arrival_deliver(struct covey *vm, uint32_t context, struct covey_msg **msg);

#endif
