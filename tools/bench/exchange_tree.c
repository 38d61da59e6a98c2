/*
 * The ways of a model: between ports alone, or over the links of a topology, whose hosts are the
 * ranks in the order of the file.
 */
#include <stdlib.h>

#include "tools/bench/exchange_model.h"

/* The topology as a rooted tree. */
struct tree {
    struct covey_topology_node *nodes;
    struct covey_topology_link *links;
    int node_count, link_count;
    int *parent, *depth, *leaf; /* leaf: by rank */
    uint64_t *rate;             /* of the link to the parent */
    int ranks, deepest;
};

/* One level further down; whether any node was new. */
static bool hang_level(struct tree *t, int depth)
{
    bool found = false;
    for (int i = 0; i < t->link_count; i++) {
        int ends[2] = {t->links[i].a, t->links[i].b};
        for (int side = 0; side < 2; side++) {
            int above = ends[side], below = ends[!side];
            if (t->depth[above] != depth || t->depth[below] >= 0)
                continue;
            t->depth[below] = depth + 1;
            t->parent[below] = above;
            t->rate[below] = t->links[i].rate_bps;
            found = true;
        }
    }
    return found;
}

static int make_tree(struct tree *t, const covey_topology_t *topology)
{
    t->node_count = covey_topology_nodes(topology, &t->nodes);
    t->link_count = covey_topology_links(topology, &t->links);
    if (t->node_count < 0 || t->link_count < 0)
        return -1;
    size_t nodes = (size_t)t->node_count + 1;
    t->parent = calloc(nodes, sizeof *t->parent);
    t->depth = calloc(nodes, sizeof *t->depth);
    t->leaf = calloc(nodes, sizeof *t->leaf);
    t->rate = calloc(nodes, sizeof *t->rate);
    if (!t->parent || !t->depth || !t->leaf || !t->rate)
        return -1;
    int top = 0;
    for (int i = t->node_count - 1; i >= 0; i--) {
        t->depth[i] = -1;
        t->parent[i] = -1;
        top = t->nodes[i].is_switch ? i : top;
    }
    t->depth[top] = 0;
    while (hang_level(t, t->deepest))
        t->deepest++;
    for (int i = 0; i < t->node_count; i++) {
        if (!t->nodes[i].is_switch)
            t->leaf[t->ranks++] = i;
    }
    return 0;
}

static int use_tree(struct exchange_model *model, const struct tree *t)
{
    size_t ranks = (size_t)t->ranks;
    uint64_t slowest = UINT64_MAX;
    for (int i = 0; i < t->node_count; i++)
        slowest = t->parent[i] >= 0 && t->rate[i] < slowest ? t->rate[i] : slowest;
    model->ranks = t->ranks;
    model->edges = 2 * t->node_count;
    model->path_max = 2 * t->deepest + 1;
    model->paths = calloc(ranks * ranks * (size_t)model->path_max + 1, sizeof *model->paths);
    model->widths = calloc((size_t)model->edges + 1, sizeof *model->widths);
    if (!model->paths || !model->widths)
        return -1;
    for (int e = 0; e < model->edges; e++)
        model->widths[e] = t->parent[e / 2] >= 0 ? (int)(t->rate[e / 2] / slowest) : 0;
    for (int pair = 0; pair < t->ranks * t->ranks; pair++) {
        int *path = model->paths + pair * model->path_max;
        int length = 0, a = t->leaf[pair / t->ranks], b = t->leaf[pair % t->ranks];
        while (a != b) {
            if (t->depth[a] >= t->depth[b]) {
                path[length++] = 2 * a;
                a = t->parent[a];
            } else {
                path[length++] = 2 * b + 1;
                b = t->parent[b];
            }
        }
        path[length] = -1;
    }
    return 0;
}

static int use_ports(struct exchange_model *model, int ranks)
{
    model->ranks = ranks;
    model->edges = 2 * ranks;
    model->path_max = 2;
    model->paths = calloc((size_t)ranks * (size_t)ranks * 2 + 1, sizeof *model->paths);
    model->widths = calloc((size_t)model->edges + 1, sizeof *model->widths);
    if (!model->paths || !model->widths)
        return -1;
    for (int e = 0; e < model->edges; e++)
        model->widths[e] = 1;
    for (int i = 0; i < ranks * ranks; i++) {
        model->paths[2 * i] = 2 * (i / ranks);
        model->paths[2 * i + 1] = 2 * (i % ranks) + 1;
    }
    return 0;
}

int exchange_model_create(struct exchange_model *model, int ranks, covey_topology_t *topology)
{
    struct tree tree = {0};
    if (!topology)
        return use_ports(model, ranks);
    int failed = make_tree(&tree, topology) != 0 || use_tree(model, &tree) != 0;
    covey_free(tree.nodes);
    covey_free(tree.links);
    free(tree.parent);
    free(tree.depth);
    free(tree.leaf);
    free(tree.rate);
    return failed ? -1 : 0;
}

void exchange_model_destroy(struct exchange_model *model)
{
    free(model->paths);
    free(model->widths);
    model->paths = model->widths = NULL;
}
