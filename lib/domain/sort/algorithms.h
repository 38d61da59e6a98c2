/*
 * algorithms.h - the algorithms by name, and their predictions.
 */
#ifndef COVEY_LIB_DOMAIN_SORT_ALGORITHMS_H
#define COVEY_LIB_DOMAIN_SORT_ALGORITHMS_H

#include "lib/domain/base/chooser.h"
#include "lib/domain/sort/cost.h"
#include "lib/domain/sort/run.h"

#define SORT_ALGORITHMS 5

struct sort_algorithm {
    sort_algorithm_fn *run;
    /* To the counts before; NULL: they are already. */
    int (*finish)(const struct sort_run *run, struct sort_piece *piece);
    double (*cost)(const struct sort_cost *cost);
    int is_stable;
};

extern const struct sort_algorithm sort_algorithms[SORT_ALGORITHMS];
extern const char *const sort_names[]; /* in that order, NULL behind the last */

/* Sets a row for each; those that are not stable are refused where that is asked. */
void sort_predict(const struct sort_cost *cost, int is_stable, struct domain_algorithm *rows);

#endif
