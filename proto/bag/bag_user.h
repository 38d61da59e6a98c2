/*
 * bag_user.h - a task's side of a bag as a pure engine: what it puts and has done, kept until the
 * holder says that it cannot be lost; the items that it holds; the results that came.
 *
 *   seeking --found--> greeting --WELCOME--> open
 *      ^                  |                   |
 *      +---- refused, no answer, the holder is gone
 *
 * Records are sent at once when none is under way, otherwise together with those that follow until
 * an answer comes: many small items share a request, and a single one waits for nobody. How many
 * items it holds ahead follows from how long they take: at least the next one, but none of small
 * ones that take long.
 */
#ifndef COVEY_PROTO_BAG_USER_H
#define COVEY_PROTO_BAG_USER_H

#include <stdbool.h>

#include "proto/bag/bag_wire.h"

#define BAG_USER_QUEUE_BYTES ((size_t)4 << 20) /* of records that are not safe: then puts wait */

enum bag_user_state { BAG_SEEKING, BAG_GREETING, BAG_OPEN };

/* An item that it holds, or a result. */
struct bag_thing {
    struct bag_thing *next, *previous;
    uint64_t number;
    uint32_t term;
    int32_t priority;
    uint8_t flag;
    uint32_t task;
    uint64_t since_us;
    size_t size;
    uint8_t bytes[];
};

struct bag_things {
    struct bag_thing *first, *last;
    size_t count;
};

struct bag_queued; /* a record */

/* Records that are on their way to the holder. */
struct bag_user_queue {
    struct bag_queued *first, *last, *unsent;
    uint64_t number;      /* of the last record queued; */
    uint64_t sent, acked; /* sent; safe */
    size_t queued_bytes, unsent_bytes;
};

/* Who holds the bag, as far as is known here. */
struct bag_user_tie {
    enum bag_user_state state;
    uint32_t holder, term;
    uint64_t asked_us; /* when it greeted */
    uint64_t seek_us;  /* when it is to be looked for again */
    uint64_t pause_us; /* and how long then */
};

struct bag_user_pace {
    uint64_t mean_us; /* that an item takes; 0: not known */
    uint32_t ahead;   /* items that it holds beside those begun */
    uint64_t end_us;  /* the time of this host is over then; 0: that is not known */
};

/* What is left of a bag that it has frozen. */
struct bag_user_rest {
    bool come;
    struct bag_parcel records;
};

struct bag_user {
    void *context;
    /* Sends a request to the host that holds the bag. */
    void (*send)(void *context, uint32_t host, const uint8_t *bytes, size_t size);
    uint32_t handle;
    uint64_t bag; /* 0: not known yet */

    struct bag_user_tie tie;
    struct bag_user_queue queue;

    struct bag_things fresh, begun; /* items, in the order that they came */
    uint64_t newest;                /* the highest number of one that came */
    struct bag_things results, unconfirmed;
    uint64_t received, taken, told_taken;
    uint32_t hold, want, told_hold, told_want;
    uint16_t weight; /* of bag_request; the caller's to set */
    struct bag_user_pace pace;
    uint8_t flags; /* of the last answer: BAG_COMPLETE, BAG_DRAINED */
    int32_t error; /* from now on every call ends with it */
    bool urgent;   /* the caller waits for what the next request asks for */
    struct bag_parcel out;
    struct bag_user_rest rest;
};

void bag_user_fini(struct bag_user *u);

/* Whether the holder is to be looked for now; then whoever knows says where it is, or that nobody
 * does (0): it is asked again after a while. */
bool bag_user_seeks(const struct bag_user *u, uint64_t now_us);
void bag_user_found(struct bag_user *u, uint64_t bag, uint32_t host, uint64_t now_us);
void bag_user_lost(struct bag_user *u, uint64_t now_us); /* the holder's host is gone */

/* Queues a record. False: no memory. */
bool bag_user_put(struct bag_user *u, int32_t priority, const void *bytes, size_t size);
bool bag_user_say(struct bag_user *u, uint8_t kind);                       /* BAG_CLOSE, BAG_BYE */
bool bag_user_record(struct bag_user *u, const struct bag_record *record); /* any */
/* The time of this host is over then; 0: that is not known. Items that would not be done by then
 * go back when the next one is begun. */
void bag_user_ends(struct bag_user *u, uint64_t end_us);

/* The next item, which is begun; NULL: none is here. `more`: this many are to be begun together. */
struct bag_thing *bag_user_begin(struct bag_user *u, uint64_t now_us);
void bag_user_hunger(struct bag_user *u, uint32_t more); /* items are wanted; 0: no more */
/* The item that is begun and has these bytes; NULL: there is none. */
struct bag_thing *bag_user_begun(const struct bag_user *u, const void *bytes);
/* Frees it. False: no memory for the result, and it is still held. */
bool bag_user_done(struct bag_user *u, struct bag_thing *item, const void *bytes, size_t size,
                   uint64_t now_us);
bool bag_user_return(struct bag_user *u, struct bag_thing *item);

/* The next result; NULL: none is here. Those before are confirmed by bag_user_confirm(), which
 * frees them. `want`: so many may lie here. */
struct bag_thing *bag_user_result(struct bag_user *u);
void bag_user_confirm(struct bag_user *u);
void bag_user_collect(struct bag_user *u, uint32_t want);

/* An answer came. Text if it is refused. */
const char *bag_user_answer(struct bag_user *u, uint32_t host, const uint8_t *bytes, size_t size,
                            uint64_t now_us);

/* Sends what is due; returns when to call again, UINT64_MAX: when something comes. */
uint64_t bag_user_step(struct bag_user *u, uint64_t now_us);

/* All records are safe. */
bool bag_user_settled(const struct bag_user *u);

#endif
