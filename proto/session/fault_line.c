/*
 * fault_line.c - the datagrams that wait stand in a heap, ordered by the time at which they are due
 * and, for equal times, by the order in which they came. What waits is bounded: beyond that a
 * datagram is lost and counted, as in a switch whose memory is full.
 */
#include "proto/session/fault_line.h"

#include <stdlib.h>
#include <string.h>

#include "proto/wire/counters.h"
#include "proto/wire/grow.h"

#define WAITING_MAX 65536
#define WAITING_BYTES_MAX (64u << 20)

struct waiting {
    uint64_t due_us, order;
    struct address to;
    size_t size;
    uint8_t bytes[];
};

struct fault_line {
    struct fault fault;
    fault_line_out *out;
    void *context;
    struct waiting **heap;
    size_t count, capacity, bytes;
    uint64_t order, overflowed;
};

struct fault_line *fault_line_create(const struct fault_config *config, fault_line_out *out,
                                     void *context)
{
    struct fault_line *line = calloc(1, sizeof *line);

    if (line == NULL)
        return NULL;
    fault_init(&line->fault, config);
    line->out = out;
    line->context = context;
    return line;
}

void fault_line_destroy(struct fault_line *line)
{
    if (line == NULL)
        return;
    for (size_t i = 0; i < line->count; i++)
        free(line->heap[i]);
    free(line->heap);
    free(line);
}

/* ---- the heap ---- */

static bool is_earlier(const struct waiting *a, const struct waiting *b)
{
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->order < b->order;
}

static struct waiting *heap_pop(struct fault_line *line)
{
    struct waiting *top = line->heap[0], *last = line->heap[--line->count];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < line->count) {
        child += child + 1 < line->count && is_earlier(line->heap[child + 1], line->heap[child]);
        if (!is_earlier(line->heap[child], last))
            break;
        line->heap[i] = line->heap[child];
        i = child;
    }
    line->heap[i] = last;
    return top;
}

/* ---- in and out ---- */

static struct waiting *copy_of(const struct address *to, const uint8_t *bytes, size_t size)
{
    struct waiting *w = malloc(sizeof *w + size);

    if (w == NULL)
        return NULL;
    w->to = *to;
    w->size = size;
    memcpy(w->bytes, bytes, size);
    return w;
}

static void let_out(struct fault_line *line, struct waiting *w)
{
    line->out(line->context, &w->to, w->bytes, w->size);
    free(w);
}

static void hold(struct fault_line *line, struct waiting *w, uint64_t due_us)
{
    if (line->bytes + w->size > WAITING_BYTES_MAX || line->count == WAITING_MAX ||
        !GROW(line->heap, line->capacity, line->count + 1, 64)) {
        line->overflowed++;
        free(w);
        return;
    }
    w->due_us = due_us;
    w->order = line->order++;
    line->bytes += w->size;
    size_t i = line->count++;

    for (; i > 0 && is_earlier(w, line->heap[(i - 1) / 2]); i = (i - 1) / 2)
        line->heap[i] = line->heap[(i - 1) / 2];
    line->heap[i] = w;
}

void fault_line_put(struct fault_line *line, const struct address *to, const uint8_t *bytes,
                    size_t size, uint64_t after_us, uint64_t now_us)
{
    struct fault_copy copies[FAULT_COPIES_MAX];
    unsigned count = size == 0 ? 0 : fault_draw(&line->fault, size, copies);

    for (unsigned i = 0; i < count; i++) {
        struct waiting *w = NULL;

        copies[i].after_us += after_us;
        if (copies[i].after_us == 0 && copies[i].bit == FAULT_INTACT)
            line->out(line->context, to, bytes, size);
        else
            w = copy_of(to, bytes, size);
        if (w != NULL) {
            const struct fault_copy *copy = &copies[i];
            if (copy->bit != FAULT_INTACT)
                w->bytes[copy->bit / 8] ^= (uint8_t)(1u << copy->bit % 8);
            if (copy->after_us == 0)
                let_out(line, w);
            else
                hold(line, w, now_us + copy->after_us);
        }
    }
}

uint64_t fault_line_step(struct fault_line *line, uint64_t now_us)
{
    while (line->count > 0 && line->heap[0]->due_us <= now_us) {
        struct waiting *w = heap_pop(line);

        line->bytes -= w->size;
        let_out(line, w);
    }
    return line->count > 0 ? line->heap[0]->due_us : UINT64_MAX;
}

const char *fault_line_stat(const struct fault_line *line, size_t i, uint64_t *value)
{
    const struct fault_stats *s = &line->fault.stats;
    const struct counter stats[] = {
        {"fault.lost", s->lost},           {"fault.duplicated", s->duplicated},
        {"fault.reordered", s->reordered}, {"fault.corrupted", s->corrupted},
        {"fault.waiting", line->count},    {"fault.overflowed", line->overflowed},
    };
    return counter_get(stats, sizeof stats / sizeof stats[0], i, value);
}
