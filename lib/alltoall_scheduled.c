/*
 * alltoall_scheduled.c - the all-to-all of a team that has a topology, by its schedule (paced.c).
 */
#include "lib/alltoall.h"
#include "lib/paced.h"
#include "lib/team_topology.h"

#define EARLY_LONG_BYTES 12288

struct scheduled {
    struct alltoall a;
    struct paced_job job;
};

/* Of a long message more may be under way when it hands over than of others: what then waits in
 * front of the bottleneck is little of it, and the bottleneck never idle. */
static size_t early_bytes(uint64_t rate, size_t bytes)
{
    size_t part = bytes / 4 < EARLY_LONG_BYTES ? bytes / 4 : EARLY_LONG_BYTES;
    size_t least = paced_early_bytes(rate);
    return part > least ? part : least;
}

static void plan(struct scheduled *s, const struct team_topology *t)
{
    size_t bytes = s->a.send.each * covey_type_size(s->a.send.type);
    s->job = (struct paced_job){.plan = &t->plan,
                                .send = &s->a.send,
                                .recv = &s->a.recv,
                                .early_bytes = early_bytes(t->rate, bytes),
                                .rate = t->rate};
}

void alltoall_scheduled(struct collective *c, const struct alltoall *a)
{
    struct covey_team *team = collective_team(c);
    if (team->extra == NULL) { /* the program wants one that it cannot have */
        alltoall_linear(c, a);
        return;
    }
    const struct team_topology *t = team_schedule(team);
    struct scheduled *s = t != NULL ? collective_memory(c, sizeof *s) : NULL;
    if (t == NULL)
        collective_refuse(c, COVEY_ENOMEM, covey_error_text());
    if (s == NULL)
        return;
    s->a = *a;
    plan(s, t);
    alltoall_own_block(c, a);
    collective_paced(c, &s->job);
}
