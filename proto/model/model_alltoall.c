/*
 * model_alltoall.c - all-to-all on a tree of switches: the bound of Faraj & Yuan, and what the
 * runtime's algorithms make of it, played frame by frame (model_exchange.h).
 */
#include <math.h>
#include <stdlib.h>

#include "proto/model/model.h"
#include "proto/model/model_exchange.h"
#include "proto/schedule/schedule.h"
#include "proto/wire/frame.h"

#define SEED 1 /* of the schedule's search: one network has one schedule */
#define CALLS_LEAST 5
#define CALLS_MOST 21 /* of short blocks, which losses make take now one time, now another */
#define CHAINS 5      /* of so many calls */
#define CALLS_FRAMES 100000.0      /* of all */
#define PLAYED_FRAMES_MAX 400000.0 /* of a call */
#define PLAYED_BLOCK_MIN 16.0      /* frames of a block, whatever that comes to */

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

/* What goes along with a block on a stream (frame.h): a brief head, or one for each part. */
static double stream_bytes(double bytes)
{
    double heads = FRAME_MESSAGE_BYTES + FRAME_ITEM_BYTES;
    if (bytes <= BRIEF_SIZE_MAX)
        return bytes + BRIEF_STAMPED_BYTES;
    return bytes + heads + FRAME_HEADER_BYTES * ceil((bytes + heads) / FRAME_PAYLOAD_MAX);
}

/* Blocks of which a call has too many frames are played shorter, and the time is stretched. */
static double played_bytes(const struct network *network, const struct net_config *config,
                           double bytes)
{
    double pairs = (double)network->rank_count * (network->rank_count - 1);
    double most = fmax(PLAYED_FRAMES_MAX / pairs, PLAYED_BLOCK_MIN) * config->frame_bytes;
    return bytes < most ? bytes : most;
}

static int calls_of(const struct network *network, double frames)
{
    double pairs = (double)network->rank_count * (network->rank_count - 1);
    return (int)fmin(fmax(CALLS_FRAMES / (pairs * frames), CALLS_LEAST), CALLS_MOST);
}

/* Where losses count so much that a median of few calls is chance. */
static int chains_of(int calls)
{
    return calls == CALLS_MOST ? CHAINS : 1;
}

int model_alltoall(const struct network *network, const struct net_config *config, double bytes,
                   struct model_alltoall *result)
{
    double payload = config->frame_bytes / (config->frame_bytes + config->header_bytes);
    double played = played_bytes(network, config, bytes);
    double *const seconds[] = {[EXCHANGE_SCHEDULED] = &result->scheduled_s,
                               [EXCHANGE_RING] = &result->ring_s,
                               [EXCHANGE_PAIRWISE] = &result->pairwise_s};
    *result = (struct model_alltoall){.bound_s = find_bound(network, 8 * bytes / payload)};
    if (network->rank_count < 2)
        return 0;
    struct schedule schedule;
    if (schedule_create(&schedule, network, SEED) != 0)
        return -1;
    result->phases = schedule.phases;
    int failed = 0, calls = calls_of(network, ceil(played / config->frame_bytes));
    for (int way = EXCHANGE_SCHEDULED; way <= EXCHANGE_PAIRWISE && failed == 0; way++) {
        struct exchange_result found;
        const struct exchange what = {.way = (enum exchange_way)way,
                                      .schedule = &schedule,
                                      .bytes = bytes,
                                      .stream_bytes = stream_bytes(played)};
        failed = exchange_play(network, config, &what, calls, chains_of(calls), &found);
        *seconds[way] = found.seconds * (bytes > played ? bytes / played : 1);
    }
    schedule_destroy(&schedule);
    return failed;
}
