/* window_sent.c - see window_sent.h. */
#include "proto/window/window_sent.h"

#include <assert.h>
#include <stdlib.h>

#define SENT_CAPACITY_MIN 16

void sent_free(struct sent_ring *r)
{
    free(r->at);
    *r = (struct sent_ring){0};
}

bool sent_reserve(struct sent_ring *r)
{
    uint64_t count = r->next - r->first;
    struct sent_ring grown = *r;
    if (count < r->capacity)
        return true;
    if (count >= SENT_RECORDS_MAX)
        return false;
    grown.capacity = r->capacity == 0 ? SENT_CAPACITY_MIN : 2 * r->capacity;
    grown.at = malloc(grown.capacity * sizeof *grown.at);
    if (grown.at == NULL)
        return false;
    for (uint64_t p = r->first; p < r->next; p++)
        *sent_at(&grown, p) = *sent_at(r, p);
    free(r->at);
    *r = grown;
    return true;
}

void sent_push(struct sent_ring *r, const struct sent *record)
{
    assert(r->next - r->first < r->capacity);
    assert(r->next == r->first || sent_at(r, r->next - 1)->number < record->number);
    *sent_at(r, r->next++) = *record;
}

uint64_t sent_find(const struct sent_ring *r, uint64_t number)
{
    if (r->first == r->next || sent_at(r, r->first)->number > number)
        return r->first;
    uint64_t last = r->next - 1;
    uint64_t last_number = sent_at(r, last)->number;
    if (number >= last_number)
        return r->next;
    /* numbers without gaps lead straight to it; with gaps it lies behind that place */
    uint64_t back = last_number - number;
    uint64_t guess = back < last - r->first ? last - back : r->first;
    if (sent_at(r, guess)->number == number)
        return guess + 1;
    /* Between low and high (positions), when numbers have gaps. */
    while (guess < last) {
        uint64_t middle = guess + (last - guess) / 2;
        if (sent_at(r, middle)->number > number)
            last = middle;
        else
            guess = middle + 1;
    }
    return guess;
}
