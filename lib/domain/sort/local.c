/*
 * local.c - all elements to rank 0, which sorts them. Those of lower ranks stand first before it
 * does, and its sort is stable: so is the whole.
 */
#include "lib/domain/sort/run.h"

#include "lib/domain/base/error.h"

#include <stdlib.h>

static int gather(const struct sort_run *run, struct sort_piece *piece)
{
    const uint64_t *starts = run->starts;
    uint64_t total = run->rank == 0 ? starts[run->size] : 0;
    size_t *counts = calloc((size_t)run->size, sizeof *counts);
    char *base = run_alloc(run, total);
    int error = counts == NULL || base == NULL ? COVEY_ENOMEM : 0;
    for (int i = 0; error == 0 && i < run->size; i++)
        counts[i] = (size_t)(starts[i + 1] - starts[i]) * run->order->wire_count;
    if (error == 0) {
        error = covey_gatherv(run->team, 0, run->order->wire_type, piece->base, counts[run->rank],
                              base, counts, NULL);
        error = error < 0 ? run_fail(error) : 0;
    } else
        domain_fail(error, "sort: no memory to gather %llu elements", (unsigned long long)total);
    free(counts);
    run_free(run, piece->base);
    *piece = (struct sort_piece){base, (size_t)total};
    return error;
}

int sort_local(const struct sort_run *run, struct sort_piece *piece)
{
    int error = run->size > 1 ? gather(run, piece) : 0;
    return error < 0 ? error : piece_sort(run, piece);
}
