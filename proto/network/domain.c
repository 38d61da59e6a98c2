/*
 * domain.c - contention domains out of a topology; see domain.h.
 *
 * The tree is kept as it is asked for: of each node its parent and depth, by a walk over the links
 * from the first switch. The way between two hosts climbs from both to where they meet; each node
 * and each edge on it is compared with the few domains there are.
 */
#include "proto/network/domain.h"

#include <stdio.h>
#include <stdlib.h>

#include "proto/network/topology.h"

#include "proto/contention/contention.h"

struct domain {
    uint8_t mode;
    int a, b; /* as in struct topology_contention; a -1: all there is */
    uint64_t rate;
};

struct domains {
    struct topology topology;
    int *parent, *depth;
    int count;
    struct domain list[CONTENTION_DOMAINS_MAX];
};

/* ---- the tree ---- */

static void hang(struct domains *d, int node, int parent)
{
    d->parent[node] = parent;
    d->depth[node] = parent < 0 ? 0 : d->depth[parent] + 1;
}

/* One level a round: as many rounds as the tree is deep. */
static void root_tree(struct domains *d)
{
    const struct topology *t = &d->topology;
    for (int i = 0; i < t->node_count; i++)
        d->depth[i] = -1;
    hang(d, t->links[0].b, -1);
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < t->link_count; i++) {
            const struct topology_link *link = &t->links[i];
            bool a = d->depth[link->a] >= 0, b = d->depth[link->b] >= 0;
            if (a == b)
                continue;
            hang(d, a ? link->b : link->a, a ? link->a : link->b);
            any = true;
        }
    }
}

/* ---- the domains ---- */

static void domains_add(struct domains *d, const struct domain *domain)
{
    bool on = domain->mode == CONTENTION_STAGGER || domain->mode == CONTENTION_TOKEN;
    if (on && d->count < CONTENTION_DOMAINS_MAX)
        d->list[d->count++] = *domain;
}

/* The line about a segment, or NULL. */
static const struct topology_contention *line_of(const struct topology *t, int node)
{
    for (int i = t->contention_count - 1; i >= 0; i--)
        if (t->contentions[i].a == node && t->contentions[i].b < 0)
            return &t->contentions[i];
    return NULL;
}

static void add_segments(struct domains *d, const struct contention_config *config)
{
    const struct topology *t = &d->topology;
    for (int i = 0; i < t->node_count; i++) {
        const struct topology_contention *line = line_of(t, i);
        struct domain domain = {.a = i, .b = -1, .rate = t->nodes[i].segment_rate};
        domain.mode = line == NULL ? config->mode : (uint8_t)line->mode;
        if (domain.rate > 0)
            domains_add(d, &domain);
    }
}

static void add_links(struct domains *d, const struct contention_config *config)
{
    const struct topology *t = &d->topology;
    for (int i = 0; i < t->contention_count; i++) {
        const struct topology_contention *line = &t->contentions[i];
        struct domain domain = {.mode = (uint8_t)line->mode, .a = line->a, .b = line->b};
        if (line->b < 0)
            continue;
        const struct topology_link *link = topology_link_between(t, line->a, line->b);
        domain.rate = link != NULL && link->rate != 0 ? link->rate : config->rate;
        domains_add(d, &domain);
    }
}

struct domains *domains_create(const struct contention_config *config, const char *text,
                               size_t bytes, char *why)
{
    struct domains *d = calloc(1, sizeof *d);
    snprintf(why, TOPOLOGY_ERROR_BYTES, "memory is exhausted");
    if (d == NULL)
        return NULL;
    if (text == NULL) {
        domains_add(d,
                    &(struct domain){.mode = config->mode, .a = -1, .b = -1, .rate = config->rate});
        return d;
    }
    if (topology_parse(&d->topology, text, bytes, "the topology of the VM", why) == 0) {
        d->parent = calloc((size_t)d->topology.node_count, sizeof *d->parent);
        d->depth = calloc((size_t)d->topology.node_count, sizeof *d->depth);
        if (d->parent != NULL && d->depth != NULL) {
            root_tree(d);
            add_segments(d, config);
            add_links(d, config);
            return d;
        }
    }
    domains_destroy(d);
    return NULL;
}

void domains_destroy(struct domains *domains)
{
    if (domains == NULL)
        return;
    topology_destroy(&domains->topology);
    free(domains->parent);
    free(domains->depth);
    free(domains);
}

int domains_count(const struct domains *domains)
{
    return domains->count;
}

/* ---- ways ---- */

static void cross(const struct domain *domain, int number, struct domain_way *way)
{
    if (domain->mode == CONTENTION_TOKEN)
        way->tokens |= UINT64_C(1) << number;
    else if (way->rate == 0 || domain->rate < way->rate)
        way->rate = domain->rate;
}

/* Over the edge from a to b; a segment is crossed at the switch's end of it. */
static void domains_pass(const struct domains *d, int a, int b, struct domain_way *way)
{
    for (int i = 0; i < d->count; i++) {
        const struct domain *domain = &d->list[i];
        bool segment = domain->b < 0 && (domain->a == a || domain->a == b);
        if (segment || (domain->a == a && domain->b == b))
            cross(domain, i, way);
    }
}

static int host_find(const struct topology *t, const char *name)
{
    char label[TOPOLOGY_NAME_MAX + 1];
    int node = topology_find(t, name);
    if (node < 0) {
        snprintf(label, sizeof label, "%.*s", (int)strcspn(name, "."), name);
        node = topology_find(t, label);
    }
    return node >= 0 && !t->nodes[node].is_switch ? node : -1;
}

struct domain_way domains_way(const struct domains *d, const char *from, const char *to)
{
    struct domain_way way = {0};
    if (d->topology.node_count == 0) {
        for (int i = 0; i < d->count; i++)
            cross(&d->list[i], i, &way);
        return way;
    }
    int a = host_find(&d->topology, from), b = host_find(&d->topology, to);
    while (a >= 0 && b >= 0 && a != b) {
        if (d->depth[a] >= d->depth[b]) {
            domains_pass(d, a, d->parent[a], &way);
            a = d->parent[a];
        } else {
            domains_pass(d, d->parent[b], b, &way);
            b = d->parent[b];
        }
    }
    return way;
}
