/*
 * trace_match.c - which send is which receive: messages of a pair of tasks have numbers, of which a
 * record has the lowest 24 bits. In the order of time the numbers of a pair grow, so that the rest
 * of each is known.
 */
#include <stdlib.h>

#include "tools/trace/trace.h"

#define BITS 24

struct end {
    uint32_t from, to; /* tids */
    uint64_t number;
    uint64_t at_ns;
    uint32_t event;
    bool receives;
};

static int by_pair_and_time(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->receives != y->receives)
        return x->receives ? 1 : -1;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int by_number(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->receives < y->receives ? -1 : x->receives > y->receives;
}

/* The nearest number to `near` with those lowest bits. */
static uint64_t widen(uint64_t near, uint64_t low)
{
    const uint64_t whole = (uint64_t)1 << BITS;
    uint64_t up = (low - near) & (whole - 1);
    return up < whole / 2 || near + up < whole ? near + up : near + up - whole;
}

static bool same_side(const struct end *a, const struct end *b)
{
    return a->from == b->from && a->to == b->to && a->receives == b->receives;
}

bool trace_match(struct trace *trace)
{
    size_t count = 0;
    struct end *ends = malloc((trace->event_count + 1) * sizeof *ends);
    if (ends == NULL)
        return false;
    for (size_t i = 0; i < trace->event_count; i++) {
        struct trace_event *e = &trace->events[i];
        uint32_t self = trace->tasks[e->task].tid;
        e->match = TRACE_NONE;
        if (trace_is_send(e))
            ends[count++] =
                (struct end){self, e->peer, e->sequence, e->begin_ns, (uint32_t)i, false};
        if (trace_is_receive(e))
            ends[count++] = (struct end){e->peer, self, e->sequence, e->end_ns, (uint32_t)i, true};
    }
    qsort(ends, count, sizeof *ends, by_pair_and_time);
    for (size_t i = 1; i < count; i++)
        if (same_side(&ends[i - 1], &ends[i]))
            ends[i].number = widen(ends[i - 1].number, ends[i].number);
    qsort(ends, count, sizeof *ends, by_number);
    for (size_t i = 0; i + 1 < count; i++) {
        const struct end *a = &ends[i], *b = &ends[i + 1];
        if (a->from != b->from || a->to != b->to || a->number != b->number || a->receives ||
            !b->receives)
            continue;
        trace->events[a->event].match = b->event;
        trace->events[b->event].match = a->event;
    }
    free(ends);
    return true;
}
