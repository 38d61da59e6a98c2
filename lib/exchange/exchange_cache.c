/*
 * exchange_cache.c - the orders that a team keeps: a few, the one that was wanted last first.
 */
#include "lib/collective/collective.h"
#include "lib/exchange/exchange.h"
#include "lib/msg/error.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 8

struct exchange_cache {
    struct exchange_order *orders[KEPT_MAX];
    int count;
};

static void exchange_cache_free(void *exchanges)
{
    struct exchange_cache *cache = exchanges;

    for (int i = 0; cache != NULL && i < cache->count; i++)
        exchange_order_drop(cache->orders[i]);
    free(cache);
}

/* Moves the order at that place to the front. */
static struct exchange_order *to_front(struct exchange_cache *cache, int at)
{
    struct exchange_order *order = cache->orders[at];
    memmove(cache->orders + 1, cache->orders, (size_t)at * sizeof order);
    return cache->orders[0] = order;
}

struct exchange_order *exchange_cache_find(struct covey_team *team, const uint8_t *key)
{
    struct exchange_cache *cache = team->kept.exchanges;

    for (int i = 0; i < cache->count; i++) {
        if (memcmp(cache->orders[i]->key, key, EXCHANGE_KEY_BYTES) != 0)
            continue;
        struct exchange_order *order = to_front(cache, i);
        order->users++;
        return order;
    }
    return NULL;
}

int exchange_cache_create(struct covey_team *team)
{
    if (team->kept.exchanges == NULL)
        team->kept.exchanges = calloc(1, sizeof(struct exchange_cache));
    team->kept.free = exchange_cache_free;
    return team->kept.exchanges == NULL ? error_code(COVEY_ENOMEM) : COVEY_OK;
}

void exchange_cache_keep(struct covey_team *team, struct exchange_order *order)
{
    struct exchange_cache *cache = team->kept.exchanges;

    if (cache->count == KEPT_MAX)
        exchange_order_drop(cache->orders[--cache->count]);
    cache->orders[cache->count] = order;
    order->users++;
    to_front(cache, cache->count++);
}
