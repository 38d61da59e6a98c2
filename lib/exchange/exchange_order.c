/*
 * exchange_order.c - orders: chosen, made, and made for programs without any task.
 */
#include "lib/collective/collective.h"
#include "lib/exchange/exchange.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/schedule/topology.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#define LINKS_LIMIT                                                                                \
    1.05 /* the bound of links is so much above that of ranks: links are the limit */

_Static_assert(sizeof(struct covey_exchange_message) == sizeof(struct exchange_message) &&
                   offsetof(struct covey_exchange_message, end) ==
                       offsetof(struct exchange_message, end) &&
                   offsetof(struct covey_exchange_message, to) ==
                       offsetof(struct exchange_message, to),
               "messages are ordered in the place of the program's");

/* ---- Names ------------------------------------------------------------------------------- */

static const char *const names[] = {"auto", "AC", "LP", "RS_N", "RS_NL", "COLOUR", "LONGEST"};

#define NAMES (int)(sizeof names / sizeof *names)

const char *covey_exchange_name(int algorithm)
{
    return algorithm >= 0 && algorithm < NAMES ? names[algorithm] : "unknown";
}

int covey_exchange_parse(const char *name)
{
    for (int i = 0; name != NULL && i < NAMES; i++) {
        if (strcasecmp(names[i], name) == 0)
            return i;
    }
    return error_set(COVEY_EINVAL, "%.32s: must be auto, AC, LP, RS_N, RS_NL, COLOUR or LONGEST",
                     name == NULL ? "NULL" : name);
}

/* ---- Options ----------------------------------------------------------------------------- */

int exchange_options_check(const struct covey_exchange_options *options, int ranks)
{
    if (ranks < 1 || ranks > NETWORK_RANKS_MAX)
        return error_set(COVEY_EINVAL, "exchange: %d ranks; there may be 1 to %d", ranks,
                         NETWORK_RANKS_MAX);
    if (options->algorithm < COVEY_EXCHANGE_AUTO || options->algorithm > COVEY_EXCHANGE_LONGEST)
        return error_set(COVEY_EINVAL, "exchange: there is no algorithm %" PRId32,
                         options->algorithm);
    if (options->synchrony < COVEY_EXCHANGE_S_AUTO || options->synchrony > COVEY_EXCHANGE_S2)
        return error_set(COVEY_EINVAL, "exchange: there is no synchrony %" PRId32,
                         options->synchrony);
    if (options->topology != NULL) {
        const int32_t *hosts = options->hosts;
        if (hosts == NULL && options->topology->tree.host_count != ranks)
            return error_set(COVEY_EINVAL, "exchange: %d ranks, but the topology has %d hosts",
                             ranks, options->topology->tree.host_count);
        for (int i = 0; hosts != NULL && i < ranks; i++) {
            if (hosts[i] < 0 || hosts[i] >= options->topology->tree.node_count ||
                options->topology->tree.nodes[hosts[i]].is_switch)
                return error_set(COVEY_EINVAL,
                                 "exchange: rank %d: node %" PRId32 " is no host of the topology",
                                 i, hosts[i]);
        }
        return COVEY_OK;
    }
    if (options->algorithm == COVEY_EXCHANGE_RS_NL)
        return error_set(COVEY_EINVAL, "exchange: RS_NL keeps links free and needs a topology");
    return COVEY_OK;
}

/* ---- Making ------------------------------------------------------------------------------ */

static enum exchange_algorithm engine_of(int algorithm)
{
    static const enum exchange_algorithm engines[] = {
        [COVEY_EXCHANGE_AC] = EXCHANGE_AC,         [COVEY_EXCHANGE_LP] = EXCHANGE_LP,
        [COVEY_EXCHANGE_RS_N] = EXCHANGE_RS_N,     [COVEY_EXCHANGE_RS_NL] = EXCHANGE_RS_NL,
        [COVEY_EXCHANGE_COLOUR] = EXCHANGE_COLOUR, [COVEY_EXCHANGE_LONGEST] = EXCHANGE_LONGEST,
    };
    return engines[algorithm];
}

/* Section 6: S1 where messages go both ways in pairs, otherwise S2. What has no phases needs the
 * signal to be more than an order of sending. */
static int synchrony_of(int algorithm)
{
    return algorithm == COVEY_EXCHANGE_AC || algorithm == COVEY_EXCHANGE_RS_N ? COVEY_EXCHANGE_S2
                                                                              : COVEY_EXCHANGE_S1;
}

static int make(struct exchange_order *order, const struct covey_exchange_options *options,
                const struct network *n, const struct covey_team *team)
{
    struct exchange *x = &order->x;
    bool links = n != NULL && exchange_bound(x, n) > LINKS_LIMIT * exchange_bound_of_ports(x, n);

    order->density = exchange_density(x);
    order->bound_bytes = exchange_bound(x, n);
    order->algorithm = options->algorithm;
    if (order->algorithm == COVEY_EXCHANGE_AUTO)
        order->algorithm = exchange_choose(order, team, n != NULL);
    order->synchrony = options->synchrony;
    if (order->synchrony == COVEY_EXCHANGE_S_AUTO)
        order->synchrony = synchrony_of(order->algorithm);
    bool longest = order->algorithm == COVEY_EXCHANGE_LONGEST;
    if (exchange_schedule(x, engine_of(order->algorithm), longest && !links ? NULL : n,
                          options->seed) != 0)
        return error_code(COVEY_ENOMEM);
    if (longest && links && order->synchrony == COVEY_EXCHANGE_S1 &&
        exchange_signals(x, n, &order->signals, &order->signal_count) != 0)
        return error_code(COVEY_ENOMEM);
    return COVEY_OK;
}

int exchange_order_make(struct exchange_order *order, const struct covey_exchange_options *options,
                        const struct covey_team *team)
{
    struct network n;

    if (options->topology == NULL)
        return make(order, options, NULL, team);
    if (network_create(&n, &options->topology->tree, options->hosts, order->x.ranks) != 0)
        return error_code(COVEY_ENOMEM);
    int error = make(order, options, &n, team);
    network_destroy(&n);
    return error;
}

void exchange_order_drop(struct exchange_order *order)
{
    if (order == NULL || --order->users > 0)
        return;
    free(order->x.messages);
    free(order->signals);
    pace_plan_destroy(&order->pace);
    free(order);
}

/* ---- For programs ------------------------------------------------------------------------ */

static int check_messages(const struct covey_exchange_message *messages, size_t count, int ranks)
{
    uint8_t *seen = calloc((size_t)ranks * (size_t)ranks / 8 + 1, 1);
    int error = seen == NULL ? error_code(COVEY_ENOMEM) : COVEY_OK;

    for (size_t i = 0; error == COVEY_OK && i < count; i++) {
        const struct covey_exchange_message *m = &messages[i];
        size_t pair = (size_t)m->from * (size_t)ranks + m->to;
        if (m->from >= ranks || m->to >= ranks || m->from == m->to)
            error = error_set(COVEY_EINVAL, "exchange: message %zu: no such ranks: %u to %u", i,
                              m->from, m->to);
        else if (seen[pair / 8] >> pair % 8 & 1)
            error = error_set(COVEY_EINVAL, "exchange: two messages from %u to %u", m->from, m->to);
        else
            seen[pair / 8] |= (uint8_t)(1 << pair % 8);
    }
    free(seen);
    return error;
}

static void order_tell(const struct exchange_order *order, double schedule_s,
                       struct covey_exchange_info *info)
{
    *info = (struct covey_exchange_info){.algorithm = order->algorithm,
                                         .synchrony = order->synchrony,
                                         .ranks = order->x.ranks,
                                         .density = order->density,
                                         .phases = order->x.phases,
                                         .signals = (uint32_t)order->signal_count,
                                         .messages = order->x.count,
                                         .bound_bytes = order->bound_bytes,
                                         .ideal_bytes = (double)order->x.end,
                                         .schedule_s = schedule_s};
}

int covey_exchange_order(struct covey_exchange_message *messages, size_t count, int ranks,
                         const struct covey_exchange_options *options,
                         struct covey_exchange_info *info)
{
    static const struct covey_exchange_options defaults;
    struct exchange_order order = {
        .x = {.ranks = ranks, .count = count, .messages = (void *)messages}};
    const struct covey_exchange_options *how = options != NULL ? options : &defaults;

    if ((messages == NULL && count > 0) || info == NULL)
        return error_set(COVEY_EINVAL, "exchange: NULL");
    int error = exchange_options_check(how, ranks);
    if (error == COVEY_OK)
        error = check_messages(messages, count, ranks);
    if (error != COVEY_OK)
        return error;
    uint64_t start_us = clock_us();
    error = exchange_order_make(&order, how, NULL);
    free(order.signals);
    if (error == COVEY_OK)
        order_tell(&order, (double)(clock_us() - start_us) / 1e6, info);
    return error;
}

void covey_exchange_info(const covey_exchange_plan_t *plan, struct covey_exchange_info *info)
{
    order_tell(plan->order, plan->schedule_s, info);
    info->learn_s = plan->learn_s;
    info->run_s = plan->run_s;
    info->runs = plan->runs;
}
