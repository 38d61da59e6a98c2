/*
 * exchange.h - the order of a sparse exchange: some ranks have messages for some others.
 *
 * Source: Wang & Ranka, "Scheduling of Unstructured Communication on the Intel iPSC/860". Terms are
 * theirs: COM(i,j) > 0 is what i sends to j; the density d is the most messages that a rank sends
 * or receives; a partial permutation is a set of messages in which each rank sends and receives at
 * most one; a schedule splits COM into partial permutations, here phases.
 *
 *   AC       asynchronous: everything at once (section 3)
 *
 *   LP       linear permutation: i with i XOR k in phase k; where the number of ranks is no power
 *            of two, i to i + k (section 4.1)
 *
 *   RS_N     random scheduling that avoids contention at ranks (section 4.2, Figure 3)
 *
 *   RS_NL    the same without contention on links either, pairs of messages both ways preferred
 *            (section 5, Figure 4)
 *
 *   COLOUR   beyond the paper: exactly d phases, by colouring the edges of the bipartite graph of
 *            senders and receivers (Koenig)
 *
 *   LONGEST  beyond the paper, for unequal sizes: no phases; a message starts when its ranks, and
 *            with a network all links of its way, are free, that of the most burdened one first
 */
#ifndef COVEY_PROTO_EXCHANGE_H
#define COVEY_PROTO_EXCHANGE_H

#include "proto/network/network.h"

enum exchange_algorithm {
    EXCHANGE_AC,
    EXCHANGE_LP,
    EXCHANGE_RS_N,
    EXCHANGE_RS_NL,
    EXCHANGE_COLOUR,
    EXCHANGE_LONGEST
};

struct exchange_message {
    uint64_t bytes;
    uint64_t
        start;    /* LONGEST: when it starts, in the time that a byte takes on the slowest link, */
    uint64_t end; /* and ends; else 0 */
    uint32_t phase; /* LONGEST: 0 */
    uint16_t from, to;
};

/* The caller's: messages between different ranks, each pair at most once, in any order. */
struct exchange {
    int ranks;
    size_t count;
    struct exchange_message *messages;
    uint32_t phases; /* set by exchange_schedule() */
    uint64_t end;    /* LONGEST: when the last message ends */
};

/* The most messages that any rank sends or receives. */
uint32_t exchange_density(const struct exchange *exchange);

/* The least that an exchange takes, in bytes of one rank's link: the most that any rank sends or
 * receives, and, with a network (else NULL), what any link carries, weighed by the rate of the
 * slowest link over its own. */
double exchange_bound(const struct exchange *exchange, const struct network *network);

/* The same of the ranks' own links alone: what remains when those in between are free. */
double exchange_bound_of_ports(const struct exchange *exchange, const struct network *network);

/* Gives each message its phase, or start and end, and sorts the messages by phase, start, sender,
 * receiver. RS_NL needs the network, LONGEST keeps its links free if there is one, the others take
 * no account of it; seed drives RS_N and RS_NL. Returns 0, or -1 when
 * memory is exhausted. */
int exchange_schedule(struct exchange *exchange, enum exchange_algorithm algorithm,
                      const struct network *network, uint64_t seed);

#endif
