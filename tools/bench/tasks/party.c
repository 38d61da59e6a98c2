/*
 * party.c - what the leader and the peers of a benchmark have in common: failures in words, the
 * orders, the choice of a route, a barrier. It keeps the benchmarks themselves free of all but
 * what is measured.
 */
#include "tools/bench/tasks/party.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tools/bench/tasks/clock.h"

int party_fail(struct party *party, const char *what, const char *why)
{
    snprintf(party->failure, sizeof party->failure, "%s: %s", what, why);
    return -1;
}

int party_fail_vm(struct party *party, const char *what, int error)
{
    const char *text = covey_error_text();
    return party_fail(party, what, *text ? text : covey_strerror(error));
}

double party_cpu_s(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

int party_out(struct party *party, enum raw_kind kind, covey_tid_t tid, size_t size)
{
    if (raw_is_covey(kind)) {
        int error = wire_send(&party->wire, tid, size);
        return error ? party_fail_vm(party, "sending", error) : 0;
    }
    if (raw_send(party->raws[kind], party->wire.bytes, size) == 0)
        return 0;
    return party_fail(party, raw_name(kind), strerror(errno));
}

int party_in(struct party *party, enum raw_kind kind, covey_tid_t tid, size_t size)
{
    if (raw_is_covey(kind)) {
        int error = wire_receive(&party->wire, tid, size);
        return error ? party_fail_vm(party, "receiving", error) : 0;
    }
    if (raw_receive(party->raws[kind], party->wire.bytes, size) == 0)
        return 0;
    return party_fail(party, raw_name(kind), strerror(errno));
}

covey_tid_t party_task(const struct party *party, int task)
{
    int tasks = party->plan.peer_count + 1;
    task = (task + tasks) % tasks;
    return task == 0 ? covey_mytid(party->vm) : party->plan.peers[task - 1];
}

struct bench_series *party_add_series(struct party *party, struct bench_row *row, const char *name)
{
    struct bench_series *series = bench_row_add(row, name, party->plan.rounds);
    if (!series)
        party_fail(party, "measuring", "memory is exhausted");
    return series;
}

int party_tell(struct party *party, const struct order *order, int count)
{
    for (int i = 0; i < count; i++) {
        int error = order_send(party->vm, party->plan.peers[i], order);
        if (error)
            return party_fail_vm(party, "a peer", error);
    }
    return 0;
}

int party_tell_all(struct party *party, const struct order *order)
{
    return party_tell(party, order, party->plan.peer_count);
}

int party_take_route(struct party *party, enum raw_kind kind)
{
    const struct bench_plan *plan = &party->plan;
    int route = kind >= RAW_MORE ? plan->more_routes[kind - RAW_MORE] : plan->route;
    if (!raw_is_covey(kind) || route == party->route)
        return 0;
    int error = covey_set_route(party->vm, plan->peers[0], route);
    party->route = route;
    return error ? party_fail_vm(party, covey_route_name(route), error) : 0;
}

uint64_t party_pause(const struct party *party)
{
    uint64_t start_ns = clock_ns();
    const struct timespec pause = {.tv_sec = party->plan.pause_us / 1000000,
                                   .tv_nsec = party->plan.pause_us % 1000000 * 1000};
    if (party->plan.pause_us == 0)
        return 0;
    nanosleep(&pause, NULL);
    return clock_ns() - start_ns;
}

int party_barriers(struct party *party, const char *group, int tasks, int64_t count)
{
    int error = 0;
    if (!party->group)
        error = covey_group_join(party->vm, group, &party->group);
    for (int64_t i = 0; i < count && error >= 0; i++)
        error = covey_group_barrier(party->group, tasks, COVEY_FOREVER);
    return error < 0 ? party_fail_vm(party, "a barrier", error) : 0;
}

int party_send_row(struct party *party, const struct bench_row *row)
{
    covey_msg_t *msg = covey_msg_new();
    int error = msg ? bench_row_pack(msg, row) : COVEY_ENOMEM;
    if (error == 0)
        error = covey_send(party->vm, party->console, BENCH_TAG_ROW, msg);
    covey_msg_free(msg);
    return error ? party_fail_vm(party, "reporting", error) : 0;
}
