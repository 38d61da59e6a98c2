/*
 * window_loans.c - see window_loans.h. An array in the order of offsets, which grows by doubling:
 * the bytes of a packet are found by halving it, and its beginning goes as the peer acknowledges.
 */
#include "proto/window/window_loans.h"
#include "proto/wire/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LOANS_CAPACITY_MIN 8u

void loans_free(struct loans *l)
{
    free(l->at);
    *l = (struct loans){0};
}

bool loans_add(struct loans *l, const uint8_t *bytes, uint64_t begin, size_t size)
{
    struct loan *last = l->count > 0 ? &l->at[l->count - 1] : NULL;
    assert(last == NULL || last->end <= begin);
    if (last != NULL && last->end == begin && last->bytes + (last->end - last->begin) == bytes) {
        last->end += size;
        return true;
    }
    if (l->count == LOANS_MAX || !GROW(l->at, l->capacity, l->count + 1, LOANS_CAPACITY_MIN))
        return false;
    l->at[l->count++] = (struct loan){bytes, begin, begin + size};
    return true;
}

/* The first loan that ends behind `offset`; count: none does. */
static unsigned loans_behind(const struct loans *l, uint64_t offset)
{
    unsigned low = 0, high = l->count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (l->at[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void loans_remove_below(struct loans *l, uint64_t offset)
{
    unsigned gone = loans_behind(l, offset);
    if (gone == 0)
        return;
    l->count -= gone;
    memmove(l->at, l->at + gone, l->count * sizeof *l->at);
}

bool loans_find(const struct loans *l, uint64_t offset, uint64_t *end, const uint8_t **bytes)
{
    unsigned i = loans_behind(l, offset);
    if (i == l->count)
        return false;
    const struct loan *loan = &l->at[i];
    bool lent = loan->begin <= offset;
    uint64_t most = lent ? loan->end : loan->begin;
    if (*end > most)
        *end = most;
    if (lent)
        *bytes = loan->bytes + (offset - loan->begin);
    return lent;
}
