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
struct collective;
struct covey;
struct paced;
struct peer;

enum req_kind { REQ_SEND = 1, REQ_RECEIVE = 2, REQ_COLLECTIVE = 3 };

/* A send: the message, and how far it is. */
struct req_send {
    const struct covey_msg *msg;
    uint64_t sequence, offset; /* of the message; bytes framed so far */
    uint64_t not_before_us;    /* it is staggered; 0: nothing is known yet */
    uint64_t stamp;            /* to a task of this host: its place in the order, see order.c */
    bool started, announced;
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

/* Of a schedule that is carried out: see paced.c. */
struct req_pacing {
    struct paced *of; /* NULL: of none */
    uint64_t mark;    /* receive: it is as good as here with so many bytes */
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
    struct peer *peer;
    struct covey_msg *owned; /* send: freed with the request; receive: the result */
    struct covey_info info;
    struct collective *collective; /* whose step it is part of; see collective.h */
    struct req_send send;
    struct req_receive receive;
    struct req_pacing pacing;
};

/* The request is done: whoever waits for it, or made it, is told. */
void req_finish(struct covey_req *req, int error, const char *why);

#endif
