/*
 * run.h - one sort under way: what all members know of it, and this member's elements.
 */
#ifndef COVEY_LIB_DOMAIN_SORT_RUN_H
#define COVEY_LIB_DOMAIN_SORT_RUN_H

#include "lib/domain/sort/cost.h"
#include "lib/domain/sort/memory.h"
#include "lib/domain/sort/order.h"

struct sort_run {
    covey_team_t *team;
    const struct sort_order *order;
    struct sort_memory *memory;
    int rank, size;
    uint64_t
        *starts; /* size + 1: of the elements as they came, those of rank i begin at starts[i] */
    uint64_t *targets;         /* the same of the result, where the algorithm can decide it */
    struct sort_probes probes; /* of histogram sort */
};

/* The elements of this member, in memory of the piece. */
struct sort_piece {
    char *base;
    size_t n;
};

/* An algorithm takes the pieces as they came and leaves each member's part of the result, in the
 * order of ranks. On an error it has set the text; the caller breaks the team and frees the piece.
 */
typedef int sort_algorithm_fn(const struct sort_run *run, struct sort_piece *piece);

sort_algorithm_fn sort_local, sort_tree, sort_sample, sort_histogram, sort_hypercube;

/* Memory for n elements, at least one byte, for run_free(); NULL and the text set when there is
 * none. */
void *run_alloc(const struct sort_run *run, uint64_t n);
void run_free(const struct sort_run *run, void *memory);

/* An error of libcovey, with a text that begins with "sort: ". */
int run_fail(int error);

/* Sorts the piece in place. Errors: ENOMEM. */
int piece_sort(const struct sort_run *run, struct sort_piece *piece);

/* Merges `count` sorted arrays that follow one another in the piece, of which the i-th begins at
 * element starts[i] (count + 1 of them; they are overwritten). Errors: ENOMEM. */
int piece_merge(const struct sort_run *run, struct sort_piece *piece, size_t *starts, int count);

/* Sends of the sorted piece the elements cuts[i] .. cuts[i+1]-1 to rank i (size + 1 cuts), and
 * merges those that come. A collective call. */
int piece_exchange(const struct sort_run *run, struct sort_piece *piece, const size_t *cuts);

/* Moves elements between members so that rank i has targets[i+1] - targets[i] of them; their order
 * stays. A collective call. */
int piece_shift(const struct sort_run *run, struct sort_piece *piece);

/* From rank 0 to each member its part of the result by run->targets; the others' pieces are freed
 * before. A collective call. */
int piece_scatter(const struct sort_run *run, struct sort_piece *piece);

#endif
