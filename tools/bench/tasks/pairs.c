/*
 * Every pair of tasks, for covey calibrate: alpha and beta between each two hosts. A tournament: in
 * each of n - 1 phases all tasks are in pairs at once, none of which has a task in common, so the
 * time grows with their number, not with that of the pairs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/tasks/clock.h"
#include "tools/bench/tasks/party.h"

enum { TRIPS_WARM = 3, TRIPS_SHORT = 20, TRIPS_LONG = 2, FIGURES = 2 };

#define NOBODY (-1)

/* ---- One pair -------------------------------------------------------------------------------- */

static int trips(struct party *party, covey_tid_t peer, size_t size, int count, bool first)
{
    int failed = 0;
    for (int i = 0; i < count && !failed; i++)
        failed =
            first ? party_out(party, RAW_NONE, peer, size) || party_in(party, RAW_NONE, peer, size)
                  : party_in(party, RAW_NONE, peer, size) || party_out(party, RAW_NONE, peer, size);
    return failed;
}

/* Half a round trip; the first ones are not counted. */
static int time_trips(struct party *party, covey_tid_t peer, size_t size, bool first,
                      double *seconds)
{
    int count = size > 1 ? TRIPS_LONG : TRIPS_SHORT, warm = size > 1 ? 1 : TRIPS_WARM;
    if (trips(party, peer, size, warm, first) != 0)
        return -1;
    uint64_t start_ns = clock_ns();
    int failed = trips(party, peer, size, count, first);
    *seconds = (double)(clock_ns() - start_ns) / 1e9 / (2.0 * count);
    return failed;
}

/* figures: alpha, and beta of a byte. */
static int measure_pair(struct party *party, const struct order *order, double figures[FIGURES])
{
    int peer, first;
    double short_s, long_s;
    if (sscanf(order->text, "%d %d", &peer, &first) != 2)
        return party_fail(party, "the pair", "is none");
    int error = covey_set_route(party->vm, peer, party->plan.route);
    if (error < 0)
        return party_fail_vm(party, "the pair", error);
    if (time_trips(party, peer, 1, first != 0, &short_s) != 0 ||
        time_trips(party, peer, (size_t)order->bytes, first != 0, &long_s) != 0)
        return -1;
    figures[0] = short_s;
    figures[1] = long_s > short_s ? (long_s - short_s) / (double)order->bytes : 0;
    return 0;
}

int pairs_serve(struct party *party, covey_tid_t lead, const struct order *order)
{
    double figures[FIGURES];
    if (measure_pair(party, order, figures) != 0)
        return -1;
    int error = covey_send_array(party->vm, lead, ORDER_ANSWER_TAG, COVEY_DOUBLE, figures, FIGURES);
    return error ? party_fail_vm(party, "answering", error) : 0;
}

/* ---- The tournament -------------------------------------------------------------------------- */

/* Who is with whom in that phase: the last stands still, the others go round. */
static int partner(int task, int phase, int tasks)
{
    int even = tasks + tasks % 2, turn = even - 1, other;
    if (task == even - 1)
        other = phase;
    else if (task == phase)
        other = even - 1;
    else
        other = (2 * phase - task + 2 * turn) % turn;
    return other < tasks ? other : NOBODY;
}

static struct order order_for(const struct party *party, int task, int other)
{
    struct order order = {.what = ORDER_PAIR, .bytes = party->plan.sizes[0]};
    snprintf(order.text, sizeof order.text, "%d %d", (int)party_task(party, other), task < other);
    return order;
}

static int tell_phase(struct party *party, int phase, int tasks)
{
    for (int task = 1; task < tasks; task++) {
        int other = partner(task, phase, tasks);
        if (other == NOBODY)
            continue;
        struct order order = order_for(party, task, other);
        int error = order_send(party->vm, party_task(party, task), &order);
        if (error)
            return party_fail_vm(party, "a peer", error);
    }
    return 0;
}

/* found: by task and other, FIGURES each; what the one with the lower number measured. */
static int run_phase(struct party *party, int phase, int tasks, double *found)
{
    double figures[FIGURES];
    for (int task = 0; task < tasks; task++) {
        int other = partner(task, phase, tasks), error = 0;
        struct order own = order_for(party, task, other == NOBODY ? 0 : other);
        if (other == NOBODY)
            continue;
        if (task == 0 && measure_pair(party, &own, figures) != 0)
            return -1;
        if (task > 0)
            error = covey_recv_array(party->vm, party_task(party, task), ORDER_ANSWER_TAG,
                                     COVEY_FOREVER, COVEY_DOUBLE, figures, FIGURES, NULL, NULL);
        if (error)
            return party_fail_vm(party, "a peer", error);
        for (int i = 0; task < other && i < FIGURES; i++)
            found[(task * tasks + other) * FIGURES + i] = figures[i];
    }
    return 0;
}

/* A row for each task: alpha and beta to every other, in seconds. */
static int send_rows(struct party *party, int tasks, double *found)
{
    int failed = 0;
    for (int task = 0; task < tasks && !failed; task++) {
        struct bench_row row = {.bytes = task, .series_count = 1};
        row.series[0] = (struct bench_series){
            .name = "covey", .us = found + task * tasks * FIGURES, .rounds = tasks * FIGURES};
        failed = party_send_row(party, &row);
    }
    return failed;
}

int pairs_measure(struct party *party)
{
    int tasks = party->plan.peer_count + 1, phases = tasks + tasks % 2 - 1, failed = 0;
    double *found = calloc((size_t)(tasks * tasks) * FIGURES, sizeof *found);
    if (!found)
        return party_fail(party, "pairs", "memory is exhausted");
    for (int phase = 0; phase < phases && !failed; phase++)
        failed = tell_phase(party, phase, tasks) || run_phase(party, phase, tasks, found);
    failed = failed || send_rows(party, tasks, found);
    free(found);
    return failed ? -1 : party_tell_all(party, &(const struct order){.what = ORDER_END});
}
