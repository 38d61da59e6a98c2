/*
 * run.c - what the algorithms have in common: memory, sorting and merging here, and the messages
 * that move sorted pieces.
 */
#include "lib/domain/sort/run.h"

#include "lib/domain/base/error.h"

#include <stdlib.h>
#include <string.h>

void *run_alloc(const struct sort_run *run, uint64_t n)
{
    void *memory = NULL;
    if (n <= PTRDIFF_MAX / run->order->size)
        memory = memory_take(run->memory, (size_t)n * run->order->size + 1);
    if (memory == NULL)
        domain_fail(COVEY_ENOMEM, "sort: no memory for %llu elements of %zu bytes",
                    (unsigned long long)n, run->order->size);
    return memory;
}

void run_free(const struct sort_run *run, void *memory)
{
    memory_give(run->memory, memory);
}

int run_fail(int error)
{
    return domain_fail_of(error, "sort");
}

static void piece_replace(const struct sort_run *run, struct sort_piece *piece, char *base,
                          size_t n)
{
    run_free(run, piece->base);
    *piece = (struct sort_piece){base, n};
}

int piece_sort(const struct sort_run *run, struct sort_piece *piece)
{
    void *scratch = run_alloc(run, piece->n);
    if (scratch == NULL)
        return COVEY_ENOMEM;
    run->order->kernel->sort(run->order, piece->base, piece->n, scratch);
    run_free(run, scratch);
    return 0;
}

/* Merges neighbours, two at a time; an odd last one is copied. Returns how many are left. */
static int merge_neighbours(const struct sort_order *order, const char *from, char *to,
                            size_t *starts, int count)
{
    int left = 0;
    for (int i = 0; i < count; i += 2) {
        size_t begin = starts[i], middle = starts[i + 1];
        size_t end = i + 1 < count ? starts[i + 2] : middle;
        order->kernel->merge(order, from + begin * order->size, middle - begin,
                             from + middle * order->size, end - middle, to + begin * order->size);
        starts[left++] = begin;
        starts[left] = end;
    }
    return left;
}

int piece_merge(const struct sort_run *run, struct sort_piece *piece, size_t *starts, int count)
{
    char *other = run_alloc(run, piece->n);
    if (other == NULL)
        return COVEY_ENOMEM;
    while (count > 1) {
        char *merged = other;
        count = merge_neighbours(run->order, piece->base, merged, starts, count);
        other = piece->base;
        piece->base = merged;
    }
    run_free(run, other);
    return 0;
}

/* ---- all to all ---- */

/* What each member sends and receives, in elements of the wire; from begins in elements. */
struct flows {
    size_t *send_counts, *send_starts, *recv_counts, *recv_starts, *starts;
    uint64_t *out, *in;
};

static void flows_free(struct flows *flows)
{
    free(flows->send_counts);
    free(flows->out);
}

static int flows_init(struct flows *flows, int size)
{
    size_t members = (size_t)size;
    size_t *memory = calloc(5 * members + 1, sizeof *memory);
    uint64_t *counts = calloc(2 * members, sizeof *counts);
    *flows = (struct flows){.send_counts = memory, .out = counts};
    if (memory == NULL || counts == NULL) {
        flows_free(flows);
        domain_fail(COVEY_ENOMEM, "sort: no memory for the counts of %d members", size);
        return COVEY_ENOMEM;
    }
    flows->send_starts = memory + members;
    flows->recv_counts = memory + 2 * members;
    flows->recv_starts = memory + 3 * members;
    flows->starts = memory + 4 * members;
    flows->in = counts + members;
    return 0;
}

/* Members tell each other how much comes. */
static int flows_learn(const struct sort_run *run, struct flows *flows, const size_t *cuts)
{
    size_t wire = run->order->wire_count;
    for (int i = 0; i < run->size; i++) {
        flows->out[i] = cuts[i + 1] - cuts[i];
        flows->send_counts[i] = (cuts[i + 1] - cuts[i]) * wire;
        flows->send_starts[i] = cuts[i] * wire;
    }
    int error = covey_alltoall(run->team, COVEY_UINT64, flows->out, flows->in, 1);
    if (error < 0)
        return run_fail(error);
    for (int i = 0; i < run->size; i++) {
        flows->starts[i + 1] = flows->starts[i] + (size_t)flows->in[i];
        flows->recv_counts[i] = (size_t)flows->in[i] * wire;
        flows->recv_starts[i] = flows->starts[i] * wire;
    }
    return 0;
}

static int flows_run(const struct sort_run *run, struct flows *flows, struct sort_piece *piece)
{
    char *base = run_alloc(run, flows->starts[run->size]);
    if (base == NULL)
        return COVEY_ENOMEM;
    int error = covey_alltoallv(run->team, run->order->wire_type, piece->base, flows->send_counts,
                                flows->send_starts, base, flows->recv_counts, flows->recv_starts);
    piece_replace(run, piece, base, flows->starts[run->size]);
    return error < 0 ? run_fail(error) : 0;
}

int piece_exchange(const struct sort_run *run, struct sort_piece *piece, const size_t *cuts)
{
    struct flows flows;
    int error = flows_init(&flows, run->size);
    if (error < 0)
        return error;
    error = flows_learn(run, &flows, cuts);
    if (error == 0)
        error = flows_run(run, &flows, piece);
    if (error == 0)
        error = piece_merge(run, piece, flows.starts, run->size);
    flows_free(&flows);
    return error;
}

/* ---- from one to all ---- */

int piece_scatter(const struct sort_run *run, struct sort_piece *piece)
{
    const uint64_t *targets = run->targets;
    uint64_t mine = targets[run->rank + 1] - targets[run->rank];
    size_t *counts = calloc((size_t)run->size, sizeof *counts);
    char *base = run_alloc(run, mine);
    int error = counts == NULL || base == NULL ? COVEY_ENOMEM : 0;
    for (int i = 0; error == 0 && i < run->size; i++)
        counts[i] = (size_t)(targets[i + 1] - targets[i]) * run->order->wire_count;
    if (error == 0) {
        error = covey_scatterv(run->team, 0, run->order->wire_type, piece->base, counts, NULL, base,
                               counts[run->rank]);
        error = error < 0 ? run_fail(error) : 0;
    } else
        domain_fail(error, "sort: no memory for the result");
    free(counts);
    piece_replace(run, piece, base, (size_t)mine);
    return error;
}
