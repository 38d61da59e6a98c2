/*
 * window_ranges.h - a set of 64-bit numbers as sorted, disjoint, non-touching ranges: packet
 * numbers seen, stream bytes received, acknowledged or lost. Most work happens at the upper end
 * and takes constant time there.
 */
#ifndef COVEY_PROTO_WINDOW_RANGES_H
#define COVEY_PROTO_WINDOW_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t begin, end; /* begin <= number < end */
};

struct ranges {
    struct range *at;
    size_t count, capacity;
};

void ranges_free(struct ranges *r);

/* Makes room for `count` ranges; false when memory is exhausted. */
bool ranges_reserve(struct ranges *r, size_t count);

/* The first range that ends after `number`; r->count when there is none. */
size_t ranges_find(const struct ranges *r, uint64_t number);
bool ranges_contain(const struct ranges *r, uint64_t number);

/* Adds begin .. end-1. False, and nothing changed, when memory is exhausted. */
bool ranges_add(struct ranges *r, uint64_t begin, uint64_t end);

/* Adds them; without memory it closes the gap to a neighbour and so adds too much. The set must
 * have had room for one range. */
void ranges_cover(struct ranges *r, uint64_t begin, uint64_t end);

/* Takes begin .. end-1 out; without memory to split a range it may leave too much. */
void ranges_remove(struct ranges *r, uint64_t begin, uint64_t end);

/* Takes everything below `number` out. */
void ranges_remove_below(struct ranges *r, uint64_t number);

#endif
