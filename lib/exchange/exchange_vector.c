/*
 * exchange_vector.c - an alltoallv whose members tell each other all counts first, as those of
 * covey_exchange() do: then they know whether it pays to order the blocks, and how.
 *
 *   longest    as an exchange, the longest first
 *   adaptive   large blocks of nearly equal sizes by the schedule of the team's topology, other
 *              large ones the longest first; what is small goes linear, and so do some of the next
 *              calls, unasked: telling costs more than it is worth there
 *
 * Which calls go unasked all members know alike, for they count calls and what blocking ones found:
 * a blocking call is over at all of them before the next one begins. For the same reason these
 * alone use the team's cache of orders. The other ones run while the task computes, beside others,
 * and have everything in the memory of the collective.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/exchange/alltoall.h"
#include "lib/exchange/exchange.h"
#include "lib/msg/error.h"

#include <string.h>

#define NEAR 1.25  /* times the mean: sizes up to that are nearly equal */
#define REST_MAX 8 /* calls that go unasked after one that was small */

struct vector_exchange {
    struct alltoall a;
    bool adaptive;
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

/* An order that is not known yet: it is made, and a blocking call keeps it. */
static int make_order(const struct vector_exchange *v, struct exchange_order *order)
{
    const struct covey_exchange_options options = {
        .algorithm = v->adaptive ? COVEY_EXCHANGE_AUTO : COVEY_EXCHANGE_LONGEST};
    const struct covey_exchange_options how = exchange_settle(v->plan.team, &options);
    int error = exchange_order_make(order, &how, v->plan.team);

    if (error == COVEY_OK)
        error = exchange_order_pace(order, v->plan.team, &how);
    if (error == COVEY_OK && !v->lesson.fresh)
        exchange_cache_keep(v->plan.team, order);
    return error;
}

/* Whether every pair has a block, and none is much larger than others. */
static bool nearly_equal(const struct exchange *x, uint64_t *mean)
{
    uint64_t sum = 0, most = 0;

    for (size_t i = 0; i < x->count; i++) {
        sum += x->messages[i].bytes;
        most = x->messages[i].bytes > most ? x->messages[i].bytes : most;
    }
    *mean = x->count > 0 ? sum / x->count : 0;
    return x->count == (size_t)x->ranks * ((size_t)x->ranks - 1) &&
           (double)most <= NEAR * (double)*mean;
}

static enum algorithm vector_exchange_choose(const struct vector_exchange *v,
                                             struct exchange_order *order, int *error)
{
    uint64_t mean;

    if (v->adaptive && nearly_equal(&order->x, &mean))
        return team_choose_messages(v->plan.team, OPERATION_ALLTOALL, mean) == ALLTOALL_SCHEDULED
                   ? ALLTOALLV_SCHEDULED
                   : ALLTOALLV_LINEAR;
    if (!v->lesson.known)
        *error = make_order(v, order);
    return order->paced ? ALLTOALLV_LONGEST : ALLTOALLV_LINEAR;
}

static int on_learned(struct collective *c, void *arg)
{
    struct vector_exchange *v = arg;
    struct exchange_order *order = v->lesson.order;

    if (!collective_at_end(c, drop_order, order)) {
        exchange_order_drop(order);
        return COVEY_OK;
    }
    v->plan.order = order;
    int error = check_own(v, &order->x);
    if (error != COVEY_OK)
        return error;
    enum algorithm chosen = vector_exchange_choose(v, order, &error);
    if (error != COVEY_OK)
        return error;
    /* What was small goes unasked once, and then twice as often each time. */
    struct covey_team *team = v->plan.team;

    if (!v->lesson.fresh) {
        bool small = chosen == ALLTOALLV_LINEAR;
        team->vector.pause = small ? 2 * team->vector.pause + (team->vector.pause == 0) : 0;
        team->vector.pause = team->vector.pause < REST_MAX ? team->vector.pause : REST_MAX;
        team->vector.left = team->vector.pause;
    }
    if (chosen == ALLTOALLV_SCHEDULED)
        alltoall_scheduled(c, &v->a);
    else if (chosen == ALLTOALLV_LONGEST)
        exchange_steps(c, &v->plan, v->out, v->in);
    else
        alltoall_linear(c, &v->a);
    return COVEY_OK;
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

static struct vector_exchange *vector_exchange_create(struct collective *c,
                                                      const struct alltoall *a, bool adaptive)
{
    static const struct covey_exchange_options defaults;
    struct vector_exchange *v = collective_memory(c, sizeof *v);

    if (v == NULL)
        return NULL;
    *v = (struct vector_exchange){
        .a = *a,
        .adaptive = adaptive,
        .lesson = {.type = a->send.type, .options = &defaults, .fresh = !a->blocking},
        .plan = {.team = collective_team(c), .type = a->send.type}};
    v->lesson.then = on_learned;
    v->lesson.arg = v;
    return make_lists(c, v) ? v : NULL;
}

static void vector_exchange_build(struct collective *c, const struct alltoall *a, bool adaptive)
{
    struct covey_team *team = collective_team(c);
    struct vector_exchange *v = vector_exchange_create(c, a, adaptive);

    if (v == NULL)
        return;
    if (!v->lesson.fresh && exchange_cache_create(team) != COVEY_OK) {
        collective_refuse(c, COVEY_ENOMEM, covey_error_text());
        return;
    }
    v->plan.out_count = list_blocks(&a->send, team->size, v->plan.out, v->out);
    v->plan.in_count = list_blocks(&a->recv, team->size, v->plan.in, (const void **)v->in);
    struct covey_exchange_plan *p = &v->plan;
    struct exchange_entry *row = collective_memory(c, (size_t)(p->out_count + 1) * sizeof *row);

    for (int i = 0; row != NULL && i < p->out_count; i++)
        row[i] = (struct exchange_entry){(uint32_t)p->out[i].rank, p->out[i].count};
    v->lesson.row = row;
    v->lesson.row_count = (size_t)p->out_count;
    if (row != NULL)
        exchange_learn(c, &v->lesson);
    collective_fence(c);
    collective_call(c, check_lesson, v);
}

void alltoall_longest(struct collective *c, const struct alltoall *a)
{
    vector_exchange_build(c, a, false);
}

void alltoall_adaptive(struct collective *c, const struct alltoall *a)
{
    struct covey_team *team = collective_team(c);

    if (team->vector.left > 0) {
        team->vector.left--;
        alltoall_linear(c, a);
    } else {
        vector_exchange_build(c, a, true);
    }
}
