/*
 * network.c - makes the rooted tree of network.h out of a topology, which is a graph without a
 * root: a switch becomes the root, links are hung below it, and ranks are counted upwards.
 */
#include "proto/network/network.h"

#include <stdlib.h>
#include <string.h>

/* ---- From the topology to a rooted tree -------------------------------------------------- */

/* The links of each node, as lists through arrays: head by node, next by directed link. */
struct adjacency {
    int *head, *next;
};

static int adjacency_create(struct adjacency *a, const struct topology *t)
{
    a->head = malloc(sizeof(int) * (size_t)t->node_count);
    a->next = malloc(sizeof(int) * (size_t)(2 * t->link_count + 1));
    if (a->head == NULL || a->next == NULL)
        return -1;
    for (int i = 0; i < t->node_count; i++)
        a->head[i] = -1;
    for (int i = t->link_count - 1; i >= 0; i--) {
        const struct topology_link *link = &t->links[i];
        a->next[2 * i] = a->head[link->a];
        a->head[link->a] = 2 * i;
        a->next[2 * i + 1] = a->head[link->b];
        a->head[link->b] = 2 * i + 1;
    }
    return 0;
}

static void hang(struct network *n, int node, int parent, uint64_t rate)
{
    struct network_node *at = &n->nodes[node];
    *at = (struct network_node){.parent = parent, .child = -1, .sibling = -1, .rate = rate};
    if (parent >= 0) {
        at->depth = n->nodes[parent].depth + 1;
        at->sibling = n->nodes[parent].child;
        n->nodes[parent].child = node;
    }
}

/* Breadth first from the first switch. */
static int root_tree(struct network *n, const struct topology *t, const struct adjacency *a)
{
    int *queue = malloc(sizeof(int) * (size_t)t->node_count);
    int filled = 1, root = 0;

    if (queue == NULL)
        return -1;
    while (root < t->node_count && !t->nodes[root].is_switch)
        root++;
    queue[0] = root < t->node_count ? root : 0;
    hang(n, queue[0], -1, 0);
    for (int i = 0; i < filled; i++) {
        int node = queue[i];
        for (int e = a->head[node]; e >= 0; e = a->next[e]) {
            const struct topology_link *link = &t->links[e / 2];
            int other = e % 2 == 0 ? link->b : link->a;
            if (other == n->nodes[node].parent)
                continue;
            hang(n, other, node, link->rate ? link->rate : TOPOLOGY_RATE_DEFAULT);
            queue[filled++] = other;
        }
    }
    free(queue);
    return 0;
}

/* ---- Ranks ------------------------------------------------------------------------------- */

/* Hosts with several ranks get a leaf for each. */
static void place_ranks(struct network *n, const int *hosts)
{
    for (int i = 0; i < n->rank_count; i++)
        n->nodes[hosts[i]].ranks++;
    for (int i = 0; i < n->rank_count; i++) {
        n->leaf[i] = hosts[i];
        if (n->nodes[hosts[i]].ranks == 1)
            continue;
        n->leaf[i] = n->node_count++;
        hang(n, n->leaf[i], hosts[i], n->nodes[hosts[i]].rate);
    }
    for (int i = 0; i < n->node_count; i++)
        n->nodes[i].ranks = 0;
    for (int i = 0; i < n->rank_count; i++) {
        int leaf = n->leaf[i];
        for (int node = leaf; node >= 0; node = n->nodes[node].parent)
            n->nodes[node].ranks++;
    }
}

static int nodes_create(struct network *n, const struct topology *t, const int *hosts)
{
    struct adjacency a = {0};
    int failed = -1;

    n->nodes = calloc((size_t)t->node_count + (size_t)n->rank_count, sizeof *n->nodes);
    n->leaf = calloc((size_t)n->rank_count + 1, sizeof *n->leaf);
    if (n->nodes != NULL && n->leaf != NULL && adjacency_create(&a, t) == 0)
        failed = root_tree(n, t, &a);
    free(a.head);
    free(a.next);
    if (failed)
        return -1;
    place_ranks(n, hosts);
    for (int i = 0; i < n->rank_count; i++) {
        int depth = n->nodes[n->leaf[i]].depth;
        n->path_max = 2 * depth > n->path_max ? 2 * depth : n->path_max;
    }
    return 0;
}

int network_create(struct network *network, const struct topology *topology, const int *hosts,
                   int count)
{
    int *all = hosts != NULL ? NULL : malloc(sizeof(int) * (size_t)(topology->host_count + 1));
    int failed = -1, found = 0;

    for (int i = 0; all != NULL && i < topology->node_count; i++) {
        if (!topology->nodes[i].is_switch)
            all[found++] = i;
    }
    *network = (struct network){.node_count = topology->node_count,
                                .rank_count = hosts != NULL ? count : topology->host_count};
    if ((hosts != NULL || all != NULL) && network->rank_count <= NETWORK_RANKS_MAX)
        failed = nodes_create(network, topology, hosts != NULL ? hosts : all);
    free(all);
    if (failed)
        network_destroy(network);
    return failed;
}

void network_destroy(struct network *network)
{
    free(network->nodes);
    free(network->leaf);
    *network = (struct network){0};
}

/* ---- Paths ------------------------------------------------------------------------------- */

int network_path(const struct network *network, int from, int to, int *edges)
{
    const struct network_node *nodes = network->nodes;
    int a = network->leaf[from], b = network->leaf[to];
    int up = 0, total = nodes[a].depth + nodes[b].depth, down = total;

    /* the ways up and down, from both ends of the array, until they meet */
    while (a != b) {
        if (nodes[a].depth >= nodes[b].depth) {
            edges[up++] = NETWORK_UP(a);
            a = nodes[a].parent;
        } else {
            edges[--down] = NETWORK_DOWN(b);
            b = nodes[b].parent;
        }
    }
    memmove(edges + up, edges + down, sizeof(int) * (size_t)(total - down));
    return up + total - down;
}

uint64_t network_load(const struct network *network, int node)
{
    uint64_t below = (uint64_t)network->nodes[node].ranks;
    return below * ((uint64_t)network->rank_count - below);
}

uint64_t network_slowest(const struct network *network)
{
    uint64_t slowest = UINT64_MAX;
    for (int i = 0; i < network->node_count; i++) {
        if (network_load(network, i) > 0 && network->nodes[i].rate < slowest)
            slowest = network->nodes[i].rate;
    }
    return slowest;
}
