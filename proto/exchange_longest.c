/*
 * exchange_longest.c - the order of an exchange of unequal sizes, without phases.
 *
 * With phases everybody waits for the longest message of each. Here the exchange is simulated: a
 * rank sends one message and receives one at a time, a byte takes one unit, and whenever a rank
 * becomes free it starts, of its messages whose other end is free, the one that has the most still
 * to do behind it: first by what the more burdened of its two ranks has left, then by its own size.
 * A receiver that says when it is ready lets the real exchange follow the same rule without the
 * simulation's times.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/exchange_part.h"

#define NONE UINT32_MAX

/* A sender or a receiver. */
struct port {
    uint64_t left;    /* bytes that have not started */
    uint32_t waiting; /* messages that have not started: the first ones of its row */
    bool busy;
};

struct simulation {
    struct exchange *x;
    struct exchange_rows rows[2];
    struct port *ports[2]; /* senders, receivers */
    bool *started;         /* by message */
    uint32_t *heap;        /* messages under way, the one that ends first on top */
    size_t under_way;
    uint64_t now;
    enum { RULE_BURDEN, RULE_BOTH, RULE_SIZE, RULE_SHAKEN } rule;
    uint64_t shake; /* of RULE_SHAKEN: another one, another order */
};

#define TRIES 24
#define CLOSE 1.01 /* to the bound: no further variant is tried */

static struct port *port_of(const struct simulation *s, uint32_t message, int side)
{
    const struct exchange_message *m = &s->x->messages[message];
    return &s->ports[side][side ? m->to : m->from];
}

/* ---- Messages under way ------------------------------------------------------------------ */

static uint64_t end_of(const struct simulation *s, size_t at)
{
    const struct exchange_message *m = &s->x->messages[s->heap[at]];
    return m->start + m->bytes;
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t held = *a;
    *a = *b;
    *b = held;
}

static void heap_put(struct simulation *s, uint32_t message)
{
    size_t at = s->under_way++;

    s->heap[at] = message;
    for (; at > 0 && end_of(s, at) < end_of(s, (at - 1) / 2); at = (at - 1) / 2)
        swap(&s->heap[at], &s->heap[(at - 1) / 2]);
}

static uint32_t heap_take(struct simulation *s)
{
    uint32_t message = s->heap[0];
    size_t at = 0, child;

    s->heap[0] = s->heap[--s->under_way];
    while ((child = 2 * at + 1) < s->under_way) {
        if (child + 1 < s->under_way && end_of(s, child + 1) < end_of(s, child))
            child++;
        if (end_of(s, child) >= end_of(s, at))
            break;
        swap(&s->heap[at], &s->heap[child]);
        at = child;
    }
    return message;
}

/* ---- Starting ---------------------------------------------------------------------------- */

/* 0.875 .. 1.125, by message and variant. */
static double shaken(const struct simulation *s, uint32_t message)
{
    uint64_t z = (message + s->shake) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
    return 0.875 + (double)(z >> 40) / (double)(1 << 26);
}

static uint64_t burden(const struct simulation *s, uint32_t message)
{
    uint64_t out = port_of(s, message, 0)->left, in = port_of(s, message, 1)->left;
    uint64_t most = out > in ? out : in;

    switch (s->rule) {
    case RULE_BOTH:
        return out + in;
    case RULE_SIZE:
        return s->x->messages[message].bytes;
    case RULE_SHAKEN:
        return (uint64_t)((double)most * shaken(s, message));
    default:
        return most;
    }
}

static bool is_better(const struct simulation *s, uint32_t a, uint32_t b)
{
    uint64_t x = burden(s, a), y = burden(s, b);
    return x != y ? x > y : s->x->messages[a].bytes > s->x->messages[b].bytes;
}

/* The message that the port starts, or NONE. Those that have started go to the row's end. */
static uint32_t pick(struct simulation *s, int side, int rank)
{
    struct port *port = &s->ports[side][rank];
    uint32_t *row = s->rows[side].list + s->rows[side].first[rank], best = NONE;

    for (uint32_t i = 0; i < port->waiting;) {
        if (s->started[row[i]]) {
            swap(&row[i], &row[--port->waiting]);
            continue;
        }
        if (!port_of(s, row[i], !side)->busy && (best == NONE || is_better(s, row[i], best)))
            best = row[i];
        i++;
    }
    return best;
}

static void start(struct simulation *s, uint32_t message)
{
    struct exchange_message *m = &s->x->messages[message];

    m->start = s->now;
    s->started[message] = true;
    for (int side = 0; side < 2; side++) {
        port_of(s, message, side)->busy = true;
        port_of(s, message, side)->left -= m->bytes;
    }
    heap_put(s, message);
}

static void try_port(struct simulation *s, int side, int rank)
{
    uint32_t message = s->ports[side][rank].busy ? NONE : pick(s, side, rank);
    if (message != NONE)
        start(s, message);
}

/* ---- The whole --------------------------------------------------------------------------- */

static void run(struct simulation *s)
{
    for (int rank = 0; rank < s->x->ranks; rank++)
        try_port(s, 0, rank);
    while (s->under_way > 0) {
        uint32_t message = heap_take(s);
        const struct exchange_message *m = &s->x->messages[message];
        s->now = m->start + m->bytes;
        port_of(s, message, 0)->busy = false;
        port_of(s, message, 1)->busy = false;
        try_port(s, 0, m->from);
        try_port(s, 1, m->to);
    }
}

static int prepare(struct simulation *s)
{
    size_t ranks = (size_t)s->x->ranks + 1;

    s->ports[0] = calloc(ranks, sizeof *s->ports[0]);
    s->ports[1] = calloc(ranks, sizeof *s->ports[1]);
    s->started = calloc(s->x->count + 1, sizeof *s->started);
    s->heap = calloc(s->x->count + 1, sizeof *s->heap);
    if (exchange_rows_create(&s->rows[0], s->x, 0) < 0 ||
        exchange_rows_create(&s->rows[1], s->x, 1) < 0 || !s->ports[0] || !s->ports[1] ||
        !s->started || !s->heap)
        return -1;
    return 0;
}

static void reset(struct simulation *s)
{
    s->now = 0;
    for (int side = 0; side < 2; side++)
        memset(s->ports[side], 0, sizeof *s->ports[side] * (size_t)s->x->ranks);
    for (uint32_t i = 0; i < s->x->count; i++) {
        s->started[i] = false;
        for (int side = 0; side < 2; side++) {
            port_of(s, i, side)->left += s->x->messages[i].bytes;
            port_of(s, i, side)->waiting++;
        }
    }
}

static void vary(struct simulation *s, int variant)
{
    s->rule = variant < RULE_SHAKEN ? (unsigned)variant : RULE_SHAKEN;
    s->shake = (uint64_t)variant << 32;
}

/* The best variant's starts are kept in `starts`: rows are in another order after a run, so that it
 * could not be run again. */
static void run_variants(struct simulation *s, uint64_t *starts)
{
    double close = CLOSE * exchange_bound(s->x, NULL);
    uint64_t best = UINT64_MAX;

    for (int variant = 0; variant < TRIES && (double)best > close; variant++) {
        vary(s, variant);
        reset(s);
        run(s);
        if (s->now >= best)
            continue;
        best = s->now;
        for (size_t i = 0; i < s->x->count; i++)
            starts[i] = s->x->messages[i].start;
    }
    for (size_t i = 0; i < s->x->count; i++)
        s->x->messages[i].start = starts[i];
    s->x->end = best;
}

int exchange_longest_fill(struct exchange *x)
{
    struct simulation s = {.x = x};
    uint64_t *starts = calloc(x->count + 1, sizeof *starts);
    int failed = prepare(&s) < 0 || !starts ? -1 : 0;

    if (!failed)
        run_variants(&s, starts);
    for (int side = 0; side < 2; side++) {
        exchange_rows_destroy(&s.rows[side]);
        free(s.ports[side]);
    }
    free(s.started);
    free(s.heap);
    free(starts);
    return failed;
}
