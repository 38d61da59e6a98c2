/*
 * bag_queue.c - a heap: the highest priority first, and within one the lowest number.
 */
#include "proto/bag/bag.h"
#include "proto/wire/grow.h"

#include <stdlib.h>

#define QUEUE_FIRST 64

static bool before(const struct bag_rank *a, const struct bag_rank *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->number < b->number;
}

bool bag_queue_add(struct bag_queue *q, int32_t priority, uint64_t number)
{
    const struct bag_rank added = {priority, number};
    if (!GROW(q->heap, q->capacity, q->count + 1, QUEUE_FIRST))
        return false;
    size_t at = q->count++;
    while (at > 0 && before(&added, &q->heap[(at - 1) / 2])) {
        q->heap[at] = q->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    q->heap[at] = added;
    return true;
}

/* Where the entry belongs, from the top on; those above it move up. */
static size_t sink(struct bag_queue *q, const struct bag_rank *entry)
{
    size_t at = 0;
    for (size_t child = 1; child < q->count; child = 2 * at + 1) {
        if (child + 1 < q->count && before(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (!before(&q->heap[child], entry))
            break;
        q->heap[at] = q->heap[child];
        at = child;
    }
    return at;
}

bool bag_queue_first(const struct bag_queue *q, struct bag_rank *first)
{
    if (q->count == 0)
        return false;
    *first = q->heap[0];
    return true;
}

bool bag_queue_take(struct bag_queue *q, struct bag_rank *first)
{
    if (!bag_queue_first(q, first))
        return false;
    const struct bag_rank last = q->heap[--q->count];
    if (q->count > 0)
        q->heap[sink(q, &last)] = last;
    return true;
}

void bag_queue_fini(struct bag_queue *q)
{
    free(q->heap);
    *q = (struct bag_queue){.heap = NULL};
}
