/*
 * others.c - by how much what others run on the hosts of a team slows its members.
 *
 * The demand that a monitor tells is that of all, members of the team too, for they may have
 * computed a moment ago: so what they used is taken off. Where processors are not all busy the
 * demand is how many are, and what remains are the others'. Where they are, the demand is how many
 * were ready to compute, who each got the same part: as many of these are others as the part is
 * that others had. Virtual hosts share the processors of a machine.
 */
#include "lib/domain/place/others.h"

#include <math.h>

/* Of all hosts on one machine. */
struct machine {
    double cores, members, hosts; /* hosts: with members */
    double demand, busy, used;    /* busy: of its processors, while that was the demand */
};

static struct machine machine_of(const struct others_view *view, int at)
{
    const struct covey_host_stat *stats = view->stats;
    struct machine m = {.cores =
                            stats[at].cores > 0 ? stats[at].cores : fmax(view->hosts[at].cores, 1)};
    for (int i = 0; i < view->n; i++) {
        int is_same = i == at || (stats[at].machine != 0 && stats[i].machine == stats[at].machine);
        if (!is_same)
            continue;
        m.members += view->members[i];
        m.hosts += view->members[i] > 0;
        m.used += view->members[i] > 0 ? view->used[i] : 0;
        if (!stats[i].known || stats[i].demand <= m.demand)
            continue;
        m.demand = stats[i].demand;
        m.busy = stats[i].cpu_busy * fmax(stats[i].cores, 1);
    }
    m.used /= fmin(m.cores, 1); /* a quota leaves less than one, and counts as one */
    return m;
}

static double others_of(const struct machine *m)
{
    if (m->busy > 0 && m->demand > m->busy)
        return m->demand * fmax(0, 1 - m->used / m->busy);
    return fmax(0, m->demand - m->used);
}

void others_look(const struct others_view *view, struct covey_domain_place *place)
{
    struct covey_domain_place seen = *place;
    int known = 0;
    seen.processors = 0;
    seen.load = seen.load_root = 1;
    seen.capacity = 0;
    for (int i = 0; i < view->n; i++) {
        view->loads[i] = 1;
        seen.capacity += view->members[i];
        if (!view->stats[i].known || view->members[i] == 0)
            continue;
        struct machine m = machine_of(view, i);
        double others = others_of(&m), crowd = fmax(1, m.members / m.cores);
        view->loads[i] = fmax(1, (m.members + others) / m.cores / crowd);
        seen.load = fmax(seen.load, view->loads[i]);
        seen.capacity -= view->members[i] * (1 - 1 / view->loads[i]);
        if (known++ == 0 || m.cores / m.hosts < seen.processors)
            seen.processors = m.cores / m.hosts;
        if (i == view->root)
            seen.load_root = fmax(1, (1 + others) / m.cores);
    }
    if (known > 0)
        *place = seen;
}
