/*
 * model_alltoall.c - all-to-all on a tree of switches, after Faraj & Yuan.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/model/model.h"
#include "proto/schedule/schedule.h"

#define SEED 1 /* of the schedule's search: one network has one schedule */

/* Time of so many messages over a link. */
static double link_s(const struct network *network, int node, double messages, double bits)
{
    return messages * bits / (double)network->nodes[node].rate;
}

/* Section 3: the best case is the load of the bottleneck link times msize / B. */
static double find_bound(const struct network *network, double bits)
{
    double most = 0;
    for (int node = 0; node < network->node_count; node++) {
        if (network->nodes[node].parent < 0)
            continue;
        double here = link_s(network, node, (double)network_load(network, node), bits);
        most = here > most ? here : most;
    }
    return most;
}

/* The busiest link of a round in which each rank sends to the one `distance` further on. */
static double round_s(const struct network *network, int distance, double bits, int *loads,
                      int *path)
{
    double most = 0;
    memset(loads, 0, 2 * (size_t)network->node_count * sizeof *loads);
    for (int rank = 0; rank < network->rank_count; rank++) {
        int length = network_path(network, rank, (rank + distance) % network->rank_count, path);
        for (int i = 0; i < length; i++) {
            double here = link_s(network, path[i] / 2, ++loads[path[i]], bits);
            most = here > most ? here : most;
        }
    }
    return most;
}

static int add_rounds(const struct network *network, double bits, double alpha_s, double *sum_s)
{
    int *loads = calloc(2 * (size_t)network->node_count, sizeof *loads);
    int *path = calloc((size_t)network->path_max + 1, sizeof *path);
    *sum_s = 0;
    for (int distance = 1; loads && path && distance < network->rank_count; distance++)
        *sum_s += alpha_s + round_s(network, distance, bits, loads, path);
    int result = loads && path ? 0 : -1;
    free(loads);
    free(path);
    return result;
}

int model_alltoall(const struct network *network, double bytes, double alpha_s, double payload,
                   struct model_alltoall *result)
{
    double bits = 8 * bytes / payload;
    *result = (struct model_alltoall){.bound_s = find_bound(network, bits)};
    if (network->rank_count < 2)
        return 0;
    if (add_rounds(network, bits, alpha_s, &result->unscheduled_s) != 0)
        return -1;
    /* A phase lasts as long as its slots on the slowest link. */
    struct schedule schedule;
    if (schedule_create(&schedule, network, SEED) != 0)
        return -1;
    double slot_s = bits / (double)network_slowest(network);
    result->phases = schedule.phases;
    result->scheduled_s = schedule.phases * (alpha_s + schedule.slots * slot_s);
    schedule_destroy(&schedule);
    return 0;
}
