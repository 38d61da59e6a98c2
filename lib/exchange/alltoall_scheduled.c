/*
 * alltoall_scheduled.c - the all-to-all of a team that has a topology, by its schedule (paced.c).
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/paced.h"
#include "lib/exchange/alltoall.h"
#include "lib/team/team_topology.h"
#include "proto/schedule/pace_bytes.h"

struct scheduled {
    struct alltoall a;
    struct paced_job job;
};

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
    s->job = (struct paced_job){.plan = &t->plan,
                                .send = &s->a.send,
                                .recv = &s->a.recv,
                                .early_bytes = pace_early_bytes(t->rate),
                                .rate = t->rate};
    alltoall_own_block(c, a);
    collective_paced(c, &s->job);
}
