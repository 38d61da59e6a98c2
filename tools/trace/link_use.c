/*
 * link_use.c - the messages of a trace on the links of its network, which is a tree.
 *
 * A link is counted over the whole message, from its send to its end: when the bytes passed it in
 * that time no task can see.
 */
#include "tools/trace/link_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct way {
    uint32_t parent; /* node; TRACE_NONE: the root, or not reached */
    uint32_t link;   /* to the parent */
    uint32_t depth;
    bool up; /* the link's first end is this node, so that it leads to the parent */
};

struct tree {
    const struct trace *trace;
    struct way *ways;     /* by node */
    uint32_t *nodes;      /* by host of the trace; TRACE_NONE: it is not in the network */
    struct link_use *use; /* by link */
};

static void tree_find(struct tree *t)
{
    const struct trace_seen *seen = &t->trace->seen;
    bool changed = true;
    for (size_t n = 0; n < seen->node_count; n++)
        t->ways[n] = (struct way){TRACE_NONE, TRACE_NONE, n == 0 ? 1 : 0, false};
    for (size_t round = 0; changed && round < seen->node_count; round++) {
        changed = false;
        for (uint32_t i = 0; i < seen->link_count; i++) {
            uint32_t a = seen->links[i].a, b = seen->links[i].b;
            bool up = t->ways[a].depth == 0; /* a hangs below b */
            uint32_t low = up ? a : b, high = up ? b : a;
            if (t->ways[low].depth != 0 || t->ways[high].depth == 0)
                continue;
            t->ways[low] = (struct way){high, i, t->ways[high].depth + 1, up};
            changed = true;
        }
    }
}

/* By name, or by what stands before the first dot of it. */
static uint32_t node_of(const struct trace_seen *seen, const char *name)
{
    char first[64];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(name, "."), name);
    for (uint32_t n = 0; n < seen->node_count; n++)
        if (!seen->nodes[n].is_switch &&
            (strcmp(seen->nodes[n].name, name) == 0 || strcmp(seen->nodes[n].name, first) == 0))
            return n;
    return TRACE_NONE;
}

static void link_add(const struct tree *t, uint32_t link, bool back, const struct trace_event *sent,
                     uint64_t end_ns)
{
    struct link_use *use = &t->use[link];
    double bin_ns = (double)t->trace->end_ns / LINK_BINS + 1;
    double begin = (double)sent->begin_ns / bin_ns, end = (double)end_ns / bin_ns;
    double room = t->trace->seen.links[link].bits / 8 * bin_ns / 1e9; /* bytes of a bin */
    use->bytes[back] += (double)sent->bytes;
    if (end < begin + 1e-9)
        end = begin + 1e-9;
    for (size_t bin = (size_t)begin; bin < LINK_BINS && (double)bin < end; bin++) {
        double from = begin > (double)bin ? begin : (double)bin;
        double to = end < (double)bin + 1 ? end : (double)bin + 1;
        use->share[back][bin] += (float)((double)sent->bytes * (to - from) / (end - begin) / room);
    }
}

/* Both ends climb to where they meet. */
static void message_add(const struct tree *t, const struct trace_event *sent, uint32_t from,
                        uint32_t to, uint64_t end_ns)
{
    while (from != to) {
        bool climbs = t->ways[from].depth >= t->ways[to].depth;
        const struct way *way = &t->ways[climbs ? from : to];
        if (way->parent == TRACE_NONE)
            return;
        link_add(t, way->link, climbs ? !way->up : way->up, sent, end_ns);
        *(climbs ? &from : &to) = way->parent;
    }
}

static size_t messages_add(const struct tree *t)
{
    const struct trace *trace = t->trace;
    size_t outside = 0;
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct trace_event *e = &trace->events[i];
        if (!trace_is_send(e) || e->match == TRACE_NONE)
            continue;
        const struct trace_event *other = &trace->events[e->match];
        uint32_t from = trace->tasks[e->task].host, to = trace->tasks[other->task].host;
        if (from == to)
            continue;
        if (t->nodes[from] == TRACE_NONE || t->nodes[to] == TRACE_NONE)
            outside++;
        else
            message_add(t, e, t->nodes[from], t->nodes[to], other->end_ns);
    }
    return outside;
}

struct link_use *link_use_find(const struct trace *trace, size_t *outside)
{
    const struct trace_seen *seen = &trace->seen;
    *outside = 0;
    if (seen->link_count == 0)
        return NULL;
    struct tree t = {.trace = trace,
                     .ways = calloc(seen->node_count, sizeof *t.ways),
                     .nodes = calloc(trace->host_count + 1, sizeof *t.nodes),
                     .use = calloc(seen->link_count, sizeof *t.use)};
    if (t.ways != NULL && t.nodes != NULL && t.use != NULL) {
        tree_find(&t);
        for (size_t h = 0; h < trace->host_count; h++)
            t.nodes[h] = node_of(seen, trace->hosts[h].name);
        *outside = messages_add(&t);
    } else {
        free(t.use);
        t.use = NULL;
    }
    free(t.ways);
    free(t.nodes);
    return t.use;
}
