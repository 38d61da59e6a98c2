/*
 * door_places.c - the list of ranks. Hosts whose daemon is silent are not in it: a start there, or
 * a message, would wait until the VM has given the host up.
 */
#include "lib/domain/door/door_places.h"

#include "lib/domain/base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_US ((int64_t)1000000)

/* ---- hosts ---- */

static void add_host(struct door_places *places, const struct covey_host *host,
                     const struct covey_host_stat *stat)
{
    struct door_host *added = &places->hosts[places->host_count++];
    *added = (struct door_host){.index = host->index, .machine = stat->machine};
    snprintf(added->name, sizeof added->name, "%s", host->name);
}

/* The own one first, whatever its daemon says: the caller is there. */
static int find_hosts(covey_t *vm, struct door_places *places)
{
    struct covey_host *hosts = NULL;
    struct covey_host_stat *stats = NULL;
    int own = covey_tid_host(covey_mytid(vm));
    int n = covey_host_stats(vm, PATIENCE_US, &hosts, &stats);
    if (n < 0)
        return domain_fail_of(n, "the hosts of the VM");
    places->hosts = calloc((size_t)n + 1, sizeof *places->hosts);
    for (int is_own = 1; places->hosts != NULL && is_own >= 0; is_own--)
        for (int i = 0; i < n; i++)
            if ((hosts[i].index == own) == is_own &&
                (is_own || (hosts[i].state == COVEY_HOST_UP && stats[i].known)))
                add_host(places, &hosts[i], &stats[i]);
    covey_free(hosts);
    covey_free(stats);
    if (places->hosts == NULL)
        return domain_fail(COVEY_ENOMEM, "no memory for a list of hosts");
    if (places->host_count == 0 || places->hosts[0].index != own)
        return domain_fail(COVEY_ENOHOST, "the caller's host is not among those of the VM");
    return 0;
}

/* A host that is not in the answer has none idle. The caller itself may or may not show in the load
 * of its host: one processor there is taken for its own. */
static void find_idle(covey_t *vm, struct door_places *places)
{
    const char *const argv[] = {"covey-domain-worker", NULL};
    const struct covey_spawn what = {.argv = argv};
    struct covey_place *idle = NULL;
    int n = covey_place_idle(vm, &what, &idle);
    for (int i = 0; i < n; i++)
        for (int h = 0; h < places->host_count; h++)
            if (places->hosts[h].index == idle[i].host)
                places->hosts[h].idle = idle[i].tasks - (h == 0);
    if (places->hosts[0].idle < 0)
        places->hosts[0].idle = 0;
    covey_free(idle);
}

/* ---- ranks ---- */

static void add_rank(struct door_places *places, int host)
{
    places->at[places->rank_count++] = host;
    places->hosts[host].ranks++;
}

/* In turn, one on each of the hosts from `first` on that has more processors than ranks; idle_only
 * 0: or not. Until there are `wanted` ranks, or none was added. */
static void add_in_turn(struct door_places *places, int first, int wanted, int idle_only)
{
    int before = -1;
    while (places->rank_count < wanted && before < places->rank_count) {
        before = places->rank_count;
        for (int h = first; h < places->host_count && places->rank_count < wanted; h++) {
            const struct door_host *host = &places->hosts[h];
            if (!idle_only || host->ranks < host->idle + (h == 0))
                add_rank(places, h);
        }
    }
}

static int limit_hosts(struct door_places *places, int wanted, int is_rest)
{
    if (wanted > places->host_count && !is_rest)
        return domain_fail(COVEY_ENOHOST, "%d hosts are wanted, and %d of the VM are up", wanted,
                           places->host_count);
    if (wanted >= 0 && wanted < places->host_count)
        places->host_count = wanted > 0 ? wanted : 1;
    return 0;
}

static void add_ranks(struct door_places *places, const struct door_options *options)
{
    int most = options->tasks > 0 ? options->tasks : DOOR_RANKS_MOST;
    add_rank(places, 0);
    if (options->hosts == 0)
        return;
    for (int h = 1; options->hosts > 0 && h < places->host_count && places->rank_count < most; h++)
        add_rank(places, h);
    while (places->hosts[0].ranks <= places->hosts[0].idle && places->rank_count < most)
        add_rank(places, 0);
    add_in_turn(places, 1, most, 1);
    if (options->tasks > 0)
        add_in_turn(places, 0, most, 0);
}

int door_places_find(covey_t *vm, const struct door_options *options, int is_rest,
                     struct door_places *places)
{
    *places = (struct door_places){0};
    int error = find_hosts(vm, places);
    if (error == 0)
        error = limit_hosts(places, options->hosts, is_rest);
    if (error == 0) {
        places->at = calloc(DOOR_RANKS_MOST, sizeof *places->at);
        if (places->at == NULL)
            error = domain_fail(COVEY_ENOMEM, "no memory for a list of places");
    }
    if (error < 0) {
        door_places_free(places);
        return error;
    }
    find_idle(vm, places);
    add_ranks(places, options);
    return 0;
}

void door_places_free(struct door_places *places)
{
    free(places->hosts);
    free(places->at);
    *places = (struct door_places){0};
}

/* ---- what is known of the first ranks ---- */

/* Ranks that a host has among the first ones. */
static int ranks_of(const struct door_places *places, int host, int tasks)
{
    int ranks = 0;
    for (int i = 0; i < tasks; i++)
        ranks += places->at[i] == host;
    return ranks;
}

int door_places_hosts(const struct door_places *places, int tasks)
{
    int hosts = 0;
    for (int h = 0; h < places->host_count; h++)
        hosts += ranks_of(places, h, tasks) > 0;
    return hosts;
}

int door_places_is_inside(const struct door_places *places, int tasks)
{
    uint64_t own = places->hosts[0].machine;
    for (int i = 0; i < tasks; i++)
        if (places->at[i] > 0 && (own == 0 || places->hosts[places->at[i]].machine != own))
            return 0;
    return 1;
}

double door_places_share(const struct door_places *places, int tasks)
{
    double least = 1;
    for (int h = 0; h < places->host_count; h++) {
        int ranks = ranks_of(places, h, tasks), idle = places->hosts[h].idle + (h == 0);
        if (ranks > 0)
            least = fmin(least, idle > 0 ? (double)idle / ranks : 0.5 / ranks);
    }
    return least;
}
