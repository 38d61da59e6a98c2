/*
 * Patterns of an exchange, made from a seed, the same everywhere: every rank sends `density`
 * messages to ranks chosen at random, and receives as many (Wang & Ranka, section 6).
 */
#ifndef COVEY_TOOLS_EXCHANGE_PATTERN_H
#define COVEY_TOOLS_EXCHANGE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "covey.h"

struct exchange_shape {
    int ranks, density;
    uint64_t bytes; /* of each message; unequal: on average */
    bool unequal;   /* most below the mean, one in eight four times as long */
    uint64_t seed;
};

/* The messages, ranks times density of them, by sender and then in the order of the receivers
 * behind it; freed by the caller. NULL: memory is exhausted. */
struct covey_exchange_message *exchange_pattern(const struct exchange_shape *shape);

/* The network of a topology's text, or of an empty one: all ranks on one switch, with links of that
 * rate; 0: of no rate. Sets *topology; 0, or an error of covey_topology_parse(). */
int exchange_topology(const char *given, int ranks, double rate_bps, covey_topology_t **topology);

/* Sets up to `most` densities, those of the paper and smaller ones, as far as there are so many
 * other ranks; returns their number. */
int exchange_usual_densities(int ranks, int32_t *densities, int most);

#endif
