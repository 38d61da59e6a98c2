/*
 * exchange_vector.c - an alltoallv as an exchange: the longest first.
 *
 * In an alltoallv a member knows its own counts alone, and the order needs all of them: they are
 * told as for covey_exchange(). Everything is in the memory of the collective, so that it may run
 * while the task computes, beside others; the team's cache, which all members must look at in one
 * order, is left alone.
 */
#include "lib/alltoall.h"

#include <string.h>

#include "lib/error.h"
#include "lib/exchange.h"

struct vector_exchange {
    struct exchange_lesson lesson;
    struct covey_exchange_plan plan;
    const void **out;
    void **in;
};

/* The blocks that are not empty as parcels; their number. */
static int list_blocks(const struct vector *v, int size, struct covey_parcel *parcels,
                       const void **bases)
{
    int count = 0;

    for (int rank = 0; rank < size; rank++) {
        if (vector_count(v, rank) == 0)
            continue;
        bases[count] = vector_block(v, rank);
        parcels[count++] = (struct covey_parcel){.rank = rank, .count = vector_count(v, rank)};
    }
    return count;
}

/* The messages that come must be those that the caller expects. */
static int check_own(const struct vector_exchange *v, const struct exchange *x)
{
    const struct covey_exchange_plan *p = &v->plan;
    size_t width = covey_type_size(p->type);
    int expected = 0, come = 0;

    for (int i = 0; i < p->in_count; i++)
        expected += p->in[i].rank != p->team->rank;
    for (size_t i = 0; i < x->count; i++) {
        const struct exchange_message *m = &x->messages[i];
        if (m->to != p->team->rank)
            continue;
        come++;
        if (exchange_incoming_count(p, m->from) * width != m->bytes)
            return error_set(COVEY_ETRUNC,
                             "alltoallv: rank %u sends %llu bytes, not as many as "
                             "this one expects",
                             m->from, (unsigned long long)m->bytes);
    }
    return come == expected
               ? COVEY_OK
               : error_set(COVEY_ETRUNC, "alltoallv: %d members send something, not %d", come,
                           expected);
}

static void drop_order(void *arg)
{
    exchange_order_drop(arg);
}

static int on_learned(struct collective *c, void *arg)
{
    static const struct covey_exchange_options longest = {.algorithm = COVEY_EXCHANGE_LONGEST};
    struct vector_exchange *v = arg;
    struct exchange_order *order = v->lesson.order;
    const struct covey_exchange_options how = exchange_settle(v->plan.team, &longest);

    if (!collective_at_end(c, drop_order, order)) {
        exchange_order_drop(order);
        return COVEY_OK;
    }
    v->plan.order = order;
    int error = exchange_order_make(order, &how);
    if (error == COVEY_OK)
        error = check_own(v, &order->x);
    if (error == COVEY_OK)
        error = exchange_order_pace(order, v->plan.team, &how);
    if (error == COVEY_OK)
        exchange_steps(c, &v->plan, v->out, v->in);
    return error;
}

static int check_lesson(struct collective *c, void *arg)
{
    const struct vector_exchange *v = arg;
    (void)c;
    return v->lesson.error == COVEY_OK ? COVEY_OK : error_set(v->lesson.error, "%s", v->lesson.why);
}

static bool make_lists(struct collective *c, struct vector_exchange *v)
{
    struct covey_exchange_plan *p = &v->plan;
    size_t size = (size_t)p->team->size;

    p->out = collective_memory(c, size * sizeof *p->out);
    p->in = collective_memory(c, size * sizeof *p->in);
    v->out = collective_memory(c, size * sizeof *v->out);
    v->in = collective_memory(c, size * sizeof *v->in);
    return p->out && p->in && v->out && v->in;
}

static void tell_row(struct collective *c, struct vector_exchange *v)
{
    struct covey_exchange_plan *p = &v->plan;
    struct exchange_entry *row = collective_memory(c, (size_t)(p->out_count + 1) * sizeof *row);

    for (int i = 0; row != NULL && i < p->out_count; i++)
        row[i] = (struct exchange_entry){(uint32_t)p->out[i].rank, p->out[i].count};
    v->lesson.row = row;
    v->lesson.row_count = (size_t)p->out_count;
    if (row != NULL)
        exchange_learn(c, &v->lesson);
}

void alltoall_longest(struct collective *c, const struct alltoall *a)
{
    static const struct covey_exchange_options defaults;
    struct covey_team *team = collective_team(c);
    struct vector_exchange *v = collective_memory(c, sizeof *v);

    if (v == NULL)
        return;
    *v = (struct vector_exchange){
        .lesson = {.type = a->send.type, .options = &defaults, .fresh = true},
        .plan = {.team = team, .type = a->send.type}};
    v->lesson.then = on_learned;
    v->lesson.arg = v;
    if (!make_lists(c, v))
        return;
    v->plan.out_count = list_blocks(&a->send, team->size, v->plan.out, v->out);
    v->plan.in_count = list_blocks(&a->recv, team->size, v->plan.in, (const void **)v->in);
    tell_row(c, v);
    collective_fence(c);
    collective_call(c, check_lesson, v);
}
