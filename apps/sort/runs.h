/*
 * runs.h - the sort by agenda parallelism (Schmidt & Sunderam, section 4.1): parts of the keys to
 * be sorted are the items of a bag, then ranges of keys to be merged, each of the keys of all
 * sorted runs that lie in it. Whoever is free does the next one.
 *
 * All keys go out twice and come back twice. Merged in pairs they would once more for each time
 * that the runs' number halves. The bounds of the ranges are those of a regular sample of each run,
 * so a range has at most twice as many keys as the mean, unless many are equal.
 *
 * The keys go as messages between the coordinator and a task, by the route that suits them. Through
 * the bag they would pass two daemons.
 *
 *   task                                coordinator
 *   RUNS_ASK number             ->
 *                              <-       RUNS_KEYS     how many runs, their sizes, keys
 *
 *   RUNS_SORTED number, keys    ->
 *                              <-       RUNS_TAKEN    now the bag hears that the item is done
 *
 * A part of the keys is one run. The task that dies after it sent its keys, and before the bag
 * heard of it, leaves the item to another, which learns that there is nothing to be done.
 */
#ifndef SORT_RUNS_H
#define SORT_RUNS_H

#include "apps/agenda.h"
#include "apps/outbox.h"
#include "apps/sort/split.h"

#include <stdint.h>

#define RUNS_PER_TASK 2
#define RUNS_DONE (-1) /* instead of the number of runs */
#define RUNS_MAX (1 << 20)

enum runs_tag { RUNS_ASK = SPLIT_TAG_INPUT + 10, RUNS_KEYS, RUNS_SORTED, RUNS_TAKEN };

/* ---- the coordinator's side ---- */

struct runs {
    covey_bag_t *bag;
    int64_t *keys;   /* in the end of the first half, parts that are sorted */
    int64_t *sorted; /* one range after the other; NULL: what is one part needs no merge */
    size_t count;
    int parts;    /* and as many ranges, if there are more than one */
    size_t *cuts; /* by range and part: where it begins; behind the last range, where that ends */
    bool *done;   /* by number: parts, then ranges */
    int put;
    int64_t done_count;
    struct outbox outbox;
};

/* Makes the bag. Takes `keys` over, malloc()ed. 0, or -1 after saying what is wrong. */
int runs_prepare(struct runs *runs, struct crew *crew, int64_t *keys, size_t count);
int runs_sort(struct runs *runs, struct crew *crew);
/* All keys, once they are sorted. */
const int64_t *runs_result(const struct runs *runs);
/* The tasks were released: ends the bag, and what was still to be sent. */
void runs_end(struct runs *runs);
void runs_free(struct runs *runs);

/* ---- a task's side: sorter.c ---- */

int sorter_run(struct worker *worker); /* 0 or an error of the library */

#endif
