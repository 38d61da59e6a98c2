/*
 * exchange_longest.c - the order of an exchange of unequal sizes, without phases.
 *
 * With phases everybody waits for the longest message of each. Here the exchange is simulated: a
 * message takes its rate on every edge of its way for as long as its bytes need, a byte takes one
 * unit on the slowest link, and whenever edges become free the most burdened of them first starts,
 * of the messages that fit now, the one that has the most still to do behind it: first by what the
 * most burdened edge of its way has left, then by its own size. Other rules are tried where that
 * one does not come close to the bound; equal sizes may need the phases of an edge colouring, and
 * nearly equal ones its order: each rank's messages by their phases, which wait for nobody else.
 * Without a network the edges are the ranks' own: one message out and one in at a time. A receiver
 * that says when it is ready lets the real exchange follow the same order without the simulation's
 * times.
 *
 *   edges     by number, as network.h has them: rate, what of it is free, and bytes that have not
 *             started
 *   paths     of each message: its edges
 *   lists     of each edge: its messages; those that have started go to the list's end
 *   heap      messages under way by their end
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/exchange/exchange_part.h"

#define NONE UINT32_MAX
#define TRIES 200
#define CLOSE 1.01                    /* to the bound: no further variant is tried */
#define LOOKS_MAX ((uint64_t)4000000) /* at messages: then what was found so far is taken */

struct edge {
    uint64_t rate, free;
    double left;         /* time that what has not started needs of it */
    double weight;       /* time a byte takes at its rate */
    uint32_t waiting;    /* messages that have not started: the first ones of its list */
    uint32_t list_first; /* in lists */
};

struct simulation {
    struct exchange *x;
    uint64_t slowest;
    struct edge *edges;
    uint32_t edge_count;
    uint32_t *path_first; /* by message, in paths; one more at the end */
    uint32_t *paths, *lists;
    uint64_t *rates;   /* by message: the slowest edge's of its way */
    uint64_t *taken;   /* by message: what it has of each edge while it is under way */
    uint64_t *ends;    /* by message: when it ends, once it has started; else 0 */
    uint32_t *heap;    /* messages under way, the one that ends first on top */
    uint32_t *touched; /* edges that became free at this moment */
    uint64_t *busy;    /* in line, by edge: until then */
    size_t under_way;
    uint64_t now, looks;
    enum { RULE_BURDEN, RULE_SUM, RULE_SIZE, RULE_COLOUR, RULE_SHAKEN } rule;
    uint64_t shake;   /* of RULE_SHAKEN: another one, another order */
    bool whole_rates; /* nothing starts at less than its own rate */
};

/* ---- Messages under way ------------------------------------------------------------------ */

static uint64_t end_at(const struct simulation *s, size_t at)
{
    return s->ends[s->heap[at]];
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t held = *a;
    *a = *b;
    *b = held;
}

static uint32_t heap_take(struct simulation *s)
{
    uint32_t message = s->heap[0];
    size_t at = 0, child;

    s->heap[0] = s->heap[--s->under_way];
    while ((child = 2 * at + 1) < s->under_way) {
        if (child + 1 < s->under_way && end_at(s, child + 1) < end_at(s, child))
            child++;
        if (end_at(s, child) >= end_at(s, at))
            break;
        swap(&s->heap[at], &s->heap[child]);
        at = child;
    }
    return message;
}

/* ---- Choosing ---------------------------------------------------------------------------- */

/* 0.875 .. 1.125, by message and variant. */
static double shaken(const struct simulation *s, uint32_t message)
{
    uint64_t z = (message + s->shake) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
    return 0.875 + (double)(z >> 40) / (double)(1 << 26);
}

static double burden(const struct simulation *s, uint32_t message)
{
    double most = 0, sum = 0;

    for (uint32_t p = s->path_first[message]; p < s->path_first[message + 1]; p++) {
        double left = s->edges[s->paths[p]].left;
        most = left > most ? left : most;
        sum += left;
    }
    switch (s->rule) {
    case RULE_SUM:
        return sum;
    case RULE_SIZE:
        return (double)s->x->messages[message].bytes;
    case RULE_COLOUR:
        return -(double)s->x->messages[message].phase;
    case RULE_SHAKEN:
        return most * shaken(s, message);
    default:
        return most;
    }
}

/* The rate that its way has left for the message. */
static uint64_t free_rate(const struct simulation *s, uint32_t message)
{
    uint64_t rate = s->rates[message];

    for (uint32_t p = s->path_first[message]; p < s->path_first[message + 1]; p++)
        rate = s->edges[s->paths[p]].free < rate ? s->edges[s->paths[p]].free : rate;
    return rate;
}

/* A rate that is no multiple of another leaves remainders: a message takes one that is a good part
 * of its own. */
static bool message_fits(const struct simulation *s, uint32_t message)
{
    uint64_t least = s->whole_rates ? s->rates[message] : (s->rates[message] + 1) / 2;
    return free_rate(s, message) >= least;
}

/* The message that goes next over the edge, or NONE. */
static uint32_t pick(struct simulation *s, struct edge *edge)
{
    uint32_t *list = s->lists + edge->list_first, best = NONE;
    double most = 0;

    for (uint32_t i = 0; i < edge->waiting;) {
        uint32_t message = list[i];
        s->looks++;
        if (s->ends[message] > 0) {
            swap(&list[i], &list[--edge->waiting]);
            continue;
        }
        i++;
        if (!message_fits(s, message))
            continue;
        double here = burden(s, message);
        if (best == NONE || here > most ||
            (here == most && s->x->messages[message].bytes > s->x->messages[best].bytes)) {
            best = message;
            most = here;
        }
    }
    return best;
}

/* ---- Starting and ending ----------------------------------------------------------------- */

static void start_message(struct simulation *s, uint32_t message)
{
    struct exchange_message *m = &s->x->messages[message];
    uint64_t rate = s->taken[message] = free_rate(s, message);
    double time = (double)m->bytes * (double)s->slowest / (double)rate;
    uint64_t whole = (uint64_t)time;

    m->start = s->now;
    m->end = s->ends[message] = s->now + whole + (whole == 0 || (double)whole < time);
    for (uint32_t p = s->path_first[message]; p < s->path_first[message + 1]; p++) {
        struct edge *edge = &s->edges[s->paths[p]];
        edge->free -= rate;
        edge->left -= (double)m->bytes * edge->weight;
    }
    size_t at = s->under_way++;

    s->heap[at] = message;
    for (; at > 0 && end_at(s, at) < end_at(s, (at - 1) / 2); at = (at - 1) / 2)
        swap(&s->heap[at], &s->heap[(at - 1) / 2]);
}

/* The most burdened of the edges first. */
static void fill_all(struct simulation *s, size_t count)
{
    for (; count > 0; count--) {
        size_t most = 0;
        for (size_t i = 1; i < count; i++)
            most = s->edges[s->touched[i]].left > s->edges[s->touched[most]].left ? i : most;
        swap(&s->touched[most], &s->touched[count - 1]);
        struct edge *edge = &s->edges[s->touched[count - 1]];
        uint32_t message = NONE;

        while (edge->free > 0 && edge->waiting > 0 && (message = pick(s, edge)) != NONE)
            start_message(s, message);
    }
}

static size_t end_message(struct simulation *s, uint32_t message, size_t touched)
{
    for (uint32_t p = s->path_first[message]; p < s->path_first[message + 1]; p++) {
        uint32_t e = s->paths[p];
        bool known = false;
        s->edges[e].free += s->taken[message];
        for (size_t i = 0; i < touched; i++)
            known |= s->touched[i] == e;
        if (!known)
            s->touched[touched++] = e;
    }
    return touched;
}

/* ---- Before ------------------------------------------------------------------------------ */

static int path_of(const struct simulation *s, const struct network *network, uint32_t message,
                   int *path)
{
    const struct exchange_message *m = &s->x->messages[message];

    if (network != NULL)
        return network_path(network, m->from, m->to, path);
    path[0] = NETWORK_UP(m->from);
    path[1] = NETWORK_DOWN(m->to);
    return 2;
}

static void fill_paths(struct simulation *s, const struct network *network, int *path)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < s->x->count; i++) {
        int length = path_of(s, network, i, path);
        s->path_first[i] = used;
        for (int k = 0; k < length; k++) {
            s->edges[path[k]].waiting++;
            s->paths[used++] = (uint32_t)path[k];
        }
        s->path_first[i + 1] = used;
        uint64_t rate = UINT64_MAX;

        for (uint32_t p = s->path_first[i]; p < s->path_first[i + 1]; p++)
            rate = s->edges[s->paths[p]].rate < rate ? s->edges[s->paths[p]].rate : rate;
        s->rates[i] = rate;
    }
}

static void fill_lists(struct simulation *s)
{
    uint32_t used = 0;

    for (uint32_t e = 0; e < s->edge_count; e++) {
        s->edges[e].list_first = used;
        used += s->edges[e].waiting;
        s->edges[e].waiting = 0;
    }
    for (uint32_t i = 0; i < s->x->count; i++) {
        for (uint32_t p = s->path_first[i]; p < s->path_first[i + 1]; p++) {
            struct edge *edge = &s->edges[s->paths[p]];
            s->lists[edge->list_first + edge->waiting++] = i;
        }
    }
}

static int simulation_prepare(struct simulation *s, const struct network *network)
{
    size_t messages = s->x->count + 1, longest = network != NULL ? (size_t)network->path_max : 2;
    int *path = calloc(longest + 1, sizeof *path);
    int failed = -1;

    s->edge_count = 2 * (uint32_t)(network != NULL ? network->node_count : s->x->ranks);
    s->edges = calloc(s->edge_count + 1, sizeof *s->edges);
    s->touched = calloc(s->edge_count + 1, sizeof *s->touched);
    s->busy = calloc(s->edge_count + 1, sizeof *s->busy);
    s->path_first = calloc(messages, sizeof *s->path_first);
    s->paths = calloc(messages * longest, sizeof *s->paths);
    s->lists = calloc(messages * longest, sizeof *s->lists);
    s->rates = calloc(messages, sizeof *s->rates);
    s->taken = calloc(messages, sizeof *s->taken);
    s->ends = calloc(messages, sizeof *s->ends);
    s->heap = calloc(messages, sizeof *s->heap);
    if (path != NULL && s->edges != NULL && s->touched != NULL && s->busy != NULL &&
        s->path_first != NULL && s->paths != NULL && s->lists != NULL && s->rates != NULL &&
        s->taken != NULL && s->ends != NULL && s->heap != NULL) {
        s->slowest = network != NULL ? network_slowest(network) : 1;
        for (uint32_t e = 0; e < s->edge_count; e++) {
            struct edge *edge = &s->edges[e];
            edge->rate = network != NULL ? network_rate(network, e) : 1;
            edge->weight = edge->rate > 0 ? (double)s->slowest / (double)edge->rate : 0;
        }
        fill_paths(s, network, path);
        fill_lists(s);
        failed = 0;
    }
    free(path);
    return failed;
}

static void release(struct simulation *s)
{
    free(s->edges);
    free(s->touched);
    free(s->busy);
    free(s->path_first);
    free(s->paths);
    free(s->lists);
    free(s->rates);
    free(s->taken);
    free(s->ends);
    free(s->heap);
}

/* ---- The whole --------------------------------------------------------------------------- */

static void reset(struct simulation *s)
{
    s->now = 0;
    for (uint32_t e = 0; e < s->edge_count; e++) {
        s->edges[e].free = s->edges[e].rate;
        s->edges[e].left = 0;
        s->edges[e].waiting = 0;
    }
    for (uint32_t i = 0; i < s->x->count; i++) {
        s->ends[i] = 0;
        for (uint32_t p = s->path_first[i]; p < s->path_first[i + 1]; p++) {
            struct edge *edge = &s->edges[s->paths[p]];
            edge->left += (double)s->x->messages[i].bytes * edge->weight;
            edge->waiting++;
        }
    }
}

/* Messages by phase, in the place of the heap. */
static void list_by_phase(struct simulation *s)
{
    const struct exchange *x = s->x;
    uint32_t *first = s->touched; /* there are fewer phases than ranks */

    memset(first, 0, ((size_t)x->phases + 1) * sizeof *first);
    for (size_t i = 0; i < x->count; i++)
        first[x->messages[i].phase + 1]++;
    for (uint32_t phase = 1; phase <= x->phases; phase++)
        first[phase] += first[phase - 1];
    for (uint32_t i = 0; i < x->count; i++)
        s->heap[first[x->messages[i].phase]++] = i;
}

/* Between ports: each rank's messages in the order of their phases, come what may. */
static void run_in_line(struct simulation *s)
{
    struct exchange *x = s->x;

    list_by_phase(s);
    for (uint32_t i = 0; i < x->count; i++) {
        struct exchange_message *m = &x->messages[s->heap[i]];
        uint64_t *out = &s->busy[NETWORK_UP(m->from)], *in = &s->busy[NETWORK_DOWN(m->to)];
        m->start = *out > *in ? *out : *in;
        *out = *in = m->end = m->start + m->bytes + (m->bytes == 0);
        s->now = m->end > s->now ? m->end : s->now;
    }
}

/* The best variant is kept aside: lists are in another order after a run, so that it could not be
 * run again. */
static void run_variants(struct simulation *s, const struct network *network,
                         struct exchange_message *kept)
{
    double close = CLOSE * exchange_bound(s->x, network);
    size_t bytes = s->x->count * sizeof *kept;

    s->x->end = UINT64_MAX;
    if (network == NULL) {
        run_in_line(s);
        s->x->end = s->now;
        memcpy(kept, s->x->messages, bytes);
    }
    for (int variant = 0; variant < TRIES && (double)s->x->end > close && s->looks < LOOKS_MAX;
         variant++) {
        s->rule = variant < RULE_SHAKEN ? (unsigned)variant : RULE_SHAKEN;
        s->shake = (uint64_t)variant << 32;
        s->whole_rates = variant % 3 == 2;
        reset(s);
        for (uint32_t e = 0; e < s->edge_count; e++)
            s->touched[e] = e;
        fill_all(s, s->edge_count);
        while (s->under_way > 0) {
            size_t touched = 0;
            s->now = end_at(s, 0);
            while (s->under_way > 0 && end_at(s, 0) == s->now)
                touched = end_message(s, heap_take(s), touched);
            fill_all(s, touched);
        }
        if (s->now >= s->x->end)
            continue;
        s->x->end = s->now;
        memcpy(kept, s->x->messages, bytes);
    }
    memcpy(s->x->messages, kept, bytes);
}

int exchange_longest_fill(struct exchange *x, const struct network *network)
{
    struct simulation s = {.x = x};
    struct exchange_message *kept = calloc(x->count + 1, sizeof *kept);
    int failed = simulation_prepare(&s, network) < 0 || kept == NULL ? -1 : 0;

    failed = failed ? failed : exchange_colour_fill(x);
    if (!failed && x->count > 0)
        run_variants(&s, network, kept);
    x->phases = 0;
    for (size_t i = 0; i < x->count; i++)
        x->messages[i].phase = 0;
    release(&s);
    free(kept);
    return failed;
}
