/*
 * division.c - a list of the plans of this process.
 */
#include "lib/domain/poisson/division.h"

#include <stddef.h>
#include <string.h>

static struct living_list plans = LIVING_NONE;

void division_add(struct covey_poisson *plan)
{
    if (plan->options.parts[0] == '\0')
        living_add(&plans, &plan->living);
}

void division_remove(struct covey_poisson *plan)
{
    living_remove(&plans, &plan->living);
}

/* Around which axes does not matter: parts are the same. */
static int is_alike(const struct living *living, void *context)
{
    const struct covey_poisson *p =
        (const void *)((const char *)living - offsetof(struct covey_poisson, living));
    struct covey_poisson *plan = context;
    if (memcmp(p->front.equation.n, plan->front.equation.n, sizeof p->front.equation.n) != 0 ||
        !living_has_members(p->team, plan->team))
        return 0;
    plan->speed.slabs = p->speed.slabs;
    if (p->speed.slabs == SLABS_REST)
        plan->speed.rest = p->speed.rest;
    memcpy(plan->shares, p->shares, (size_t)covey_team_size(plan->team));
    return 1;
}

int division_find(struct covey_poisson *plan)
{
    return living_find(&plans, is_alike, plan);
}
