/*
 * Broadcasts: one message to all peers by Covey's multicast, beside the same message to one peer
 * alone and beside as many unicasts over tcp, each until whoever got it has confirmed it. The three
 * take turns within a round, so that they meet the same machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/tasks/clock.h"
#include "tools/bench/tasks/party.h"

enum way { WAY_ALL, WAY_ONE, WAY_TCP, WAYS };
enum { COUNT_MAX = 1000, TRIALS = 3 };

static const char *const names[WAYS] = {"covey", "one", "tcp-each"};

static int32_t receivers(const struct party *party, enum way way)
{
    return way == WAY_ONE ? 1 : party->plan.peer_count;
}

static int send_once(struct party *party, enum way way, size_t size)
{
    int32_t count = receivers(party, way);
    int error = wire_send_all(&party->wire, party->plan.peers, (size_t)count, size);
    if (error)
        return party_fail_vm(party, "sending", error);
    for (int32_t i = 0; i < count; i++) {
        if (party_in(party, RAW_NONE, party->plan.peers[i], 1) != 0)
            return -1;
    }
    return 0;
}

/* The first is not counted: the route may change. */
static int sample_bcast(struct party *party, enum way way, size_t size, int64_t count, double *us)
{
    int route = way == WAY_TCP ? COVEY_ROUTE_TCP : party->plan.route;
    int error = covey_set_route(party->vm, COVEY_ANY_TASK, route);
    if (error)
        return party_fail_vm(party, "the route", error);
    const struct order order = {.what = ORDER_MCAST, .bytes = (int64_t)size, .count = count + 1};
    if (party_tell(party, &order, receivers(party, way)) != 0 || send_once(party, way, size) != 0)
        return -1;
    uint64_t start_ns = clock_ns();
    for (int64_t i = 0; i < count; i++) {
        if (send_once(party, way, size) != 0)
            return -1;
    }
    *us = (double)(clock_ns() - start_ns) / 1e3 / (double)count;
    return 0;
}

static int calibrate_bcast(struct party *party, enum way way, size_t size, int64_t *count)
{
    *count = 1;
    for (int i = 0; i < TRIALS; i++) {
        double us = 0;
        if (sample_bcast(party, way, size, *count, &us) != 0)
            return -1;
        double wanted = party->plan.batch_us / (us + 0.01);
        *count = wanted < 1 ? 1 : wanted > COUNT_MAX ? COUNT_MAX : (int64_t)wanted;
    }
    return 0;
}

static int measure_bcast(struct party *party, struct bench_row *row)
{
    int64_t counts[WAYS];
    size_t size = (size_t)row->bytes;
    for (int way = 0; way < WAYS; way++) {
        if (!party_add_series(party, row, names[way]))
            return -1;
    }
    for (int way = 0; way < WAYS; way++) {
        if (calibrate_bcast(party, (enum way)way, size, &counts[way]) != 0)
            return -1;
    }
    for (int i = 0; i < party->plan.rounds; i++) {
        for (int way = 0; way < WAYS; way++) {
            if (sample_bcast(party, (enum way)way, size, counts[way], &row->series[way].us[i]) != 0)
                return -1;
        }
    }
    return party_send_row(party, row);
}

int bcast_measure(struct party *party)
{
    for (int i = 0; i < party->plan.size_count; i++) {
        struct bench_row row = {.bytes = party->plan.sizes[i]};
        int failed = measure_bcast(party, &row);
        bench_row_free(&row);
        if (failed)
            return failed;
    }
    return party_tell_all(party, &(const struct order){.what = ORDER_END});
}
