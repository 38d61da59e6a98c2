/*
 * network.c - the simulated network. A heap holds the datagrams under way, ordered by arrival and,
 * for equal times, by the order of sending, so that nothing depends on the allocator or the heap.
 *
 * A port is two lines (out and in), each a rate with a queue: `free_us` is when the line will have
 * sent all that it accepted, so the backlog in bytes is (free_us - now) * rate. No event per hop is
 * needed: the whole journey is computed when the datagram is sent. The in line is thereby served
 * in the order of sending, not of arrival; for equal delays that is the same.
 */
#include "tests/sim/network.h"

#include <stdlib.h>
#include <string.h>

struct line {
    uint64_t free_ns; /* when it will be idle */
};

struct journey {
    uint64_t due_us, order;
    struct network_datagram *datagram;
};

struct network {
    struct network_config config;
    uint64_t now_us, order, random;
    struct line *out, *in;
    uint8_t *cut; /* ports x ports */
    struct journey *heap;
    size_t count, capacity;
    uint64_t *last_due_us; /* per pair: jitter does not let datagrams overtake */
    struct network_stats stats;
};

uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return bound == 0 ? 0 : random_next(state) % bound;
}

bool random_chance(uint64_t *state, uint32_t ppm)
{
    return ppm != 0 && random_below(state, NETWORK_MILLION) < ppm;
}

struct network *network_create(const struct network_config *config)
{
    struct network *n = calloc(1, sizeof *n);
    size_t ports = config->ports;
    if (n == NULL)
        return NULL;
    n->config = *config;
    n->random = config->seed ^ 0x6e6574776f726bu;
    n->out = calloc(ports, sizeof *n->out);
    n->in = calloc(ports, sizeof *n->in);
    n->cut = calloc(ports * ports, 1);
    n->last_due_us = calloc(ports * ports, sizeof *n->last_due_us);
    if (n->out == NULL || n->in == NULL || n->cut == NULL || n->last_due_us == NULL) {
        network_destroy(n);
        return NULL;
    }
    return n;
}

void network_destroy(struct network *n)
{
    if (n == NULL)
        return;
    for (size_t i = 0; i < n->count; i++)
        free(n->heap[i].datagram);
    free(n->heap);
    free(n->last_due_us);
    free(n->cut);
    free(n->in);
    free(n->out);
    free(n);
}

void network_configure(struct network *n, const struct network_config *config)
{
    uint32_t ports = n->config.ports;
    n->config = *config;
    n->config.ports = ports;
}

uint64_t network_now(const struct network *n)
{
    return n->now_us;
}

void network_advance(struct network *n, uint64_t now_us)
{
    if (now_us > n->now_us)
        n->now_us = now_us;
}

static bool earlier(const struct journey *a, const struct journey *b)
{
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->order < b->order;
}

static void heap_push(struct network *n, struct journey j)
{
    if (n->count == n->capacity) {
        size_t capacity = n->capacity == 0 ? 256 : 2 * n->capacity;
        struct journey *heap = realloc(n->heap, capacity * sizeof *heap);
        if (heap == NULL)
            abort();
        n->heap = heap;
        n->capacity = capacity;
    }
    size_t i = n->count++;
    for (; i > 0 && earlier(&j, &n->heap[(i - 1) / 2]); i = (i - 1) / 2)
        n->heap[i] = n->heap[(i - 1) / 2];
    n->heap[i] = j;
}

static struct journey heap_pop(struct network *n)
{
    struct journey top = n->heap[0];
    struct journey last = n->heap[--n->count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n->count)
            break;
        if (child + 1 < n->count && earlier(&n->heap[child + 1], &n->heap[child]))
            child++;
        if (!earlier(&n->heap[child], &last))
            break;
        n->heap[i] = n->heap[child];
        i = child;
    }
    n->heap[i] = last;
    return top;
}

/* Passes `size` bytes that come at *at_us through a line; false when its queue is full. */
static bool line_pass(struct network *n, struct line *line, uint64_t *at_us, size_t size)
{
    uint64_t rate = n->config.rate_bytes_s;
    uint64_t at_ns = *at_us * 1000;
    if (rate == 0)
        return true;
    uint64_t start_ns = line->free_ns > at_ns ? line->free_ns : at_ns;
    double backlog = (double)(start_ns - at_ns) * (double)rate / 1e9;
    if (n->config.queue_bytes != 0 && backlog + (double)size > (double)n->config.queue_bytes)
        return false;
    line->free_ns = start_ns + (uint64_t)((double)size * 1e9 / (double)rate);
    *at_us = line->free_ns / 1000;
    return true;
}

static void launch(struct network *n, uint64_t due_us, uint32_t from, uint32_t to,
                   const void *bytes, size_t size)
{
    struct network_datagram *d = malloc(sizeof *d + size);
    if (d == NULL)
        abort();
    d->from = from;
    d->to = to;
    d->size = size;
    if (size != 0)
        memcpy(d->bytes, bytes, size);
    heap_push(n, (struct journey){due_us, n->order++, d});
}

/* When a datagram that came through the lines by at_us is there; later than those before it,
 * unless it is held back and overtaken. */
static uint64_t journey_end(struct network *n, uint64_t at_us, uint32_t from, uint32_t to)
{
    const struct network_config *c = &n->config;
    uint64_t *last = &n->last_due_us[(size_t)from * c->ports + to];
    uint64_t due = at_us + random_below(&n->random, c->jitter_us + 1);
    if (due < *last)
        due = *last;
    if (random_chance(&n->random, c->reorder_ppm)) {
        n->stats.reordered++;
        return due + 1 + random_below(&n->random, c->reorder_us);
    }
    *last = due;
    return due;
}

static bool vanishes(struct network *n, uint32_t from, uint32_t to, size_t size)
{
    const struct network_config *c = &n->config;
    uint64_t *count = NULL;
    if (n->cut[(size_t)from * c->ports + to])
        count = &n->stats.cut;
    else if (c->datagram_bytes != 0 && size > c->datagram_bytes)
        count = &n->stats.too_large;
    else if (random_chance(&n->random, c->loss_ppm))
        count = &n->stats.lost;
    if (count != NULL)
        ++*count;
    return count != NULL;
}

void network_send(struct network *n, uint32_t from, uint32_t to, const void *bytes, size_t size)
{
    const struct network_config *c = &n->config;
    size_t wire = size + c->overhead_bytes;
    uint64_t at = n->now_us;
    n->stats.sent++;
    if (!line_pass(n, &n->out[from], &at, wire)) {
        n->stats.overflowed++;
        return;
    }
    if (vanishes(n, from, to, size))
        return;
    int copies = 1;
    if (random_chance(&n->random, c->duplicate_ppm)) {
        n->stats.duplicated++;
        copies = 2;
    }
    for (int i = 0; i < copies; i++) {
        uint64_t due = at + c->delay_us;
        if (line_pass(n, &n->in[to], &due, wire))
            launch(n, journey_end(n, due, from, to), from, to, bytes, size);
        else
            n->stats.overflowed++;
    }
}

uint64_t network_next(const struct network *n)
{
    return n->count == 0 ? UINT64_MAX : n->heap[0].due_us;
}

struct network_datagram *network_take(struct network *n)
{
    if (n->count == 0 || n->heap[0].due_us > n->now_us)
        return NULL;
    n->stats.delivered++;
    return heap_pop(n).datagram;
}

void network_cut_one_way(struct network *n, uint32_t from, uint32_t to, bool cut)
{
    n->cut[(size_t)from * n->config.ports + to] = cut;
}

void network_cut(struct network *n, uint32_t a, uint32_t b, bool cut)
{
    network_cut_one_way(n, a, b, cut);
    network_cut_one_way(n, b, a, cut);
}

void network_isolate(struct network *n, uint32_t port, bool cut)
{
    for (uint32_t other = 0; other < n->config.ports; other++)
        if (other != port)
            network_cut(n, port, other, cut);
}

void network_stats(const struct network *n, struct network_stats *stats)
{
    *stats = n->stats;
}
