/*
 * algorithms.c - the table of algorithms; a new one is a row.
 */
#include "lib/domain/sort/algorithms.h"

const struct sort_algorithm sort_algorithms[SORT_ALGORITHMS] = {
    {sort_local, piece_scatter, cost_local, 1},
    {sort_tree, piece_scatter, cost_tree, 1},
    {sort_sample, piece_shift, cost_sample, 1},
    {sort_histogram, NULL, cost_histogram, 1}, /* with exact counts */
    {sort_hypercube, piece_shift, cost_hypercube, 0},
};

const char *const sort_names[] = {"local", "tree", "sample", "histogram", "hypercube", NULL};

void sort_predict(const struct sort_cost *cost, int is_stable, struct domain_algorithm *rows)
{
    for (int i = 0; i < SORT_ALGORITHMS; i++) {
        int is_refused = is_stable && !sort_algorithms[i].is_stable;
        rows[i] = (struct domain_algorithm){.name = sort_names[i],
                                            .refusal = is_refused ? "it is not stable" : NULL,
                                            .seconds = sort_algorithms[i].cost(cost)};
    }
}
