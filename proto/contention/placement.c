/*
 * placement.c - chooses a host for one task after the other, by the model of placement.h. Each
 * choice looks at all hosts, for a task that was placed changes what the next one finds.
 */
#include "proto/contention/placement.h"

/* What the next task gets of a core beside those that compete and those that were placed. */
static double share_of(const struct placement_host *hosts, size_t at)
{
    const struct placement_host *host = &hosts[at];
    double share = host->cores / (host->demand + hosts[host->leader].together + 1);
    return share < 1 ? share : 1;
}

/* How much longer it takes beside those who use that part already, as a multiple. */
static double slowed_by(double used)
{
    double part = used < PLACEMENT_USED_MAX ? used : PLACEMENT_USED_MAX;
    return part > 0 ? part / (1 - part) : 0;
}

static double work_end_of(const struct placement_host *host, const struct placement_wish *wish,
                          double share)
{
    double network = slowed_by(host->network);
    double waits = slowed_by(host->disk) + (wish->traffic_known ? 0 : network);
    return wish->work_s / (host->speed * share) + wish->work_s * PLACEMENT_WAITS * waits +
           host->traffic_s * (1 + network);
}

static double room_of(const struct placement_host *host, const struct placement_wish *wish)
{
    return host->memory_free - host->placed * wish->memory_bytes;
}

static bool host_has_room(const struct placement_host *host, const struct placement_wish *wish)
{
    return wish->memory_bytes <= 0 || host->memory_free < 0 ||
           room_of(host, wish) >= wish->memory_bytes;
}

/* One round: who may take the next task, and when it would end there. */
struct round {
    struct placement_host *hosts;
    size_t count;
    const struct placement_wish *wish;
    uint8_t withheld; /* the least of all; */
    bool all_page;    /* those who are no more than that */
    bool all;         /* nobody has room */
    double room_most;
    double best_s;
};

static bool is_meant(const struct round *r, const struct placement_host *host)
{
    return host->withheld == r->withheld && (!host->pages || r->all_page);
}

static bool may_take(const struct round *r, size_t at)
{
    const struct placement_host *host = &r->hosts[at];
    if (!is_meant(r, host))
        return false;
    return r->all ? room_of(host, r->wish) >= r->room_most : host_has_room(host, r->wish);
}

static double end_at(const struct round *r, size_t at)
{
    return work_end_of(&r->hosts[at], r->wish, share_of(r->hosts, at));
}

static void round_begin(struct round *r)
{
    bool first = true;
    r->all = true;
    r->room_most = -1;
    r->best_s = -1;
    for (size_t i = 0; i < r->count; i++) {
        double room = room_of(&r->hosts[i], r->wish);
        if (!is_meant(r, &r->hosts[i]))
            continue;
        r->all = r->all && !host_has_room(&r->hosts[i], r->wish);
        r->room_most = first || room > r->room_most ? room : r->room_most;
        first = false;
    }
    for (size_t i = 0; i < r->count; i++) {
        double end_s = may_take(r, i) ? end_at(r, i) : -1;
        if (end_s >= 0 && (r->best_s < 0 || end_s < r->best_s))
            r->best_s = end_s;
    }
}

static bool is_equal(const struct round *r, size_t at)
{
    return may_take(r, at) && end_at(r, at) <= r->best_s * (1 + PLACEMENT_EQUAL);
}

/* Of those that are as good as the best the one with the fewest, and of these the first in turn. */
static size_t round_choose(const struct round *r, size_t start)
{
    size_t found = r->count, equals = 0;
    for (size_t i = 0; i < r->count; i++) {
        size_t at = (start + i) % r->count;
        if (!is_equal(r, at))
            continue;
        if (found == r->count || r->hosts[at].placed < r->hosts[found].placed)
            found = at;
        equals++;
    }
    if (found == r->count) /* numbers that make no sense */
        return start % r->count;
    r->hosts[found].turns += equals > 1;
    return found;
}

static uint32_t find_leader(const struct placement_host *hosts, size_t at)
{
    for (size_t i = 0; i < at && hosts[at].machine != 0; i++)
        if (hosts[i].machine == hosts[at].machine)
            return (uint32_t)i;
    return (uint32_t)at;
}

static void hosts_begin(struct round *r)
{
    r->withheld = UINT8_MAX;
    for (size_t i = 0; i < r->count; i++)
        r->withheld = r->hosts[i].withheld < r->withheld ? r->hosts[i].withheld : r->withheld;
    r->all_page = true;
    for (size_t i = 0; i < r->count; i++)
        r->all_page &= r->hosts[i].pages || r->hosts[i].withheld > r->withheld;
    for (size_t i = 0; i < r->count; i++) {
        struct placement_host *host = &r->hosts[i];
        host->placed = host->turns = host->together = 0;
        host->leader = find_leader(r->hosts, i);
        host->short_of_room = !host_has_room(host, r->wish);
    }
    for (size_t i = 0; i < r->count; i++) {
        r->hosts[i].share = share_of(r->hosts, i);
        r->hosts[i].end_s = end_at(r, i);
    }
}

size_t placement_choose(struct placement_host *hosts, size_t count,
                        const struct placement_wish *wish, size_t start, uint32_t *chosen,
                        size_t tasks)
{
    struct round r = {.hosts = hosts, .count = count, .wish = wish};
    hosts_begin(&r);
    for (size_t i = 0; i < tasks; i++) {
        round_begin(&r);
        size_t at = round_choose(&r, start);
        chosen[i] = (uint32_t)at;
        hosts[at].short_of_room |= r.all;
        hosts[at].placed++;
        hosts[hosts[at].leader].together++;
        start = (at + 1) % count;
    }
    return start;
}
