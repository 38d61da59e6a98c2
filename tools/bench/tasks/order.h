/*
 * Orders: what the leading task tells its peers to do next, and the peer's answers. An order names
 * the program that moves the bytes: Covey (RAW_NONE) or a raw one.
 */
#ifndef COVEY_TOOLS_BENCH_ORDER_H
#define COVEY_TOOLS_BENCH_ORDER_H

#include <stdint.h>

#include "covey.h"
#include "tools/bench/tasks/raw.h"

enum { ORDER_TAG = 11, ORDER_ANSWER_TAG = 12 };

enum order_what {
    ORDER_LISTEN = 1, /* text: an address; answer: errno or 0, the endpoint; then accept */
    ORDER_ECHO = 2, /* receive a message and send it back, `count` times; where the plan has pauses,
                       the answer's count is how many nanoseconds they took */
    ORDER_SINK = 3, /* receive `count` messages, then send one byte back */
    ORDER_CPU = 4,  /* answer: processor seconds of each kind since the last time */
    ORDER_BARRIER = 5, /* `count` barriers of the `bytes` tasks in the group that text names */
    ORDER_MCAST = 6,   /* receive a message and send one byte back, `count` times */
    ORDER_END = 7,
    ORDER_TEAM = 8,       /* a team of the first `bytes` of the `count` tasks in group text */
    ORDER_COLLECTIVE = 9, /* `count` calls of the operation and algorithm in text */
    ORDER_OVERLAP = 10,   /* send a byte back, then `count` steps: a face of `bytes`, or none, both
                             ways, and as many microseconds of computation as text says */
    ORDER_RING = 11,      /* `count` rounds of the ring, or to compute alone; text: the next tasks
                             and those before; answer: passes in a second, seconds, spread */
    ORDER_PAIR = 12       /* alpha and beta; text: with whom, and 1 to begin; answer: both */
};

struct order {
    int64_t what;  /* enum order_what */
    int64_t kind;  /* enum raw_kind */
    int64_t bytes; /* of a message */
    int64_t count;
    char text[RAW_ENDPOINT_BYTES];
};

/* Each returns 0 or an error of covey.h. */
int order_send(covey_t *vm, covey_tid_t tid, const struct order *order);
int order_receive(covey_t *vm, covey_tid_t tid, struct order *order);

/* An answer is an order without sense as one: `what` is an errno, text the endpoint. */
int order_answer(covey_t *vm, covey_tid_t tid, const struct order *answer);
int order_receive_answer(covey_t *vm, covey_tid_t tid, struct order *answer);

#endif
