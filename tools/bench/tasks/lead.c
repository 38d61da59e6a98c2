/*
 * The task that measures. For each size it first finds how many messages a sample needs, which
 * warms everything up, and then takes one sample of Covey and one of each raw program in turn,
 * round after round: the machine's speed drifts, and so it drifts for all of them. The order
 * differs from round to round.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/tasks/clock.h"
#include "tools/bench/tasks/party.h"

#define COUNT_MAX 100000
#define TRIALS 4

/* One program on its way through one row. */
struct racer {
    enum raw_kind kind;
    long count; /* messages a sample */
    struct bench_series *series;
};

/* ---- opening the raw programs ---- */

/* The address, without the port, at which the peer's daemon is reached. */
static int peer_address(struct party *party, char *address, size_t size)
{
    struct covey_host *hosts;
    int n = covey_hosts(party->vm, &hosts);
    if (n < 0)
        return party_fail_vm(party, "asking for hosts", n);
    *address = '\0';
    for (int i = 0; i < n; i++) {
        if (hosts[i].index == covey_tid_host(party->plan.peers[0]))
            snprintf(address, size, "%s", hosts[i].address);
    }
    covey_free(hosts);
    char *colon = strrchr(address, ':');
    if (colon)
        *colon = '\0';
    size_t length = strlen(address);
    if (*address == '[' && address[length - 1] == ']') {
        address[length - 1] = '\0';
        memmove(address, address + 1, length - 1);
    }
    return 0;
}

/* One that cannot be had is left out, and the reason told. */
static int open_raw(struct party *party, enum raw_kind kind, const char *address)
{
    struct order answer;
    struct order order = {
        .what = ORDER_LISTEN, .kind = kind, .bytes = (int64_t)bench_plan_largest(&party->plan)};
    snprintf(order.text, sizeof order.text, "%s", address);
    int error = order_send(party->vm, party->plan.peers[0], &order);
    if (error == 0)
        error = order_receive_answer(party->vm, party->plan.peers[0], &answer);
    if (error)
        return party_fail_vm(party, "the peer", error);
    if (answer.what != 0) {
        fprintf(stderr, "no raw %s: %s: %s\n", raw_name(kind), address, strerror((int)answer.what));
        return 0;
    }
    party->raws[kind] = raw_connect(kind, (size_t)order.bytes, answer.text);
    if (!party->raws[kind])
        return party_fail(party, raw_name(kind), strerror(errno));
    raw_set_spin(party->raws[kind], party->plan.spin_us);
    return 0;
}

/* What bounds Covey on that route between these two tasks. */
static const enum raw_kind *raw_kinds(const struct party *party)
{
    static const enum raw_kind memory[] = {RAW_FUTEX, RAW_FUTEX_SPIN, RAW_COPY, RAW_UNIX, RAW_NONE};
    static const enum raw_kind stream[] = {RAW_TCP, RAW_TCP_SPIN, RAW_NONE};
    static const enum raw_kind both[] = {RAW_UDP, RAW_UDP_SPIN, RAW_TCP, RAW_TCP_SPIN, RAW_NONE};
    static const enum raw_kind frames[] = {RAW_ETHER, RAW_ETHER_SPIN, RAW_TCP, RAW_TCP_SPIN,
                                           RAW_NONE};
    static const enum raw_kind *const kinds[] = {
        [COVEY_ROUTE_SHM] = memory, [COVEY_ROUTE_TCP] = stream, [COVEY_ROUTE_ETHER] = frames};
    int route = covey_route(party->vm, party->plan.peers[0]);
    bool known = route > 0 && route < (int)(sizeof kinds / sizeof *kinds) && kinds[route];
    return known ? kinds[route] : both;
}

static int open_raws(struct party *party)
{
    char address[RAW_ENDPOINT_BYTES];
    if (peer_address(party, address, sizeof address) != 0)
        return -1;
    for (const enum raw_kind *kind = raw_kinds(party); *kind != RAW_NONE; kind++) {
        bool spins = party->plan.spin_us > 0 && party->plan.pause_us == 0;
        if ((spins || !raw_spins(*kind)) && open_raw(party, *kind, address) != 0)
            return -1;
    }
    return 0;
}

/* ---- samples ---- */

/* *paused_ns: what our pauses before them took. */
static int round_trips(struct party *party, enum raw_kind kind, size_t size, long count,
                       uint64_t *paused_ns)
{
    covey_tid_t peer = party->plan.peers[0];
    int failed = 0;
    *paused_ns = 0;
    for (long i = 0; i < count && !failed; i++) {
        *paused_ns += party_pause(party);
        failed = party_out(party, kind, peer, size) || party_in(party, kind, peer, size);
    }
    return failed;
}

static int one_way(struct party *party, enum raw_kind kind, size_t size, long count)
{
    covey_tid_t peer = party->plan.peers[0];
    int failed = 0;
    for (long i = 0; i < count && !failed; i++)
        failed = party_out(party, kind, peer, size);
    return failed ? failed : party_in(party, kind, peer, 1);
}

static int tell_peer(struct party *party, enum order_what what, const struct racer *racer,
                     size_t size, long count)
{
    if (racer->kind == RAW_COPY)
        return 0;
    struct order order = {
        .what = what, .kind = racer->kind, .bytes = (int64_t)size, .count = count};
    int error = order_send(party->vm, party->plan.peers[0], &order);
    return error ? party_fail_vm(party, "the peer", error) : party_take_route(party, racer->kind);
}

/* What the peer's pauses in the order that it has done took. */
static int peer_paused(struct party *party, const struct racer *racer, uint64_t *ns)
{
    struct order answer;
    *ns = 0;
    if (party->plan.pause_us == 0 || racer->kind == RAW_COPY)
        return 0;
    int error = order_receive_answer(party->vm, party->plan.peers[0], &answer);
    if (error)
        return party_fail_vm(party, "the peer", error);
    *ns = (uint64_t)answer.count;
    return 0;
}

/* Time in which `count` messages went to the peer and back, without pauses. */
static int time_round_trips(struct party *party, const struct racer *racer, size_t size, long count,
                            uint64_t *ns)
{
    uint64_t ours_ns, theirs_ns;
    uint64_t start_ns = clock_ns();
    int failed = round_trips(party, racer->kind, size, count, &ours_ns);
    *ns = clock_ns() - start_ns - ours_ns;
    if (failed || peer_paused(party, racer, &theirs_ns) != 0)
        return -1;
    *ns -= theirs_ns;
    return 0;
}

/* Half a round trip; the memory copies have no other end, their round is one message. */
static int sample_pingpong(struct party *party, const struct racer *racer, size_t size, double *us)
{
    long warm = party->plan.pause_us > 0 ? 0 : racer->count / 8 + 1; /* asleep nobody is warm */
    uint64_t ns;
    if (tell_peer(party, ORDER_ECHO, racer, size, warm + racer->count) != 0 ||
        round_trips(party, racer->kind, size, warm, &ns) != 0)
        return -1;
    int failed = time_round_trips(party, racer, size, racer->count, &ns);
    double messages = (double)racer->count * (racer->kind == RAW_COPY ? 1 : 2);
    *us = (double)ns / 1e3 / messages;
    racer->series->bytes += (double)size * (double)(warm + racer->count) * 2;
    return failed;
}

/* Time a message, the last one's way back included. */
static int sample_stream(struct party *party, const struct racer *racer, size_t size, double *us)
{
    bool alone = racer->kind == RAW_COPY;
    if (tell_peer(party, ORDER_SINK, racer, size, racer->count) != 0)
        return -1;
    uint64_t start_ns = clock_ns(), unused_ns;
    int failed = alone ? round_trips(party, racer->kind, size, racer->count, &unused_ns)
                       : one_way(party, racer->kind, size, racer->count);
    *us = (double)(clock_ns() - start_ns) / 1e3 / (double)racer->count;
    racer->series->bytes += (double)size * (double)racer->count;
    return failed;
}

/* The first barrier waits until all have got the order. */
static int sample_barrier(struct party *party, const struct racer *racer, double *us)
{
    int tasks = party->plan.peer_count + 1;
    struct order order = {.what = ORDER_BARRIER, .bytes = tasks, .count = racer->count + 1};
    snprintf(order.text, sizeof order.text, "covey-bench-%x", (unsigned)covey_mytid(party->vm));
    if (party_tell_all(party, &order) != 0 || party_barriers(party, order.text, tasks, 1) != 0)
        return -1;
    uint64_t start_ns = clock_ns();
    int failed = party_barriers(party, order.text, tasks, racer->count);
    *us = (double)(clock_ns() - start_ns) / 1e3 / (double)racer->count;
    return failed;
}

static int multicast(struct party *party, size_t size)
{
    const struct bench_plan *plan = &party->plan;
    int error = wire_send_all(&party->wire, plan->peers, (size_t)plan->peer_count, size);
    if (error)
        return party_fail_vm(party, "sending", error);
    int failed = 0;
    for (int i = 0; i < plan->peer_count && !failed; i++)
        failed = party_in(party, RAW_NONE, plan->peers[i], 1);
    return failed;
}

/* Until all have confirmed it; the first is not counted. */
static int sample_mcast(struct party *party, const struct racer *racer, size_t size, double *us)
{
    const struct order order = {
        .what = ORDER_MCAST, .bytes = (int64_t)size, .count = racer->count + 1};
    if (party_tell_all(party, &order) != 0 || multicast(party, size) != 0)
        return -1;
    int failed = 0;
    uint64_t start_ns = clock_ns();
    for (long i = 0; i < racer->count && !failed; i++)
        failed = multicast(party, size);
    *us = (double)(clock_ns() - start_ns) / 1e3 / (double)racer->count;
    racer->series->bytes +=
        (double)size * (double)(racer->count + 1) * (double)party->plan.peer_count;
    return failed;
}

/* The raw programs have two ends: beside what more tasks do stands half a round trip. */
static int sample_of(struct party *party, const struct racer *racer, size_t size, double *us)
{
    if (party->plan.what == BENCH_STREAM)
        return sample_stream(party, racer, size, us);
    if (party->plan.what == BENCH_BARRIER && racer->kind == RAW_NONE)
        return sample_barrier(party, racer, us);
    if (party->plan.what == BENCH_MCAST && racer->kind == RAW_NONE)
        return sample_mcast(party, racer, size, us);
    return sample_pingpong(party, racer, size, us);
}

static int sample_racer(struct party *party, const struct racer *racer, size_t size, double *us)
{
    double start_s = party_cpu_s();
    int failed = sample_of(party, racer, size, us);
    party->cpu_s[racer->kind] += party_cpu_s() - start_s;
    return failed;
}

/* ---- rows ---- */

static int calibrate_racer(struct party *party, struct racer *racer, size_t size)
{
    racer->count = 1;
    for (int i = 0; i < TRIALS; i++) {
        double us = 0;
        if (sample_racer(party, racer, size, &us) != 0)
            return -1;
        double ways = party->plan.what == BENCH_PINGPONG ? 2 : 1;
        double count = party->plan.batch_us / (ways * (us + party->plan.pause_us) + 0.01);
        racer->count = count < 1 ? 1 : count > COUNT_MAX ? COUNT_MAX : (long)count;
    }
    return 0;
}

/* All processor seconds of the daemons so far. */
static int daemon_cpu_s(struct party *party, double *seconds)
{
    struct covey_stat *stats;
    int n = covey_stats(party->vm, 0, &stats);
    if (n < 0)
        return party_fail_vm(party, "asking for statistics", n);
    *seconds = 0;
    for (int i = 0; i < n; i++) {
        if (strcmp(stats[i].name, "process.cpu_us") == 0)
            *seconds += (double)stats[i].value / 1e6;
    }
    covey_free(stats);
    return 0;
}

/* Adds the peers' processor seconds since they were last asked. */
static int add_peers_cpu_s(struct party *party)
{
    const struct order order = {.what = ORDER_CPU};
    double seconds[RAW_KINDS];
    for (int i = 0; i < party->plan.peer_count; i++) {
        covey_tid_t peer = party->plan.peers[i];
        int error = order_send(party->vm, peer, &order);
        if (error == 0)
            error = covey_recv_array(party->vm, peer, ORDER_ANSWER_TAG, COVEY_FOREVER, COVEY_DOUBLE,
                                     seconds, RAW_KINDS, NULL, NULL);
        if (error)
            return party_fail_vm(party, "a peer", error);
        for (int kind = 0; kind < RAW_KINDS; kind++)
            party->cpu_s[kind] += seconds[kind];
    }
    return 0;
}

static bool has_two_ends(const struct party *party)
{
    return party->plan.what == BENCH_PINGPONG || party->plan.what == BENCH_STREAM;
}

static bool fits_plan(const struct party *party, enum raw_kind kind, size_t size)
{
    if (raw_is_covey(kind))
        return kind == RAW_NONE || (int)kind - RAW_MORE < party->plan.more_count;
    if (!party->raws[kind])
        return false;
    if (!raw_fits(kind, size))
        return false;
    if (kind == RAW_COPY)
        return has_two_ends(party);
    return party->plan.what != BENCH_STREAM || !raw_is_single(kind);
}

static int make_racer(struct party *party, struct bench_row *row, struct racer *racer,
                      enum raw_kind kind)
{
    const struct bench_plan *plan = &party->plan;
    /* "covey", and "covey-udp" where there are several routes. */
    bool several = raw_is_covey(kind) && plan->more_count > 0;
    int route = kind >= RAW_MORE ? plan->more_routes[kind - RAW_MORE] : plan->route;
    char name[sizeof row->series[0].name];
    snprintf(name, sizeof name, "%s%s%s", raw_name(kind), several ? "-" : "",
             several ? covey_route_name(route) : "");
    *racer = (struct racer){.kind = kind, .series = party_add_series(party, row, name)};
    if (!racer->series)
        return -1;
    if (calibrate_racer(party, racer, (size_t)row->bytes) != 0)
        return -1;
    racer->series->bytes = 0;
    return 0;
}

/* Covey first, over each of its routes. */
static int make_racers(struct party *party, struct bench_row *row, struct racer *racers)
{
    for (int i = 0; i < RAW_KINDS; i++) {
        int more = RAW_KINDS - RAW_MORE;
        int kind = i == 0 ? RAW_NONE : i <= more ? RAW_MORE + i - 1 : i - more;
        if (fits_plan(party, (enum raw_kind)kind, (size_t)row->bytes) &&
            make_racer(party, row, &racers[row->series_count], (enum raw_kind)kind) != 0)
            return -1;
    }
    return 0;
}

/* Whose sample is the k-th of a round. What ran before tells in a sample: each round another
 * program begins, and every other round goes backwards. */
static int turn_of(int round, int k, int count)
{
    return (round + (round % 2 == 0 ? k : count - k)) % count;
}

static int run_rounds(struct party *party, struct bench_row *row, struct racer *racers)
{
    for (int i = 0; i < party->plan.rounds; i++) {
        for (int k = 0; k < row->series_count; k++) {
            struct racer *racer = &racers[turn_of(i, k, row->series_count)];
            if (sample_racer(party, racer, (size_t)row->bytes, &racer->series->us[i]) != 0)
                return -1;
        }
    }
    return 0;
}

/* What was used in the rounds alone: what the peers used before is asked for and dropped. */
static int measure_race(struct party *party, struct bench_row *row)
{
    struct racer racers[BENCH_SERIES_MAX];
    double before_s, after_s;
    if (make_racers(party, row, racers) != 0 || add_peers_cpu_s(party) != 0 ||
        daemon_cpu_s(party, &before_s) != 0)
        return -1;
    memset(party->cpu_s, 0, sizeof party->cpu_s);
    if (run_rounds(party, row, racers) != 0 || daemon_cpu_s(party, &after_s) != 0 ||
        add_peers_cpu_s(party) != 0)
        return -1;
    for (int k = 0; k < row->series_count; k++)
        racers[k].series->task_cpu_s = party->cpu_s[racers[k].kind];
    row->series[0].daemon_cpu_s = after_s - before_s;
    return party_send_row(party, row);
}

/* Covey goes first, so that the route has been chosen when the raw programs are. */
int lead_measure(struct party *party)
{
    struct racer covey = {.kind = RAW_NONE};
    struct bench_series unused = {0};
    covey.series = &unused;
    if (calibrate_racer(party, &covey, 1) != 0 || (!party->plan.bare && open_raws(party) != 0))
        return -1;
    for (int i = 0; i < party->plan.size_count; i++) {
        struct bench_row row = {.bytes = party->plan.sizes[i]};
        if (party->plan.what == BENCH_BARRIER)
            snprintf(row.label, sizeof row.label, "%d tasks", party->plan.peer_count + 1);
        int failed = measure_race(party, &row);
        bench_row_free(&row);
        if (failed)
            return failed;
    }
    return party_tell_all(party, &(const struct order){.what = ORDER_END});
}
