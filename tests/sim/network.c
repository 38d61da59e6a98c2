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

#include "proto/session/fault.h"
#include "proto/wire/splitmix.h"

struct line {
    uint64_t free_ns; /* when it will be idle */
};

struct journey {
    uint64_t due_us, order;
    struct network_datagram *datagram;
};

struct network {
    struct network_config config;
    struct fault fault;
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
    return splitmix_next(state);
}

uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return bound == 0 ? 0 : random_next(state) % bound;
}

bool random_chance(uint64_t *state, uint32_t ppm)
{
    return ppm != 0 && random_below(state, NETWORK_MILLION) < ppm;
}

static struct fault_config fault_of(const struct network_config *c)
{
    return (struct fault_config){.loss_ppm = c->loss_ppm,
                                 .duplicate_ppm = c->duplicate_ppm,
                                 .reorder_ppm = c->reorder_ppm,
                                 .corrupt_ppm = c->corrupt_ppm,
                                 .hold_us = (uint32_t)c->reorder_us,
                                 .seed = c->seed ^ 0x6661756c74u};
}

struct network *network_create(const struct network_config *config)
{
    struct network *n = calloc(1, sizeof *n);
    size_t ports = config->ports;
    if (n == NULL)
        return NULL;
    n->config = *config;
    n->random = config->seed ^ 0x6e6574776f726bu;
    struct fault_config fault = fault_of(config);
    fault_init(&n->fault, &fault);
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
    n->fault.config = fault_of(config);
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

/* A datagram under way, damaged if that is its lot. */
static void launch(struct network *n, uint64_t due_us, const struct network_datagram *head,
                   const uint8_t *bytes, size_t bit)
{
    struct network_datagram *d = malloc(sizeof *d + head->size);
    if (d == NULL)
        abort();
    *d = *head;
    if (d->size != 0)
        memcpy(d->bytes, bytes, d->size);
    if (bit < 8 * d->size)
        d->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    heap_push(n, (struct journey){due_us, n->order++, d});
}

/* When a datagram that came through the lines by at_us is there; later than those before it,
 * unless it is held back and overtaken. */
static uint64_t journey_end(struct network *n, uint64_t at_us, uint64_t *last_us,
                            const struct fault_copy *copy)
{
    uint64_t due = at_us + random_below(&n->random, n->config.jitter_us + 1);
    if (due < *last_us)
        due = *last_us;
    if (!copy->reordered)
        *last_us = due;
    return due + copy->after_us;
}

static bool vanishes(struct network *n, uint32_t from, uint32_t to, size_t size)
{
    const struct network_config *c = &n->config;
    bool cut = n->cut[(size_t)from * c->ports + to];
    bool too_large = c->datagram_bytes != 0 && size > c->datagram_bytes;
    n->stats.cut += cut;
    n->stats.too_large += !cut && too_large;
    return cut || too_large;
}

void network_send(struct network *n, uint32_t from, uint32_t to, const void *bytes, size_t size)
{
    const struct network_config *c = &n->config;
    const struct network_datagram head = {.from = from, .to = to, .size = size};
    struct fault_copy copies[FAULT_COPIES_MAX];
    uint64_t at = n->now_us, *last_us = &n->last_due_us[(size_t)from * c->ports + to];
    n->stats.sent++;
    if (!line_pass(n, &n->out[from], &at, size + c->overhead_bytes)) {
        n->stats.overflowed++;
        return;
    }
    if (vanishes(n, from, to, size))
        return;
    unsigned count = fault_draw(&n->fault, size, copies);
    for (unsigned i = 0; i < count; i++) {
        uint64_t due = at + c->delay_us;
        if (line_pass(n, &n->in[to], &due, size + c->overhead_bytes))
            launch(n, journey_end(n, due, last_us, &copies[i]), &head, bytes, copies[i].bit);
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
    const struct fault_stats *f = &n->fault.stats;
    *stats = n->stats;
    stats->lost = f->lost;
    stats->duplicated = f->duplicated;
    stats->reordered = f->reordered;
    stats->corrupted = f->corrupted;
}
