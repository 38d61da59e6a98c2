/*
 * random_tree.h - topologies from a seed: chains, stars, nested switches, equal subtrees, hosts
 * alone below a switch, switches without hosts; 2 .. 64 hosts.
 */
#ifndef COVEY_TESTS_RANDOM_TREE_H
#define COVEY_TESTS_RANDOM_TREE_H

#include <stdint.h>

#include "proto/network/topology.h"

enum tree_rates {
    TREE_EQUAL,     /* all links have one rate */
    TREE_TRUNKS,    /* hosts at 1G, links between switches at 1G, 2.5G, 10G or 40G */
    TREE_ANY_RATES, /* all links at 100M, 1G, 2.5G or 10G */
    TREE_ODD_RATES  /* each link at a rate of its own, 10M to 12.7G */
};

uint64_t tree_random(uint64_t *seed);
uint32_t tree_below(uint64_t *seed, uint32_t limit);

/* The text of a topology file with at most `most` hosts; freed by the caller. */
char *tree_text(uint64_t seed, int most, enum tree_rates rates);

/* The same, parsed; aborts when the parser refuses it. */
void tree_make(struct topology *topology, uint64_t seed, int most, enum tree_rates rates);

#endif
