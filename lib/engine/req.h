/*
 * req.h - a send or a receive under way.
 */
#ifndef COVEY_LIB_ENGINE_REQ_H
#define COVEY_LIB_ENGINE_REQ_H

#include "lib/covey.h"
#include "lib/msg/message.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arrival;
struct caster;
struct covey;
struct peer;

enum req_kind { REQ_SEND = 1, REQ_RECEIVE = 2, REQ_COLLECTIVE = 3 };

/* Who made a request that is not the program's alone, and is told what happens to it. Functions
 * that an owner has no use for are NULL. */
struct req_owner {
    void (*on_done)(struct covey_req *req);
    void (*on_mark)(struct covey_req *req); /* `mark` bytes came; or a send is on its way */
    void (*release)(struct covey_req *req); /* the program frees it, done or not */
    /* The program waits for it, with the lock; NULL: as for every request. 0, ETIMEOUT or EDAEMON.
     */
    int (*wait)(struct covey_req *req, uint64_t deadline_us);
    uint64_t (*rate)(const struct covey_req *); /* of messages of a schedule; 0: as it goes */
    /* How long a message of which so much of its size came need not be read on. */
    uint64_t (*rest_us)(const struct covey_req *req, uint64_t received, uint64_t size);
};

/* What moves a send that goes together with others. */
struct cast_ops {
    bool (*step)(struct covey *vm, struct caster *c); /* by a frame; false: nothing can move now */
    void (*leave)(struct covey *vm, struct covey_req *req); /* it ends before the others do */
};

/* A send: the message, and how far it is. */
struct req_send {
    const struct covey_msg *msg;
    uint64_t sequence, offset; /* of the message; bytes framed so far */
    uint64_t not_before_us;    /* it is staggered; 0: nothing is known yet */
    uint64_t stamp;            /* to a task of this host: its place in the order, see order.c */
    uint64_t held_at;          /* in a trace: it is held back since then; 0: it is not */
    int held_by;               /* enum trace_held */
    bool started, announced;
    const struct cast_ops *cast_ops;
    struct caster *caster;      /* it is one of a cast; see cast.c */
    struct covey_msg array_msg; /* of one array, without memory of its own */
    struct segment array_segments[3];
    uint8_t array_item[ITEM_HEADER_BYTES + 8];
};

/* A receive: what it takes, and where that goes. */
struct req_receive {
    uint32_t source; /* a tid, or COVEY_ANY_TASK */
    bool probe;
    bool into_array;
    int type;
    void *base;
    size_t capacity, count;
    struct arrival *arrival;
    struct covey_req *partial_next; /* of the receives that wait for the rest of a message */
};

/* Of one that belongs to a schedule: its owner has a rate(). */
struct req_pacing {
    uint64_t mark; /* receive: it is as good as here with so many bytes */
    bool marked, due;
    struct covey_req *due_next;
};

struct covey_req {
    struct covey *vm;
    struct covey_req *next, *prev; /* in the peer's sends or the posted receives */
    enum req_kind kind;
    bool queued, done;
    int error;
    char text[160]; /* the cause, when error is set */
    int tag;
    uint32_t context;
    uint64_t begun; /* in a trace: when it was queued or posted; 0: with its call */
    const char
        *call; /* one call sends or receives it; NULL: it is begun by one, ended by another */
    bool told; /* in a trace: its record is that of the call */
    struct peer *peer;
    struct covey_msg *owned; /* send: freed with the request; receive: the result */
    struct covey_info info;
    const struct req_owner *owner; /* NULL: the program's, who waits for it */
    void *of;                      /* what it is part of: the owner's */
    struct req_send send;
    struct req_receive receive;
    struct req_pacing pacing;
};

/* Whether a schedule says when it goes, and how fast. */
static inline bool req_is_paced(const struct covey_req *req)
{
    return req->owner != NULL && req->owner->rate != NULL;
}

/* The request of every call that was over, without an error, when it returned. It is of no VM. */
extern struct covey_req req_over;

/* What the task waits for is this request. */
void req_await(const struct covey_req *req);

/* The request is done: whoever waits for it, or made it, is told. */
void req_finish(struct covey_req *req, int error, const char *why);

#endif
