/*
 * probe.h - single elements that stand for many, by which members decide where to cut.
 *
 * Equal elements are told apart by where they are: the rank, and the place in the sorted piece
 * there. So no two elements of the whole are equal, a cut can go between any two, and cuts by it
 * keep the order of ranks among equal elements.
 */
#ifndef COVEY_LIB_DOMAIN_SORT_PROBE_H
#define COVEY_LIB_DOMAIN_SORT_PROBE_H

#include "lib/domain/sort/run.h"

struct sort_probe {
    const void *key;
    uint64_t rank, index;
    uint64_t weight; /* so many elements around it */
};

/* Sorts probes by key, rank and index. */
void probes_sort(const struct sort_run *run, struct sort_probe *probes, size_t n);

/* Of sorted probes the first one with at least `weight` before its own middle; n when there is
 * none.
 */
size_t probes_find(const struct sort_probe *probes, size_t n, uint64_t weight);

/* The place of the j-th of `count` probes of a piece: the middle of its share; and the share. */
size_t probe_place(size_t n, size_t count, size_t j, uint64_t *weight);

/* How many elements of the sorted piece come before the probe. */
size_t piece_cut(const struct sort_run *run, const struct sort_piece *piece,
                 const struct sort_probe *probe);

#endif
