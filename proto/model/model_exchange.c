/*
 * model_exchange.c - the ranks of an all-to-all that is played (model_exchange.h).
 *
 * A rank acts when it hears of something: that a message has left, was taken by the kernel, has
 * come. What it does then is what lib/exchange/ does; the rules that are more than a counter are
 * the runtime's own: pace.h and pace_bytes.h for a schedule, unscheduled.h for the others.
 */
#include "proto/model/model_exchange.h"

#include <math.h>
#include <stdlib.h>

#include "proto/schedule/pace.h"
#include "proto/schedule/pace_bytes.h"
#include "proto/schedule/unscheduled.h"

#define FIRST_BYTES                                                                                \
    16384          /* at least, of the blocks of the first call: streams know round trips then */
#define REST_S 1.0 /* between two calls: longer than a stream remembers its window */

struct rank {
    int round;             /* pairwise: that it is in; several at once, ring: sends begun */
    struct pace_plan plan; /* scheduled */
    struct pace pace;
};

struct play {
    struct net *net;
    const struct network *network;
    enum exchange_way way;
    int count; /* ranks */
    int at_once;
    bool asks; /* pairwise: blocks wait until their receiver has begun the round */
    double bytes, mark_bytes, ack_bytes, frame_bytes;
    struct rank *ranks;
    uint8_t *taken, *whole, *marked; /* by sender * count + receiver; pairwise: was asked for */
    int *place;                      /* pairwise, by distance: which one it is */
    int wholes;                      /* blocks that have come */
    double first_s, last_s;
    bool failed;
};

static size_t pair_of(const struct play *x, int from, int to)
{
    return (size_t)from * (size_t)x->count + (size_t)to;
}

static int rank_on(const struct play *x, int rank, int distance)
{
    return (rank + distance) % x->count;
}

static void send(struct play *x, int from, int to)
{
    const struct net_message message = {.from = from,
                                        .to = to,
                                        .bytes = x->bytes,
                                        .mark_bytes = x->mark_bytes,
                                        .ack_bytes = x->ack_bytes};
    net_send(x->net, &message);
}

/* ---- the ring ---------------------------------------------------------------------------- */

static void ring_go(struct play *x, int rank)
{
    struct rank *r = &x->ranks[rank];
    while (r->round + 1 < x->count) {
        int next = r->round + 1, before = next - UNSCHEDULED_WINDOW;
        if (before > 0 && !x->taken[pair_of(x, rank, rank_on(x, rank, before))])
            return;
        r->round = next;
        send(x, rank, rank_on(x, rank, next));
    }
}

/* ---- pairwise ---------------------------------------------------------------------------- */

static void pairwise_send_next(struct play *x, int rank)
{
    struct rank *r = &x->ranks[rank];
    if (r->round + 1 < x->count)
        send(x, rank, rank_on(x, rank, unscheduled_distance(++r->round, x->count)));
}

static int pairwise_to(const struct play *x, int rank)
{
    return rank_on(x, rank, x->ranks[rank].round);
}

static int pairwise_from(const struct play *x, int rank)
{
    return rank_on(x, rank, x->count - x->ranks[rank].round);
}

/* When its block was taken and the other one has come. */
static bool pairwise_is_over(const struct play *x, int rank)
{
    return x->taken[pair_of(x, rank, pairwise_to(x, rank))] &&
           x->whole[pair_of(x, pairwise_from(x, rank), rank)];
}

static void pairwise_go(struct play *x, int rank)
{
    struct rank *r = &x->ranks[rank];
    while (r->round == 0 || (r->round < x->count && pairwise_is_over(x, rank))) {
        if (++r->round == x->count)
            return;
        if (x->asks)
            net_tell(x->net, rank, pairwise_from(x, rank), 0);
        if (!x->asks || x->marked[pair_of(x, rank, pairwise_to(x, rank))])
            send(x, rank, pairwise_to(x, rank));
    }
}

static void pairwise_on_asked(struct play *x, int by, int rank)
{
    x->marked[pair_of(x, rank, by)] = 1;
    if (x->ranks[rank].round > 0 && x->ranks[rank].round < x->count && pairwise_to(x, rank) == by)
        send(x, rank, by);
}

static void pairwise_start(struct play *x, int rank)
{
    if (x->at_once == 1)
        pairwise_go(x, rank);
    for (int i = 0; i < x->at_once && x->at_once > 1; i++)
        pairwise_send_next(x, rank);
}

static void pairwise_on_whole(struct play *x, int from, int rank)
{
    int distance = rank_on(x, rank, x->count - from);
    if (x->at_once == 1)
        pairwise_go(x, rank);
    else if (x->place[distance] + x->at_once < x->count)
        pairwise_send_next(x, rank);
}

/* ---- scheduled --------------------------------------------------------------------------- */

static void scheduled_go(struct play *x, int rank)
{
    for (int to; (to = pace_start(&x->ranks[rank].pace)) >= 0;)
        send(x, rank, to);
}

static void scheduled_on_mark(struct play *x, int from, int rank)
{
    const struct pace_tell *tells;
    if (x->marked[pair_of(x, from, rank)])
        return;
    x->marked[pair_of(x, from, rank)] = 1;
    uint32_t count = pace_on_arrived(&x->ranks[rank].pace, from, &tells);
    for (uint32_t i = 0; i < count; i++) {
        if (tells[i].to == rank)
            pace_on_told(&x->ranks[rank].pace, tells[i].about);
        else
            net_tell(x->net, rank, tells[i].to, tells[i].about);
    }
    scheduled_go(x, rank);
}

static void scheduled_hears(struct play *x, const struct net_event *e)
{
    switch (e->what) {
    case NET_START:
        scheduled_go(x, e->from);
        break;
    case NET_LEFT:
        pace_on_left(&x->ranks[e->from].pace, e->to);
        scheduled_go(x, e->from);
        break;
    case NET_TOLD:
        pace_on_told(&x->ranks[e->to].pace, e->about);
        scheduled_go(x, e->to);
        break;
    case NET_MARK:
    case NET_WHOLE: /* may be heard before the mark */
        scheduled_on_mark(x, e->from, e->to);
        break;
    case NET_TAKEN:
        break;
    }
}

/* ---- all --------------------------------------------------------------------------------- */

static void unscheduled_hears(struct play *x, const struct net_event *e)
{
    bool ring = x->way == EXCHANGE_RING;
    if (e->what == NET_START)
        (ring ? ring_go : pairwise_start)(x, e->from);
    if (e->what == NET_TAKEN) {
        x->taken[pair_of(x, e->from, e->to)] = 1;
        if (ring)
            ring_go(x, e->from);
        else if (x->at_once == 1)
            pairwise_go(x, e->from);
    }
    if (e->what == NET_WHOLE && !ring)
        pairwise_on_whole(x, e->from, e->to);
    if (e->what == NET_TOLD)
        pairwise_on_asked(x, e->from, e->to);
}

static void play_hears(void *context, const struct net_event *e)
{
    struct play *x = context;
    if (e->what == NET_START)
        x->first_s = fmin(x->first_s, net_now(x->net));
    if (e->what == NET_WHOLE) {
        x->whole[pair_of(x, e->from, e->to)] = 1;
        x->wholes++;
        x->last_s = net_now(x->net);
    }
    if (x->way == EXCHANGE_SCHEDULED)
        scheduled_hears(x, e);
    else
        unscheduled_hears(x, e);
}

/* One call; -1: memory is exhausted. */
static int call(struct play *x, double *seconds)
{
    size_t pairs = (size_t)x->count * (size_t)x->count;
    int failed = 0;
    for (size_t i = 0; i < pairs; i++)
        x->taken[i] = x->whole[i] = x->marked[i] = 0;
    x->wholes = 0;
    x->first_s = INFINITY;
    for (int i = 0; i < x->count && failed == 0; i++) {
        x->ranks[i].round = 0;
        if (x->way == EXCHANGE_SCHEDULED) {
            pace_destroy(&x->ranks[i].pace);
            failed = pace_create(&x->ranks[i].pace, &x->ranks[i].plan);
        }
        net_wake(x->net, i);
    }
    if (failed != 0 || net_run(x->net, REST_S) != 0)
        return -1;
    *seconds = x->last_s - x->first_s;
    return x->wholes == x->count * (x->count - 1) ? 0 : -1;
}

static int play_prepare(struct play *x, const struct net_config *config,
                        const struct exchange *what)
{
    size_t count = (size_t)x->count;
    double share = config->frame_bytes / (config->frame_bytes + config->header_bytes);
    x->ranks = calloc(count + 1, sizeof *x->ranks);
    x->taken = calloc(count * count + 1, 1);
    x->whole = calloc(count * count + 1, 1);
    x->marked = calloc(count * count + 1, 1);
    x->place = calloc(count + 1, sizeof *x->place);
    x->net = net_create(x->network, config, play_hears, x);
    if (x->ranks == NULL || x->taken == NULL || x->whole == NULL || x->marked == NULL ||
        x->place == NULL || x->net == NULL)
        return -1;
    for (int i = 1; i < x->count; i++)
        x->place[unscheduled_distance(i, x->count)] = i;
    if (x->way != EXCHANGE_SCHEDULED)
        return 0;
    double rate = (double)network_slowest(x->network) / 8 * share;
    uint64_t early = pace_early_bytes((uint64_t)rate);
    x->mark_bytes = (double)pace_mark_bytes(early, (uint64_t)x->bytes);
    x->ack_bytes = PACE_REST_BYTES_MAX;
    for (int i = 0; i < x->count; i++) {
        if (pace_plan_create(&x->ranks[i].plan, what->schedule, i, false) != 0)
            return -1;
    }
    return 0;
}

static void play_finish(struct play *x)
{
    for (int i = 0; x->ranks != NULL && i < x->count; i++) {
        pace_destroy(&x->ranks[i].pace);
        pace_plan_destroy(&x->ranks[i].plan);
    }
    net_destroy(x->net);
    free(x->ranks);
    free(x->taken);
    free(x->whole);
    free(x->marked);
    free(x->place);
}

static int by_seconds(const void *a, const void *b)
{
    const struct exchange_result *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* The first call opens the streams, and does not count. */
static int play_calls(struct play *x, const struct exchange *what, int calls,
                      struct exchange_result *results)
{
    for (int i = 0; i <= calls; i++) {
        bool longer = i == 0 && what->bytes < FIRST_BYTES;
        uint64_t lost = net_lost(x->net);
        double seconds;
        x->bytes = longer ? FIRST_BYTES : what->stream_bytes;
        x->at_once = unscheduled_at_once(longer ? FIRST_BYTES : (size_t)what->bytes);
        x->asks = what->bytes >= UNSCHEDULED_ASKED;
        if (call(x, &seconds) != 0)
            return -1;
        double frames = fmax(1, ceil(x->bytes / x->frame_bytes)) * x->count * (x->count - 1);
        if (i > 0)
            results[i - 1] = (struct exchange_result){
                .seconds = seconds, .lost = (double)(net_lost(x->net) - lost) / frames};
    }
    return 0;
}

static int play_chain(const struct network *network, const struct net_config *config,
                      const struct exchange *what, int calls, struct exchange_result *results)
{
    struct play x = {.network = network,
                     .way = what->way,
                     .count = network->rank_count,
                     .bytes = what->stream_bytes,
                     .frame_bytes = config->frame_bytes};
    int failed = play_prepare(&x, config, what);
    if (failed == 0)
        failed = play_calls(&x, what, calls, results);
    play_finish(&x);
    return failed;
}

int exchange_play(const struct network *network, const struct net_config *config,
                  const struct exchange *what, int calls, int chains,
                  struct exchange_result *result)
{
    size_t count = (size_t)calls * (size_t)chains;
    struct exchange_result *results = calloc(count + 1, sizeof *results);
    int failed = results == NULL ? -1 : 0;
    struct net_config seeded = *config;
    for (int i = 0; i < chains && failed == 0; i++, seeded.seed++)
        failed = play_chain(network, &seeded, what, calls, results + (size_t)i * (size_t)calls);
    if (failed == 0) {
        qsort(results, count, sizeof *results, by_seconds);
        *result = results[count / 2];
    }
    free(results);
    return failed;
}
