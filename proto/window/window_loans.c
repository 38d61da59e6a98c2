/*
 * window_loans.c - see window_loans.h. They are few: all are looked at.
 */
#include "proto/window/window_loans.h"

#include <string.h>

bool loans_add(struct loans *l, const uint8_t *bytes, uint64_t begin, size_t size)
{
    struct loan *last = l->count > 0 ? &l->at[l->count - 1] : NULL;
    if (last != NULL && last->end == begin && last->bytes + (last->end - last->begin) == bytes) {
        last->end += size;
        return true;
    }
    if (l->count == LOANS_MAX)
        return false;
    l->at[l->count++] = (struct loan){bytes, begin, begin + size};
    return true;
}

void loans_remove_below(struct loans *l, uint64_t offset)
{
    unsigned gone = 0;
    while (gone < l->count && l->at[gone].end <= offset)
        gone++;
    l->count -= gone;
    memmove(l->at, l->at + gone, l->count * sizeof *l->at);
}

bool loans_find(const struct loans *l, uint64_t offset, uint64_t *end, const uint8_t **bytes)
{
    const struct loan *loan = l->at;
    while (loan < l->at + l->count && loan->end <= offset)
        loan++;
    if (loan == l->at + l->count)
        return false;
    bool lent = loan->begin <= offset;
    uint64_t most = lent ? loan->end : loan->begin;
    if (*end > most)
        *end = most;
    if (lent)
        *bytes = loan->bytes + (offset - loan->begin);
    return lent;
}
