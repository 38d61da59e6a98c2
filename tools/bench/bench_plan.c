/*
 * bench_plan.c - packs and unpacks the plan of a benchmark and the rows of samples that come back.
 * Numbers from a message are checked against their limits, for tasks size their memory by them.
 */
#include "tools/bench/bench_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers that a plan begins with. */
#define SCALARS (13 + BENCH_MORE_ROUTES)
#define SUMS 8 /* of a series */

const char *const bench_calls[] = {"barrier",   "bcast",    "scatter",   "gather",
                                   "allgather", "reduce",   "allreduce", "reduce_scatter",
                                   "scan",      "alltoall", NULL};

int bench_plan_pack(covey_msg_t *msg, const struct bench_plan *plan)
{
    int error = covey_pack_int32(msg, &plan->what, SCALARS, 1);
    if (error == 0)
        error = covey_pack_int64(msg, plan->sizes, (size_t)plan->size_count, 1);
    if (error == 0)
        error = covey_pack_int32(msg, plan->peers, (size_t)plan->peer_count, 1);
    if (error == 0)
        error = covey_pack_string(msg, plan->hosts);
    if (error == 0 && plan->what == BENCH_EXCHANGE) {
        const struct bench_exchange *exchange = &plan->exchange;
        const int32_t numbers[] = {exchange->unequal, exchange->density_count};
        error = covey_pack_int32(msg, numbers, 2, 1);
        if (error == 0)
            error = covey_pack_int32(msg, exchange->densities, (size_t)exchange->density_count, 1);
        if (error == 0)
            error = covey_pack_int64(msg, &exchange->rate_bps, 1, 1);
        if (error == 0)
            error = covey_pack_string(msg, exchange->topology);
    }
    return error;
}

_Static_assert(offsetof(struct bench_plan, sizes) == (SCALARS * sizeof(int32_t) + 7) / 8 * 8,
               "the numbers stand in a row");

static int in_range(int32_t value, int32_t max)
{
    return value >= 0 && value <= max;
}

int bench_plan_unpack(covey_msg_t *msg, struct bench_plan *plan)
{
    int error = covey_unpack_int32(msg, &plan->what, SCALARS, 1);
    if (error != 0)
        return error;
    if (!in_range(plan->size_count, BENCH_SIZES_MAX) ||
        !in_range(plan->peer_count, BENCH_TASKS_MAX) ||
        !in_range(plan->more_count, BENCH_MORE_ROUTES) || !in_range(plan->rounds, BENCH_ROUNDS_MAX))
        return COVEY_EPROTO;
    error = covey_unpack_int64(msg, plan->sizes, (size_t)plan->size_count, 1);
    if (error == 0)
        error = covey_unpack_int32(msg, plan->peers, (size_t)plan->peer_count, 1);
    if (error == 0)
        error = covey_unpack_string(msg, plan->hosts, sizeof plan->hosts);
    if (error == 0 && plan->what == BENCH_EXCHANGE) {
        struct bench_exchange *exchange = &plan->exchange;
        int32_t numbers[2];
        error = covey_unpack_int32(msg, numbers, 2, 1);
        if (error == 0 && !in_range(numbers[1], BENCH_DENSITIES_MAX))
            error = COVEY_EPROTO;
        if (error == 0) {
            exchange->unequal = numbers[0];
            exchange->density_count = numbers[1];
            error = covey_unpack_int32(msg, exchange->densities, (size_t)numbers[1], 1);
            if (error == 0)
                error = covey_unpack_int64(msg, &exchange->rate_bps, 1, 1);
            if (error == 0)
                error = covey_unpack_string(msg, exchange->topology, sizeof exchange->topology);
        }
    }
    return error;
}

size_t bench_plan_largest(const struct bench_plan *plan)
{
    int64_t largest = 1;
    for (int i = 0; i < plan->size_count; i++)
        largest = largest < plan->sizes[i] ? plan->sizes[i] : largest;
    return (size_t)largest;
}

_Static_assert(offsetof(struct bench_series, spread) - offsetof(struct bench_series, task_cpu_s) ==
                   (SUMS - 1) * sizeof(double),
               "the sums stand in a row");

static int series_pack(covey_msg_t *msg, const struct bench_series *series)
{
    int error = covey_pack_string(msg, series->name);
    if (error == 0)
        error = covey_pack_int32(msg, &series->rounds, 1, 1);
    if (error == 0)
        error = covey_pack_double(msg, &series->task_cpu_s, SUMS, 1);
    if (error == 0)
        error = covey_pack_double(msg, series->us, (size_t)series->rounds, 1);
    return error;
}

int bench_row_pack(covey_msg_t *msg, const struct bench_row *row)
{
    int error = covey_pack_string(msg, row->label);
    if (error == 0)
        error = covey_pack_int64(msg, &row->bytes, 1, 1);
    if (error == 0)
        error = covey_pack_double(msg, &row->bound_bytes, 1, 1);
    if (error == 0)
        error = covey_pack_int32(msg, &row->series_count, 1, 1);
    for (int i = 0; error == 0 && i < row->series_count; i++)
        error = series_pack(msg, &row->series[i]);
    return error;
}

static int series_unpack(covey_msg_t *msg, struct bench_series *series)
{
    int error = covey_unpack_string(msg, series->name, sizeof series->name);
    if (error == 0)
        error = covey_unpack_int32(msg, &series->rounds, 1, 1);
    if (error == 0)
        error = covey_unpack_double(msg, &series->task_cpu_s, SUMS, 1);
    if (error != 0)
        return error;
    if (series->rounds < 1 || series->rounds > BENCH_ROUNDS_MAX)
        return COVEY_EPROTO;
    series->us = calloc((size_t)series->rounds, sizeof *series->us);
    if (!series->us)
        return COVEY_ENOMEM;
    return covey_unpack_double(msg, series->us, (size_t)series->rounds, 1);
}

int bench_row_unpack(covey_msg_t *msg, struct bench_row *row)
{
    memset(row, 0, sizeof *row);
    int error = covey_unpack_string(msg, row->label, sizeof row->label);
    if (error == 0)
        error = covey_unpack_int64(msg, &row->bytes, 1, 1);
    if (error == 0)
        error = covey_unpack_double(msg, &row->bound_bytes, 1, 1);
    if (error == 0)
        error = covey_unpack_int32(msg, &row->series_count, 1, 1);
    if (error == 0 && (row->series_count < 1 || row->series_count > BENCH_SERIES_MAX))
        error = COVEY_EPROTO;
    if (error != 0)
        row->series_count = 0;
    for (int i = 0; error == 0 && i < row->series_count; i++)
        error = series_unpack(msg, &row->series[i]);
    return error;
}

struct bench_series *bench_row_add(struct bench_row *row, const char *name, int32_t rounds)
{
    struct bench_series *series = &row->series[row->series_count++];
    snprintf(series->name, sizeof series->name, "%s", name);
    series->rounds = rounds;
    series->us = calloc((size_t)rounds, sizeof *series->us);
    return series->us ? series : NULL;
}

void bench_row_free(struct bench_row *row)
{
    for (int i = 0; i < BENCH_SERIES_MAX; i++)
        free(row->series[i].us);
    memset(row, 0, sizeof *row);
}
