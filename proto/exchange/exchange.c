/*
 * exchange.c - orders of a sparse exchange: what is common to all, and the two that are formulas.
 * The others:
 *
 *   exchange_random   RS_N and RS_NL
 *   exchange_colour   edge colouring
 *   exchange_longest  starts by simulation
 */
#include "proto/exchange/exchange.h"

#include <stdbool.h>
#include <stdlib.h>

#include "proto/exchange/exchange_part.h"

/* ---- Rows -------------------------------------------------------------------------------- */

static int rank_of(const struct exchange_message *m, int receivers)
{
    return receivers ? m->to : m->from;
}

int exchange_rows_create(struct exchange_rows *rows, const struct exchange *x, int receivers)
{
    rows->first = calloc((size_t)x->ranks + 2, sizeof *rows->first);
    rows->list = calloc(x->count + 1, sizeof *rows->list);
    if (rows->first == NULL || rows->list == NULL)
        return -1;
    /* counted two places on, summed, and moved to where each row begins while the list is filled */
    for (size_t i = 0; i < x->count; i++)
        rows->first[rank_of(&x->messages[i], receivers) + 2]++;
    for (int r = 2; r <= x->ranks; r++)
        rows->first[r] += rows->first[r - 1];
    for (uint32_t i = 0; i < x->count; i++)
        rows->list[rows->first[rank_of(&x->messages[i], receivers) + 1]++] = i;
    return 0;
}

void exchange_rows_destroy(struct exchange_rows *rows)
{
    free(rows->first);
    free(rows->list);
}

/* ---- Bounds ------------------------------------------------------------------------------ */

uint32_t exchange_density(const struct exchange *exchange)
{
    uint32_t *counts = calloc(2 * (size_t)exchange->ranks + 1, sizeof *counts), most = 0;

    for (size_t i = 0; counts != NULL && i < exchange->count; i++) {
        const struct exchange_message *m = &exchange->messages[i];
        uint32_t sent = ++counts[2 * m->from], received = ++counts[2 * m->to + 1];
        most = sent > most ? sent : most;
        most = received > most ? received : most;
    }
    free(counts);
    return most;
}

static double most_of(const double *sums, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = sums[i] > most ? sums[i] : most;
    return most;
}

static double bound_of_ranks(const struct exchange *x)
{
    double *sums = calloc(2 * (size_t)x->ranks + 1, sizeof *sums), most = 0;

    for (size_t i = 0; sums != NULL && i < x->count; i++) {
        sums[2 * x->messages[i].from] += (double)x->messages[i].bytes;
        sums[2 * x->messages[i].to + 1] += (double)x->messages[i].bytes;
    }
    if (sums != NULL)
        most = most_of(sums, 2 * (size_t)x->ranks);
    free(sums);
    return most;
}

/* Of all links, or of the first and the last one of each way. */
static double bound_of_links(const struct exchange *x, const struct network *n, bool inner)
{
    size_t edges = 2 * (size_t)n->node_count;
    double *sums = calloc(edges + 1, sizeof *sums), most = 0;
    double slowest = (double)network_slowest(n);
    int *path = calloc((size_t)n->path_max + 1, sizeof *path);

    for (size_t i = 0; sums != NULL && path != NULL && i < x->count; i++) {
        const struct exchange_message *m = &x->messages[i];
        int length = network_path(n, m->from, m->to, path);
        for (int k = 0; k < length; k += inner || length == 1 ? 1 : length - 1)
            sums[path[k]] += (double)m->bytes * slowest / (double)network_rate(n, (size_t)path[k]);
    }
    if (sums != NULL && path != NULL)
        most = most_of(sums, edges);
    free(sums);
    free(path);
    return most;
}

double exchange_bound(const struct exchange *exchange, const struct network *network)
{
    return network != NULL ? bound_of_links(exchange, network, true) : bound_of_ranks(exchange);
}

double exchange_bound_of_ports(const struct exchange *exchange, const struct network *network)
{
    return bound_of_links(exchange, network, false);
}

/* ---- AC, LP ------------------------------------------------------------------------------ */

static int fill_linear(struct exchange *x)
{
    uint32_t ranks = (uint32_t)x->ranks;
    bool power = ranks > 0 && (ranks & (ranks - 1)) == 0;

    for (size_t i = 0; i < x->count; i++) {
        struct exchange_message *m = &x->messages[i];
        m->phase = (power ? m->from ^ m->to : (m->to + ranks - m->from) % ranks) - 1;
    }
    x->phases = ranks > 0 ? ranks - 1 : 0;
    return 0;
}

/* ---- All --------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct exchange_message *m = a, *n = b;
    if (m->phase != n->phase)
        return m->phase < n->phase ? -1 : 1;
    if (m->start != n->start)
        return m->start < n->start ? -1 : 1;
    if (m->from != n->from)
        return m->from - n->from;
    return m->to - n->to;
}

static int exchange_fill(struct exchange *x, enum exchange_algorithm algorithm,
                         const struct network *network, uint64_t seed)
{
    switch (algorithm) {
    case EXCHANGE_LP:
        return fill_linear(x);
    case EXCHANGE_RS_N:
        return exchange_random_fill(x, NULL, seed);
    case EXCHANGE_RS_NL:
        return exchange_random_fill(x, network, seed);
    case EXCHANGE_COLOUR:
        return exchange_colour_fill(x);
    case EXCHANGE_LONGEST:
        return exchange_longest_fill(x, network);
    default:
        x->phases = x->count > 0;
        return 0;
    }
}

int exchange_schedule(struct exchange *exchange, enum exchange_algorithm algorithm,
                      const struct network *network, uint64_t seed)
{
    exchange->phases = 0;
    exchange->end = 0;
    for (size_t i = 0; i < exchange->count; i++)
        exchange->messages[i].start = exchange->messages[i].end = exchange->messages[i].phase = 0;
    int failed = exchange_fill(exchange, algorithm, network, seed);
    if (!failed && exchange->count > 0)
        qsort(exchange->messages, exchange->count, sizeof *exchange->messages, by_time);
    return failed;
}
