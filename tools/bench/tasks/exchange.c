/*
 * Exchanges: all tasks are one team, and exchange by each algorithm in turn, round after round, so
 * that the machine's speed drifts for all of them. Each round has a pattern of its own. What a run
 * takes is what it takes at the slowest task (Wang & Ranka, section 6); learning the pattern and
 * ordering it come apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/exchange_pattern.h"
#include "tools/bench/tasks/party.h"

#define PATIENCE_US ((int64_t)60 * 1000000)
#define FIRST COVEY_EXCHANGE_AC
#define LAST COVEY_EXCHANGE_LONGEST

struct field {
    struct party *party;
    covey_group_t *group;
    covey_team_t *team;
    covey_topology_t *topology;
    int32_t *hosts; /* by rank: its node in the topology; NULL: in the order of the file */
    int ranks, rank;
    uint8_t *block; /* what is sent, and what is received */
    size_t block_bytes;
};

/* What one task has to send in one round. */
struct share {
    struct covey_parcel out[BENCH_TASKS_MAX];
    const void *from[BENCH_TASKS_MAX];
    void *to[BENCH_TASKS_MAX];
    int count;
};

/* ---- the team ---- */

/* Without a topology of the network: one switch, so that RS_NL has links to keep free. */
static int make_topology(struct field *f)
{
    const struct bench_exchange *exchange = &f->party->plan.exchange;
    int error =
        exchange_topology(exchange->topology, f->ranks, (double)exchange->rate_bps, &f->topology);
    return error ? party_fail_vm(f->party, "the topology", error) : 0;
}

static int node_of(const struct covey_topology_node *nodes, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (!nodes[i].is_switch && strcmp(nodes[i].name, name) == 0)
            return i;
    }
    return -1;
}

static const char *name_of(const struct covey_host *hosts, int count, int index)
{
    for (int i = 0; i < count; i++) {
        if (hosts[i].index == index)
            return hosts[i].name;
    }
    return "";
}

/* Where in the topology the tasks are, by the names of their hosts. */
static int map_hosts(struct field *f)
{
    struct covey_topology_node *nodes = NULL;
    struct covey_host *hosts = NULL;
    int node_count = covey_topology_nodes(f->topology, &nodes);
    int host_count = covey_hosts(f->party->vm, &hosts), failed = 0;
    f->hosts = calloc((size_t)f->ranks, sizeof *f->hosts);
    if (node_count < 0 || host_count < 0 || !f->hosts)
        failed = party_fail_vm(f->party, "the topology", COVEY_ENOMEM);
    for (int i = 0; !failed && i < f->ranks; i++) {
        int host = covey_tid_host(covey_team_tid(f->team, i));
        const char *name = name_of(hosts, host_count, host);
        f->hosts[i] = node_of(nodes, node_count, name);
        if (f->hosts[i] < 0)
            failed = party_fail(f->party, name, "this host is not in the topology");
    }
    covey_free(nodes);
    covey_free(hosts);
    return failed;
}

static int open_team(struct field *f, bool leads)
{
    char name[64];
    covey_tid_t leader = leads ? covey_mytid(f->party->vm) : f->party->plan.peers[0];
    snprintf(name, sizeof name, "covey-bench-%x", (unsigned)leader);
    int error = covey_group_join(f->party->vm, name, &f->group);
    if (error >= 0)
        error = covey_team_of_group(f->group, f->ranks, PATIENCE_US, &f->team);
    if (error >= 0)
        error = covey_team_set_timeout(f->team, PATIENCE_US);
    if (error < 0)
        return party_fail_vm(f->party, "the team", error);
    f->rank = covey_team_rank(f->team);
    if (make_topology(f) != 0)
        return -1;
    return *f->party->plan.exchange.topology ? map_hosts(f) : 0;
}

static void close_team(struct field *f)
{
    covey_team_free(&f->team);
    covey_group_leave(&f->group);
    covey_topology_free(&f->topology);
    free(f->hosts);
    free(f->block);
}

/* ---- a share of a pattern ---- */

static int reserve_block(struct field *f, size_t bytes)
{
    if (bytes <= f->block_bytes)
        return 0;
    free(f->block);
    f->block = calloc(bytes, 1);
    f->block_bytes = f->block ? bytes : 0;
    return f->block ? 0 : party_fail(f->party, "the messages", "memory is exhausted");
}

/* The pattern's messages that leave here and arrive here, one behind the other in the block. */
static int take_share(struct field *f, const struct exchange_shape *shape, struct share *share)
{
    struct covey_exchange_message *all = exchange_pattern(shape);
    size_t count = (size_t)shape->ranks * (size_t)shape->density, bytes = 0;
    for (size_t i = 0; all && i < count; i++)
        bytes += all[i].from == f->rank || all[i].to == f->rank ? all[i].bytes + 1 : 0;
    if (!all || reserve_block(f, bytes) != 0) {
        free(all);
        return party_fail(f->party, "the messages", "memory is exhausted");
    }
    share->count = 0;
    bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].from != f->rank)
            continue;
        share->from[share->count] = f->block + bytes;
        share->out[share->count++] =
            (struct covey_parcel){.rank = all[i].to, .count = (size_t)all[i].bytes};
        bytes += all[i].bytes;
    }
    free(all);
    for (int i = 0; i < BENCH_TASKS_MAX; i++)
        share->to[i] = f->block + bytes; /* to be moved by what comes first */
    return 0;
}

static void place_incoming(const covey_exchange_plan_t *plan, struct share *share)
{
    const struct covey_parcel *in;
    int count = covey_exchange_incoming(plan, &in);
    uint8_t *at = share->to[0];
    for (int i = 0; i < count; i++) {
        share->to[i] = at;
        at += in[i].count;
    }
}

/* ---- samples ---- */

/* The longest time at any task. */
static int longest_s(struct field *f, double own_s, double *most_s)
{
    double all[BENCH_TASKS_MAX];
    int error = covey_allgather(f->team, COVEY_DOUBLE, &own_s, all, 1);
    *most_s = 0;
    for (int i = 0; error == 0 && i < f->ranks; i++)
        *most_s = all[i] > *most_s ? all[i] : *most_s;
    return error;
}

/* The first run, which opens ways between tasks, is not counted. */
static int run_twice(struct field *f, covey_exchange_plan_t *plan, struct share *share)
{
    int error = covey_exchange_run(plan, share->from, share->to);
    if (error == 0)
        error = covey_barrier(f->team);
    if (error == 0)
        error = covey_exchange_run(plan, share->from, share->to);
    return error;
}

static int sample_exchange(struct field *f, struct share *share,
                           const struct covey_exchange_options *how,
                           struct covey_exchange_info *info)
{
    covey_exchange_plan_t *plan = NULL;
    double most_s;
    int error = covey_barrier(f->team);
    if (error == 0)
        error = covey_exchange_plan(f->team, COVEY_BYTES, share->out, share->count, how, &plan);
    if (error == 0) {
        void *first = share->to[0];
        place_incoming(plan, share);
        error = run_twice(f, plan, share);
        share->to[0] = first;
        covey_exchange_info(plan, info);
    }
    if (error == 0)
        error = longest_s(f, info->run_s, &most_s);
    covey_exchange_free(&plan);
    if (error)
        return party_fail_vm(f->party, covey_exchange_name(how->algorithm), error);
    info->run_s = most_s;
    return 0;
}

/* ---- rows ---- */

static int begin_row(struct field *f, struct bench_row *row)
{
    for (int algorithm = FIRST; algorithm <= LAST; algorithm++) {
        if (!party_add_series(f->party, row, covey_exchange_name(algorithm)))
            return -1;
    }
    return 0;
}

static int run_round(struct field *f, struct bench_row *row, struct share *share, int round)
{
    double share_of = 1.0 / f->party->plan.rounds;
    for (int algorithm = FIRST; algorithm <= LAST; algorithm++) {
        struct bench_series *series = &row->series[algorithm - FIRST];
        const struct covey_exchange_options how = {.algorithm = algorithm,
                                                   .topology = f->topology,
                                                   .hosts = f->hosts,
                                                   .seed = (uint64_t)round + 1};
        struct covey_exchange_info info;
        if (sample_exchange(f, share, &how, &info) != 0)
            return -1;
        series->us[round] = info.run_s * 1e6;
        series->learn_s += info.learn_s * share_of;
        series->order_s += info.schedule_s * share_of;
        series->phases += info.phases;
        series->bytes += (double)row->bytes * (double)info.messages;
        row->bound_bytes += info.bound_bytes * share_of / (LAST - FIRST + 1);
    }
    return 0;
}

static int measure_exchange_row(struct field *f, int density, int64_t bytes, bool leads)
{
    const struct bench_plan *plan = &f->party->plan;
    struct bench_row row = {.bytes = bytes};
    struct share *share = malloc(sizeof *share);
    snprintf(row.label, sizeof row.label, "%d", density);
    int failed =
        share ? begin_row(f, &row) : party_fail(f->party, "measuring", "memory is exhausted");
    for (int round = 0; round < plan->rounds && !failed; round++) {
        const struct exchange_shape shape = {.ranks = f->ranks,
                                             .density = density,
                                             .bytes = (uint64_t)bytes,
                                             .unequal = plan->exchange.unequal,
                                             .seed = (uint64_t)round + 1};
        failed = take_share(f, &shape, share) || run_round(f, &row, share, round);
    }
    if (!failed && leads)
        failed = party_send_row(f->party, &row);
    bench_row_free(&row);
    free(share);
    return failed;
}

static int choose_densities(struct party *party)
{
    struct bench_exchange *exchange = &party->plan.exchange;
    if (exchange->density_count == 0)
        exchange->density_count =
            exchange_usual_densities(party->plan.tasks, exchange->densities, BENCH_DENSITIES_MAX);
    for (int i = 0; i < exchange->density_count; i++) {
        if (exchange->densities[i] >= party->plan.tasks)
            return party_fail(party, "--density", "there are not so many other tasks");
    }
    return 0;
}

int exchange_measure(struct party *party, bool leads)
{
    const struct bench_plan *plan = &party->plan;
    if (choose_densities(party) != 0)
        return -1;
    struct field f = {.party = party, .ranks = plan->tasks};
    int error = covey_set_route(party->vm, COVEY_ANY_TASK, plan->route);
    if (error)
        return party_fail_vm(party, covey_route_name(plan->route), error);
    int failed = open_team(&f, leads);
    for (int d = 0; d < plan->exchange.density_count && !failed; d++) {
        for (int i = 0; i < plan->size_count && !failed; i++)
            failed = measure_exchange_row(&f, plan->exchange.densities[d], plan->sizes[i], leads);
    }
    close_team(&f);
    return failed;
}
