/*
 * model_exchange.h - an all-to-all of blocks of equal size, played over a net (model_net.h) by the
 * rules of the runtime: who sends what to whom when.
 */
#ifndef COVEY_PROTO_MODEL_EXCHANGE_H
#define COVEY_PROTO_MODEL_EXCHANGE_H

#include "proto/model/model_net.h"
#include "proto/schedule/schedule.h"

/* The algorithms of covey_collectives(5) that are played. */
enum exchange_way {
    EXCHANGE_SCHEDULED, /* `scheduled`: pace.h */
    EXCHANGE_RING,      /* `linear`: to the next rank, the one after it ..., eight at a time */
    EXCHANGE_PAIRWISE   /* `pairwise`: with one pair of ranks after another; unscheduled.h */
};

/* What is played. */
struct exchange {
    enum exchange_way way;
    const struct schedule *schedule; /* SCHEDULED */
    double bytes;                    /* of a block, by which the rules go */
    double stream_bytes;             /* that go on the stream for it */
};

struct exchange_result {
    double seconds; /* from the first rank's beginning until the last one has all blocks */
    double lost;    /* frames that full queues dropped, as a share of those that blocks have */
};

/* Plays it `calls` times, after one that does not count, as it opens the streams; and all that
 * `chains` times, each from another seed: what a call loses decides when the next one sends, so the
 * calls of one chain have much in common. The result is the median call's of all. Returns 0, or -1:
 * memory is exhausted. */
int exchange_play(const struct network *network, const struct net_config *config,
                  const struct exchange *what, int calls, int chains,
                  struct exchange_result *result);

#endif
