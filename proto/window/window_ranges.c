/* window_ranges.c - sorted, disjoint ranges in one array; see window_ranges.h. */
#include "proto/window/window_ranges.h"
#include "proto/wire/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_CAPACITY_MIN 8

void ranges_free(struct ranges *r)
{
    free(r->at);
    *r = (struct ranges){0};
}

bool ranges_reserve(struct ranges *r, size_t count)
{
    return GROW(r->at, r->capacity, count, RANGES_CAPACITY_MIN);
}

size_t ranges_find(const struct ranges *r, uint64_t number)
{
    size_t low = 0, high = r->count;
    if (high == 0 || r->at[high - 1].end <= number)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->at[middle].end > number)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool ranges_contain(const struct ranges *r, uint64_t number)
{
    size_t i = ranges_find(r, number);
    return i < r->count && r->at[i].begin <= number;
}

static void move_from(struct ranges *r, size_t to, size_t from)
{
    memmove(r->at + to, r->at + from, (r->count - from) * sizeof *r->at);
}

/* Replaces the ranges first .. last-1 by one that spans them and begin .. end-1. */
static void merge(struct ranges *r, size_t first, size_t last, uint64_t begin, uint64_t end)
{
    assert(first < last && last <= r->count);
    struct range *low = &r->at[first];
    uint64_t high_end = r->at[last - 1].end;
    low->begin = begin < low->begin ? begin : low->begin;
    low->end = end > high_end ? end : high_end;
    if (last > first + 1) {
        move_from(r, first + 1, last);
        r->count -= last - first - 1;
    }
}

static void insert(struct ranges *r, size_t i, uint64_t begin, uint64_t end)
{
    assert(i <= r->count && r->count < r->capacity && begin < end);
    if (i < r->count)
        move_from(r, i + 1, i);
    r->at[i] = (struct range){begin, end};
    r->count++;
}

bool ranges_add(struct ranges *r, uint64_t begin, uint64_t end)
{
    if (begin >= end)
        return true;
    /* the first range that touches or follows: its end is at least begin */
    size_t first = begin == 0 ? 0 : ranges_find(r, begin - 1);
    size_t last = first;
    while (last < r->count && r->at[last].begin <= end)
        last++;
    if (last > first) {
        merge(r, first, last, begin, end);
        return true;
    }
    if (!ranges_reserve(r, r->count + 1))
        return false;
    insert(r, first, begin, end);
    return true;
}

void ranges_cover(struct ranges *r, uint64_t begin, uint64_t end)
{
    if (ranges_add(r, begin, end))
        return;
    assert(r->count > 0);
    size_t next = ranges_find(r, begin);
    if (next < r->count)
        merge(r, next, next + 1, begin, end);
    else
        merge(r, next - 1, next, begin, end);
}

void ranges_remove(struct ranges *r, uint64_t begin, uint64_t end)
{
    size_t first = ranges_find(r, begin);
    if (begin >= end || first == r->count || r->at[first].begin >= end)
        return;
    if (r->at[first].begin < begin && r->at[first].end > end) {
        /* Takes a hole out of the inside of range i. */
        uint64_t rest_end = r->at[first].end;
        if (ranges_reserve(r, r->count + 1)) {
            r->at[first].end = begin;
            insert(r, first + 1, end, rest_end);
        }
        return;
    }
    if (r->at[first].begin < begin)
        r->at[first++].end = begin;
    size_t last = first;
    while (last < r->count && r->at[last].end <= end)
        last++;
    if (last < r->count && r->at[last].begin < end)
        r->at[last].begin = end;
    if (last > first) {
        if (last < r->count)
            move_from(r, first, last);
        r->count -= last - first;
    }
}

void ranges_remove_below(struct ranges *r, uint64_t number)
{
    if (r->count != 0 && r->at[0].begin < number)
        ranges_remove(r, 0, number);
}
