/*
 * exchange_paced.c - runs of those orders in which receivers hand over: the longest first and the
 * edge colouring, by paced.h as the scheduled all-to-all.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/paced.h"
#include "lib/exchange/exchange.h"
#include "lib/msg/error.h"
#include "lib/schedule/topology.h"
#include "lib/team/team_topology.h"
#include "proto/schedule/pace_bytes.h"

#include <string.h>

struct paced_run {
    struct paced_job job;
    struct vector send, recv;
};

/* The node of the rank's host. */
static int rank_host(const struct covey_exchange_options *options, int rank)
{
    const struct topology *tree = &options->topology->tree;
    int node = 0;

    if (options->hosts != NULL)
        return options->hosts[rank];
    for (int before = 0; tree->nodes[node].is_switch || before < rank; node++)
        before += !tree->nodes[node].is_switch;
    return node;
}

int exchange_order_pace(struct exchange_order *order, const struct covey_team *team,
                        const struct covey_exchange_options *options)
{
    bool ours =
        order->algorithm == COVEY_EXCHANGE_LONGEST || order->algorithm == COVEY_EXCHANGE_COLOUR;

    if (!ours || order->synchrony != COVEY_EXCHANGE_S1)
        return COVEY_OK;
    if (options->topology != NULL)
        order->rate = topology_payload_rate(options->topology, rank_host(options, team->rank));
    if (exchange_pace(&order->pace, &order->x, order->signals, order->signal_count, team->rank,
                      team->blind) != 0)
        return error_code(COVEY_ENOMEM);
    order->paced = true;
    return COVEY_OK;
}

/* Counts and arrays by rank, of parcels. */
static bool fill_vector(struct collective *c, struct vector *v, const struct covey_parcel *parcels,
                        int count, void *const *bases)
{
    size_t ranks = (size_t)collective_team(c)->size;
    size_t *counts = collective_memory(c, ranks * sizeof *counts);
    void **arrays = collective_memory(c, ranks * sizeof *arrays);

    if (counts == NULL || arrays == NULL)
        return false;
    memset(counts, 0, ranks * sizeof *counts);
    memset(arrays, 0, ranks * sizeof *arrays);
    for (int i = 0; i < count; i++) {
        counts[parcels[i].rank] = parcels[i].count;
        arrays[parcels[i].rank] = bases[i];
    }
    v->counts = counts;
    v->arrays = arrays;
    return true;
}

void exchange_paced(struct collective *c, const struct covey_exchange_plan *plan,
                    const void *const *out, void *const *in)
{
    const struct exchange_order *order = plan->order;
    struct paced_run *r = collective_memory(c, sizeof *r);

    if (r == NULL)
        return;
    r->send = r->recv = (struct vector){.type = plan->type, .uneven = true};
    r->job = (struct paced_job){.plan = &order->pace,
                                .send = &r->send,
                                .recv = &r->recv,
                                .early_bytes = pace_early_bytes(order->rate),
                                .rate = order->rate};
    if (fill_vector(c, &r->send, plan->out, plan->out_count, (void *const *)out) &&
        fill_vector(c, &r->recv, plan->in, plan->in_count, in))
        collective_paced(c, &r->job);
}
