/*
 * alltoall_hosts.c - an all-to-all of small blocks between hosts of several members each.
 *
 * The members of a host bring all their blocks to one of them, their lead; leads send each other
 * what is for each other's hosts, and each member gets its blocks from its lead. So of n members on
 * h hosts n (n - 1) messages become h (h - 1), and each member runs twice, however many blocks come
 * to it. Leads copy all bytes of their hosts four times: large blocks go better by themselves.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/collective_step.h"
#include "lib/exchange/alltoall.h"

#include <string.h>

#define WINDOW 8 /* messages under way each way */

/* What a lead does for its host. `brought` and `given` are of its members, and have a block for or
 * from each rank; `out` and `in` have what goes to and comes from each host, those for or from one
 * member of this host after those of another one, and in a host by rank. */
struct leading {
    struct host_circles circles;
    struct host_order order;
    int type;
    size_t each, block; /* elements and bytes of a block */
    uint8_t *brought, *out, *in, *given;
};

static int members_of(const struct leading *l, int host)
{
    return l->order.first[host + 1] - l->order.first[host];
}

/* Where what goes to a host begins, or comes from it. */
static size_t part_at(const struct leading *l, int host)
{
    return (size_t)l->circles.local.size * (size_t)l->order.first[host] * l->block;
}

static int pack(struct collective *c, void *arg)
{
    const struct leading *l = arg;
    size_t row = (size_t)collective_team(c)->size * l->block;
    uint8_t *to = l->out;
    for (int host = 0; host < l->circles.leads.size; host++) {
        for (int member = 0; member < l->circles.local.size; member++) {
            for (int i = l->order.first[host]; i < l->order.first[host + 1]; i++) {
                const uint8_t *from = l->brought + (size_t)member * row;
                memcpy(to, from + (size_t)l->order.ranks[i] * l->block, l->block);
                to += l->block;
            }
        }
    }
    return COVEY_OK;
}

/* Of each member there, a block for each member here. */
static int unpack(struct collective *c, void *arg)
{
    const struct leading *l = arg;
    size_t row = (size_t)collective_team(c)->size * l->block;
    int own = l->circles.leads.rank;
    for (int host = 0; host < l->circles.leads.size; host++) {
        const uint8_t *from = (host == own ? l->out : l->in) + part_at(l, host);
        for (int i = l->order.first[host]; i < l->order.first[host + 1]; i++) {
            for (int member = 0; member < l->circles.local.size; member++) {
                uint8_t *to = l->given + (size_t)member * row;
                memcpy(to + (size_t)l->order.ranks[i] * l->block, from, l->block);
                from += l->block;
            }
        }
    }
    return COVEY_OK;
}

static void exchange_with_leads(struct collective *c, const struct leading *l)
{
    const struct circle *on = &l->circles.leads;
    int sends[WINDOW], receives[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        sends[i] = receives[i] = -1;
    for (int i = 1; i < on->size; i++) {
        int from = circle_place(on, on->rank - i), to = circle_place(on, on->rank + i);
        size_t here = (size_t)l->circles.local.size;
        int received =
            collective_receive(c, circle_rank(on, from), l->type, l->in + part_at(l, from),
                               here * (size_t)members_of(l, from) * l->each);
        int sent = collective_send(c, circle_rank(on, to), l->type, l->out + part_at(l, to),
                                   here * (size_t)members_of(l, to) * l->each);
        collective_after(c, received, receives[i % WINDOW]);
        collective_after(c, sent, sends[i % WINDOW]);
        receives[i % WINDOW] = received;
        sends[i % WINDOW] = sent;
    }
}

/* False: no memory. */
static bool leading_init(struct collective *c, const struct alltoall *a, struct leading *l)
{
    if (!host_circles(c, 0, &l->circles) || !host_order(c, &l->circles, &l->order))
        return false;
    l->type = a->send.type;
    l->each = a->send.each;
    l->block = l->each * covey_type_size(l->type);
    size_t here = (size_t)l->circles.local.size;
    size_t bytes = here * (size_t)collective_team(c)->size * l->block;
    if (l->circles.leads.rank < 0)
        return true;
    l->brought = collective_memory(c, 4 * bytes);
    l->out = l->brought + bytes;
    l->in = l->out + bytes;
    l->given = l->in + bytes;
    return l->brought != NULL;
}

void alltoall_hosts(struct collective *c, const struct alltoall *a)
{
    size_t all = a->send.each * (size_t)collective_team(c)->size;
    struct leading *l = collective_memory(c, sizeof *l);
    if (l == NULL)
        return;
    *l = (struct leading){0};
    if (!leading_init(c, a, l))
        return;
    host_collect(c, &l->circles, &(struct array){a->send.type, a->send.base, all}, l->brought);
    collective_fence(c);
    if (l->circles.leads.rank >= 0) {
        collective_call(c, pack, l);
        collective_fence(c);
        exchange_with_leads(c, l);
        collective_fence(c);
        collective_call(c, unpack, l);
    }
    collective_fence(c);
    host_deal(c, &l->circles, &(struct array){a->recv.type, a->recv.base, all}, l->given);
}
