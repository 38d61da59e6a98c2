/*
 * tree.c - split-sort-merge: each member sorts what it has; then in each of log2(P) steps the first
 * of two neighbouring groups of ranks merges what the first of the other one has, until rank 0 has
 * all. Groups are ranks in a row and the lower one is on the left of each merge: stable.
 */
#include "lib/domain/sort/run.h"

#include "lib/domain/base/error.h"

#include <stdlib.h>
#include <string.h>

#define TAG_TREE 1

static int send_piece(const struct sort_run *run, const struct sort_piece *piece, int to)
{
    int error = covey_team_send_array(run->team, to, TAG_TREE, run->order->wire_type, piece->base,
                                      piece->n * run->order->wire_count);
    return error < 0 ? run_fail(error) : 0;
}

/* The others' elements come behind the own ones, and both are merged. */
static int take_piece(const struct sort_run *run, struct sort_piece *piece, int from, uint64_t n)
{
    size_t size = run->order->size, received;
    size_t starts[3] = {0, piece->n, piece->n + (size_t)n};
    char *both = run_alloc(run, piece->n + n);
    if (both == NULL)
        return COVEY_ENOMEM;
    memcpy(both, piece->base, piece->n * size);
    int error = covey_team_recv_array(run->team, from, TAG_TREE, COVEY_FOREVER,
                                      run->order->wire_type, both + piece->n * size,
                                      (size_t)n * run->order->wire_count, &received);
    run_free(run, piece->base);
    *piece = (struct sort_piece){both, starts[2]};
    return error < 0 ? run_fail(error) : piece_merge(run, piece, starts, 2);
}

int sort_tree(const struct sort_run *run, struct sort_piece *piece)
{
    int error = piece_sort(run, piece);
    for (int step = 1; error == 0 && step < run->size; step *= 2) {
        int other = run->rank + step;
        if (run->rank % (2 * step) != 0) {
            error = send_piece(run, piece, run->rank - step);
            piece->n = 0;
            break;
        }
        if (other < run->size) {
            int end = other + step < run->size ? other + step : run->size;
            error = take_piece(run, piece, other, run->starts[end] - run->starts[other]);
        }
    }
    return error;
}
