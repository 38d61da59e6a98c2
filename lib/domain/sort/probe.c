/*
 * probe.c - the order of probes, and cuts by them.
 */
#include "lib/domain/sort/probe.h"

#include <stdlib.h>

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int probe_compare(const void *left, const void *right, void *context)
{
    const struct sort_probe *a = left, *b = right;
    const struct sort_order *order = context;
    int sign = order->kernel->compare(order, a->key, b->key);
    if (sign == 0)
        sign = by_number(a->rank, b->rank);
    return sign != 0 ? sign : by_number(a->index, b->index);
}

void probes_sort(const struct sort_run *run, struct sort_probe *probes, size_t n)
{
    struct sort_order order = *run->order;
    qsort_r(probes, n, sizeof *probes, probe_compare, &order);
}

size_t probes_find(const struct sort_probe *probes, size_t n, uint64_t weight)
{
    uint64_t before = 0;
    for (size_t i = 0; i < n; i++) {
        if (before + probes[i].weight / 2 >= weight)
            return i;
        before += probes[i].weight;
    }
    return n;
}

/* j * n / count without an overflow */
static size_t share(size_t n, size_t count, size_t j)
{
    return n / count * j + n % count * j / count;
}

size_t probe_place(size_t n, size_t count, size_t j, uint64_t *weight)
{
    size_t begin = share(n, count, j), end = share(n, count, j + 1);
    *weight = end - begin;
    return begin + (end - begin) / 2;
}

size_t piece_cut(const struct sort_run *run, const struct sort_piece *piece,
                 const struct sort_probe *probe)
{
    const struct sort_order *order = run->order;
    uint64_t rank = (uint64_t)run->rank;
    if (rank > probe->rank)
        return order->kernel->bound(order, piece->base, piece->n, probe->key, 0);
    return rank == probe->rank ? (size_t)probe->index
                               : order->kernel->bound(order, piece->base, piece->n, probe->key, 1);
}
