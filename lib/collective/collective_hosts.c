/*
 * collective_hosts.c - a team in two stages: those of one host, and one lead of each host. What
 * passes between tasks of a host costs no network, so each host is to be reached once. And a team
 * in one circle that enters each host once: ranks often alternate between the hosts, and then every
 * hop of a ring or a chain in the order of ranks would cross the network.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"

#include <string.h>

/* Who leads the host of a rank: its first member, or the root if it is there. */
static int lead_of(const struct covey_team *team, int rank, int root)
{
    int lead = team->host_lead[rank];
    return team->host_lead[root] == lead ? root : lead;
}

bool host_circles(struct collective *c, int root, struct host_circles *circles)
{
    const struct covey_team *team = collective_team(c);
    int *local = collective_memory(c, 2 * (size_t)team->size * sizeof *local);
    if (local == NULL)
        return false;
    int *leads = local + team->size, own = lead_of(team, team->rank, root);
    *circles = (struct host_circles){.local = {.rank = -1, .size = 1, .ranks = local},
                                     .leads = {.rank = -1, .ranks = leads}};
    local[0] = own;
    circles->local.rank = team->rank == own ? 0 : -1;
    for (int i = 0; i < team->size; i++) {
        int lead = lead_of(team, i, root);
        if (lead == own && i != own) {
            circles->local.rank = i == team->rank ? circles->local.size : circles->local.rank;
            local[circles->local.size++] = i;
        }
        if (lead != i)
            continue;
        circles->leads.rank = i == team->rank ? circles->leads.size : circles->leads.rank;
        circles->root_place = i == root ? circles->leads.size : circles->root_place;
        leads[circles->leads.size++] = i;
    }
    return true;
}

/* ---- blocks of the members of a host --------------------------------------------------------- */

/* Through the memory of the host; false: it has none that suits. */
static bool move_shared(struct collective *c, const struct host_circles *circles,
                        const struct shared_call *what)
{
    const struct covey_team *team = collective_team(c);
    struct shared_call job = *what;
    bool deals = job.kind == SHARED_SCATTER;
    size_t members = (size_t)circles->local.size;
    size_t brought = job.count * covey_type_size(job.type) * (deals ? members : 1);
    if (members < 2 || !shared_suits(team, brought))
        return false;
    job.root = shared_place(team, circle_rank(&circles->local, 0));
    collective_shared(c, &job, deals ? 1 : 0);
    return true;
}

static void *block_of(const struct array *own, const void *all, int place)
{
    size_t bytes = own->count * covey_type_size(own->type);
    return (uint8_t *)(uintptr_t)all + (size_t)place * bytes;
}

void host_collect(struct collective *c, const struct host_circles *circles, const struct array *own,
                  void *all)
{
    const struct circle *on = &circles->local;
    const struct shared_call gather = {.kind = SHARED_GATHER,
                                       .name = "gather",
                                       .type = own->type,
                                       .count = own->count,
                                       .send = own->base,
                                       .recv = all};
    if (move_shared(c, circles, &gather))
        return;
    if (on->rank != 0) {
        collective_send(c, circle_rank(on, 0), own->type, own->base, own->count);
        return;
    }
    collective_copy(c, all, own->base, own->count * covey_type_size(own->type));
    for (int i = 1; i < on->size; i++)
        collective_receive(c, circle_rank(on, i), own->type, block_of(own, all, i), own->count);
}

void host_deal(struct collective *c, const struct host_circles *circles, const struct array *own,
               const void *all)
{
    const struct circle *on = &circles->local;
    const struct shared_call scatter = {.kind = SHARED_SCATTER,
                                        .name = "scatter",
                                        .type = own->type,
                                        .count = own->count,
                                        .send = all,
                                        .recv = own->base};
    if (move_shared(c, circles, &scatter))
        return;
    if (on->rank != 0) {
        collective_receive(c, circle_rank(on, 0), own->type, own->base, own->count);
        return;
    }
    collective_copy(c, own->base, all, own->count * covey_type_size(own->type));
    for (int i = 1; i < on->size; i++)
        collective_send(c, circle_rank(on, i), own->type, block_of(own, all, i), own->count);
}

/* ---- orders by host -------------------------------------------------------------------------- */

bool host_order(struct collective *c, const struct host_circles *circles, struct host_order *order)
{
    const struct covey_team *team = collective_team(c);
    const struct circle *leads = &circles->leads;
    int size = team->size, hosts = leads->size;
    int *ranks = collective_memory(c, (size_t)(2 * size + hosts + 1) * sizeof *ranks);
    if (ranks == NULL)
        return false;
    int *first = ranks + size, *next = first + hosts + 1; /* by lead: the next place of its host */
    memset(next, 0, (size_t)size * sizeof *next);
    for (int i = 0; i < size; i++)
        next[team->host_lead[i]]++;
    first[0] = 0;
    for (int i = 0; i < hosts; i++) {
        int lead = circle_rank(leads, i);
        first[i + 1] = first[i] + next[lead];
        next[lead] = first[i];
    }
    for (int i = 0; i < size; i++)
        ranks[next[team->host_lead[i]]++] = i;
    *order = (struct host_order){ranks, first};
    return true;
}

/* All members compute the same circle, for all have the same tids, which tell the hosts. */
bool circle_by_host(struct collective *c, int *root, struct circle *on)
{
    const struct covey_team *team = collective_team(c);
    int size = team->size, begin = team->host_lead[*root];
    *on = circle_all(team);
    if (team->hosts == 1 || team->hosts == size)
        return true;
    int *ranks = collective_memory(c, 2 * (size_t)size * sizeof *ranks);
    if (ranks == NULL)
        return false;
    int *next = ranks + size; /* by lead: its host's members, and then the next place of its host */
    memset(next, 0, (size_t)size * sizeof *next);
    for (int i = 0; i < size; i++)
        next[team->host_lead[i]]++;
    for (int i = 0, place = 0; i < size; i++) {
        int lead = (begin + i) % size, members = next[lead];
        next[lead] = place;
        place += members;
    }
    for (int i = 0; i < size; i++) {
        int rank = (*root + i) % size, place = next[team->host_lead[rank]]++;
        ranks[place] = rank;
        on->rank = rank == team->rank ? place : on->rank;
    }
    on->ranks = ranks;
    *root = 0;
    return true;
}
