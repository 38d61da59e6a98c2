/*
 * Collective calls: every algorithm of every operation, on teams of 2, 4, 8 ... of the tasks and of
 * all. A row is an operation on a team of that many for a size; its series are the algorithms,
 * which take turns within a round. A sample is so many calls, one after another and the root going
 * round, until all are through a barrier.
 *
 * `covey bench alltoall` is the same of one operation on the team of all, with a series more: what
 * the library chooses by itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/tasks/clock.h"
#include "tools/bench/tasks/party.h"

#define COUNT_MAX 2000
#define TIMEOUT_US 120000000
#define ARRAYS_BYTES_MAX ((int64_t)128 << 20) /* larger ones are passed over */

enum { TRIALS = 3 };

/* ---- what all do ---- */

/* What an operation is called with: doubles, so many of them. */
struct arrays {
    double *out, *in;
    size_t count, bytes;
    size_t *counts; /* of reduce_scatter: equal parts of count */
};

static int arrays_make(struct arrays *a, int64_t bytes, int members)
{
    size_t n = (size_t)members;
    a->bytes = (size_t)bytes;
    a->count = (size_t)bytes / sizeof *a->out;
    a->out = calloc((a->count + 1) * n, sizeof *a->out);
    a->in = calloc((a->count + 1) * n, sizeof *a->in);
    a->counts = calloc(n, sizeof *a->counts);
    for (size_t i = 0; a->counts && i < n; i++)
        a->counts[i] = a->count * (i + 1) / n - a->count * i / n;
    return a->out && a->in && a->counts ? 0 : COVEY_ENOMEM;
}

static void arrays_free(struct arrays *a)
{
    free(a->out);
    free(a->in);
    free(a->counts);
}

static int reduce_once(covey_team_t *t, const char *name, const struct arrays *a, int root)
{
    const int sum = COVEY_OP_SUM, type = COVEY_DOUBLE;
    if (strcmp(name, "reduce") == 0)
        return covey_reduce(t, root, sum, type, a->out, a->in, a->count);
    if (strcmp(name, "allreduce") == 0)
        return covey_allreduce(t, sum, type, a->out, a->in, a->count);
    if (strcmp(name, "reduce_scatter") == 0)
        return covey_reduce_scatter(t, sum, type, a->out, a->in, a->counts);
    return covey_scan(t, sum, type, a->out, a->in, a->count);
}

static int call_once(covey_team_t *t, const char *name, const struct arrays *a, int root)
{
    const int type = COVEY_DOUBLE;
    if (strcmp(name, "barrier") == 0)
        return covey_barrier(t);
    if (strcmp(name, "bcast") == 0)
        return covey_bcast(t, root, type, a->out, a->count);
    if (strcmp(name, "scatter") == 0)
        return covey_scatter(t, root, type, a->out, a->in, a->count);
    if (strcmp(name, "gather") == 0)
        return covey_gather(t, root, type, a->out, a->in, a->count);
    if (strcmp(name, "allgather") == 0)
        return covey_allgather(t, type, a->out, a->in, a->count);
    if (strcmp(name, "alltoall") == 0)
        return covey_alltoall(t, COVEY_UINT8, a->out, a->in, a->bytes);
    return reduce_once(t, name, a, root);
}

static int call_all(covey_team_t *team, const char *name, const struct arrays *a, int64_t count,
                    double *us)
{
    int error = call_once(team, name, a, 0), members = covey_team_size(team);
    if (error == 0)
        error = covey_barrier(team);
    uint64_t start_ns = clock_ns();
    for (int64_t i = 0; i < count && error == 0; i++)
        error = call_once(team, name, a, (int)(i % members));
    if (error == 0)
        error = covey_barrier(team);
    *us = (double)(clock_ns() - start_ns) / 1e3 / (double)count;
    return error;
}

/* A team of the first order->bytes of all order->count tasks; others have none. */
int collective_team(struct party *party, const struct order *order)
{
    int error = 0;
    covey_team_free(&party->team);
    if (!party->group)
        error = covey_group_join(party->vm, order->text, &party->group);
    if (error >= 0 && !party->all)
        error = covey_set_route(party->vm, COVEY_ANY_TASK, party->plan.route);
    if (error >= 0 && !party->all)
        error = covey_team_of_group(party->group, (int)order->count, TIMEOUT_US, &party->all);
    if (error < 0)
        return party_fail_vm(party, "a team", error);
    int rank = covey_team_rank(party->all);
    error = covey_team_split(party->all, rank < order->bytes ? 0 : -1, rank, &party->team);
    if (error == 0 && party->team)
        error = covey_team_set_timeout(party->team, TIMEOUT_US);
    return error ? party_fail_vm(party, "a team", error) : 0;
}

/* NULL: the library's own choice. */
static int force(covey_team_t *team, const char *operation, const char *algorithm)
{
    bool own = strcmp(algorithm, BENCH_CHOICE) == 0;
    return covey_team_force(team, operation, own ? NULL : algorithm);
}

/* order->text is the operation and the algorithm. */
static int perform(struct party *party, const struct order *order, double *us)
{
    struct arrays arrays = {0};
    char text[RAW_ENDPOINT_BYTES];
    snprintf(text, sizeof text, "%s", order->text);
    char *algorithm = strchr(text, ' ');
    if (!party->team || !algorithm)
        return 0;
    *algorithm++ = '\0';
    int error = force(party->team, text, algorithm);
    if (error >= 0)
        error = arrays_make(&arrays, order->bytes, covey_team_size(party->team));
    if (error == 0)
        error = call_all(party->team, text, &arrays, order->count, us);
    arrays_free(&arrays);
    covey_team_force(party->team, text, NULL);
    return error < 0 ? party_fail_vm(party, order->text, error) : 0;
}

int collective_serve(struct party *party, const struct order *order)
{
    double unused;
    return perform(party, order, &unused);
}

void collective_close(struct party *party)
{
    covey_team_free(&party->team);
    covey_team_free(&party->all);
}

/* ---- what the leader does ---- */

static int make_team(struct party *party, int members)
{
    struct order order = {
        .what = ORDER_TEAM, .bytes = members, .count = party->plan.peer_count + 1};
    snprintf(order.text, sizeof order.text, "covey-bench-%x", (unsigned)covey_mytid(party->vm));
    int error = party->group ? 0 : covey_group_join(party->vm, order.text, &party->group);
    if (error < 0)
        return party_fail_vm(party, "a group", error);
    return party_tell_all(party, &order) != 0 ? -1 : collective_team(party, &order);
}

/* One operation for one size: its algorithms that suit, and how many calls a sample of each is. */
struct race {
    const char *operation;
    const char *algorithms[BENCH_SERIES_MAX];
    int64_t counts[BENCH_SERIES_MAX];
    struct bench_row *row;
};

static int sample_calls(struct party *party, const struct race *race, int which, double *us)
{
    struct order order = {
        .what = ORDER_COLLECTIVE, .bytes = race->row->bytes, .count = race->counts[which]};
    snprintf(order.text, sizeof order.text, "%s %s", race->operation, race->algorithms[which]);
    return party_tell_all(party, &order) != 0 ? -1 : perform(party, &order, us);
}

static int calibrate_calls(struct party *party, struct race *race, int which)
{
    race->counts[which] = 1;
    for (int i = 0; i < TRIALS; i++) {
        double us = 0;
        if (sample_calls(party, race, which, &us) != 0)
            return -1;
        double wanted = party->plan.batch_us / (us + 0.01);
        race->counts[which] = wanted < 1 ? 1 : wanted > COUNT_MAX ? COUNT_MAX : (int64_t)wanted;
    }
    return 0;
}

/* What the schedule took is no part of the samples: it is made once, here before the first. */
static void note_schedule(const struct party *party, struct bench_series *series)
{
    struct covey_schedule_info info;
    const covey_schedule_t *schedule = covey_team_schedule(party->team, &series->order_s);
    if (!schedule)
        return;
    covey_schedule_info(schedule, &info);
    series->phases = info.phases;
}

static int add_series(struct party *party, struct race *race, const char *name)
{
    struct bench_row *row = race->row;
    if (row->series_count == BENCH_SERIES_MAX)
        return 0;
    race->algorithms[row->series_count] = name;
    struct bench_series *series = party_add_series(party, row, name);
    if (!series)
        return -1;
    if (strcmp(name, "scheduled") == 0)
        note_schedule(party, series);
    return 0;
}

static int find_algorithms(struct party *party, struct race *race)
{
    const char *name;
    for (int i = 0; (name = covey_algorithm(race->operation, i)); i++) {
        int suits = covey_team_force(party->team, race->operation, name) == 0;
        covey_team_force(party->team, race->operation, NULL);
        if (suits && add_series(party, race, name) != 0)
            return -1;
    }
    return party->plan.what == BENCH_ALLTOALL ? add_series(party, race, BENCH_CHOICE) : 0;
}

static int run_rounds(struct party *party, struct race *race)
{
    struct bench_row *row = race->row;
    for (int k = 0; k < row->series_count; k++) {
        if (calibrate_calls(party, race, k) != 0)
            return -1;
    }
    for (int i = 0; i < party->plan.rounds; i++) {
        for (int k = 0; k < row->series_count; k++) {
            if (sample_calls(party, race, k, &row->series[k].us[i]) != 0)
                return -1;
        }
    }
    return party_send_row(party, row);
}

static int measure_collective_row(struct party *party, const char *operation, int64_t bytes)
{
    struct bench_row row = {.bytes = bytes};
    struct race race = {.operation = operation, .row = &row};
    snprintf(row.label, sizeof row.label, "%s %d %s", operation, covey_team_size(party->team),
             covey_team_algorithm(party->team, operation, (uint64_t)bytes));
    int failed = find_algorithms(party, &race) || run_rounds(party, &race);
    bench_row_free(&row);
    return failed;
}

static int measure_operation(struct party *party, const char *operation)
{
    int barrier = strcmp(operation, "barrier") == 0, failed = 0;
    for (int i = 0; i < party->plan.size_count && !failed; i++) {
        int64_t bytes = barrier ? 0 : party->plan.sizes[i];
        if (bytes * covey_team_size(party->team) <= ARRAYS_BYTES_MAX)
            failed = measure_collective_row(party, operation, bytes);
        if (barrier)
            break;
    }
    return failed;
}

static int measure_alltoall(struct party *party)
{
    int failed = make_team(party, party->plan.peer_count + 1);
    return failed ? failed : measure_operation(party, "alltoall");
}

int collective_measure(struct party *party)
{
    int tasks = party->plan.peer_count + 1, failed = 0;
    bool one = party->plan.what == BENCH_ALLTOALL;
    if (one)
        failed = measure_alltoall(party);
    for (int members = 2; !one && !failed && members <= tasks;) {
        failed = make_team(party, members);
        for (int i = 0; bench_calls[i] && !failed; i++) {
            if (party->plan.calls == 0 || (party->plan.calls >> i & 1) != 0)
                failed = measure_operation(party, bench_calls[i]);
        }
        members = members < tasks && members * 2 > tasks ? tasks : members * 2;
    }
    return failed ? failed : party_tell_all(party, &(const struct order){.what = ORDER_END});
}
