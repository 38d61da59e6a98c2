/*
 * network.h - a topology as schedules see it: a rooted tree with ranks at some of its nodes.
 *
 * A rank is a task that takes part, numbered from 0. A host with one rank is a leaf; the ranks of a
 * host with several are leaves below it, each by a link of its host's rate: what they send each
 * other costs no link of the network, and a message to elsewhere is limited by the host's link
 * anyway. Every link is two directed edges, named by its lower node: NETWORK_UP and NETWORK_DOWN.
 */
#ifndef COVEY_PROTO_NETWORK_H
#define COVEY_PROTO_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "proto/network/topology.h"

#define NETWORK_RANKS_MAX 2048
#define NETWORK_UP(node) (2 * (node))       /* from the node to its parent */
#define NETWORK_DOWN(node) (2 * (node) + 1) /* from the parent to the node */

struct network_node {
    int parent;    /* -1: the top */
    int depth;     /* 0: the top */
    int child;     /* the first one, or -1 */
    int sibling;   /* the next child of the parent, or -1 */
    int ranks;     /* at and below the node */
    uint64_t rate; /* of the link to the parent, bits per second */
};

struct network {
    struct network_node *nodes; /* those of the topology, then ranks that share a host */
    int *leaf;                  /* of each rank: its node */
    int node_count, rank_count;
    int path_max; /* edges of the longest path */
};

/* Makes the network of `count` ranks; hosts[i] is the node of rank i's host in the topology. hosts
 * NULL: each host has one rank, in the order of the file, and count does not matter. Returns 0, or
 * -1 when memory is exhausted or there are more than NETWORK_RANKS_MAX ranks. */
int network_create(struct network *network, const struct topology *topology, const int *hosts,
                   int count);

void network_destroy(struct network *network);

/* The directed edges from rank `from` to rank `to`, in this order; returns their number, at most
 * path_max. The first leaves the sender, the last reaches the receiver. */
int network_path(const struct network *network, int from, int to, int *edges);
/* The rate of an edge, either way. */
static inline uint64_t network_rate(const struct network *network, size_t edge)
{
    return network->nodes[edge / 2].rate;
}

/* How many messages of an all-to-all use the node's link each way (Faraj & Yuan, section 3). */
uint64_t network_load(const struct network *network, int node);

/* The rate of the slowest link with ranks on both sides; UINT64_MAX when there is none. */
uint64_t network_slowest(const struct network *network);

#endif
