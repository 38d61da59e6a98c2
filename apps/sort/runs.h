/*
 * runs.h - the sort by agenda parallelism (Schmidt & Sunderam, section 4.1): parts of the keys to
 * be sorted, and pairs of sorted runs to be merged, are the items of a bag. Whoever is free does
 * the next one; merges go before parts that are not sorted yet.
 */
#ifndef SORT_RUNS_H
#define SORT_RUNS_H

#include "apps/agenda.h"

#include <stdint.h>

#define RUNS_PER_TASK 2

/* ---- the coordinator's side ---- */

struct run {
    struct run *next; /* one that is not smaller */
    size_t count;
    int64_t keys[];
};

struct runs {
    covey_bag_t *bag;
    int64_t *keys; /* as they are before */
    size_t count;
    struct run *waiting; /* for another to be merged with; in the end, the sorted keys */
    int64_t *item;
};

/* Makes the bag. Takes `keys` over, malloc()ed. 0, or -1 after saying what is wrong. */
int runs_prepare(struct runs *runs, struct crew *crew, int64_t *keys, size_t count);
/* Then runs->waiting has all keys, or is NULL if there are none. */
int runs_sort(struct runs *runs, struct crew *crew);
void runs_free(struct runs *runs);

/* ---- a task's side ---- */

int runs_work(struct worker *worker); /* 0 or an error of the library */

#endif
