/*
 * exchange.c - unstructured exchange: the calls. exchange.h says which file does what.
 *
 * A plan is made by all members together: each says what it sends (exchange_learn.c), and then all
 * know all messages and order them in the same way (exchange_order.c) without a further word. A run
 * is a collective of its own. covey_exchange() is a plan, a run and the plan's end; what makes it
 * cheap the second time is that the team keeps the order.
 *
 * Invariants. A plan counts as a user of its order; the parcels `in` stand by rank, `out` as the
 * program gave them; lists of own sends and receives are in the order of the messages.
 */
#include "lib/exchange/exchange.h"
#include "lib/drive/call.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "lib/team/team_topology.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdlib.h>

/* ---- What the program gave --------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
    const struct exchange_entry *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int check_parcels(const struct covey_team *team, int type, const struct covey_parcel *out,
                         int n)
{
    size_t width = covey_type_size(type);

    if (width == 0 || type == COVEY_STRING || type == COVEY_MESSAGE)
        return error_set(COVEY_EINVAL, "exchange: no arrays of type %d", type);
    if (n < 0 || n > team->size || (n > 0 && out == NULL))
        return error_set(COVEY_EINVAL, "exchange: %d parcels for %d members", n, team->size);
    for (int i = 0; i < n; i++) {
        if (out[i].rank < 0 || out[i].rank >= team->size)
            return error_set(COVEY_EINVAL, "exchange: there is no rank %" PRId32, out[i].rank);
        if (out[i].count > COVEY_MESSAGE_BYTES_MAX / width)
            return error_set(COVEY_ETOOBIG, "exchange: %zu elements for rank %" PRId32,
                             out[i].count, out[i].rank);
    }
    return COVEY_OK;
}

/* The caller's row, by rising rank; freed by the caller. */
static int make_row(const struct covey_parcel *out, int n, struct exchange_entry **row)
{
    struct exchange_entry *entries = calloc((size_t)n + 1, sizeof *entries);

    if (entries == NULL)
        return error_code(COVEY_ENOMEM);
    for (int i = 0; i < n; i++)
        entries[i] = (struct exchange_entry){(uint32_t)out[i].rank, out[i].count};
    qsort(entries, (size_t)n, sizeof *entries, by_rank);
    for (int i = 1; i < n; i++) {
        if (entries[i].rank != entries[i - 1].rank)
            continue;
        uint32_t rank = entries[i].rank;
        free(entries);
        return error_set(COVEY_EINVAL, "exchange: two parcels for rank %" PRIu32, rank);
    }
    *row = entries;
    return COVEY_OK;
}

/* ---- The caller's part ------------------------------------------------------------------- */

static int parcel_by_rank(const void *a, const void *b)
{
    const struct covey_parcel *x = a, *y = b;
    return x->rank - y->rank;
}

static int take_lists(struct covey_exchange_plan *p)
{
    const struct exchange *x = &p->order->x;
    size_t ranks = (size_t)p->team->size, width = covey_type_size(p->type);

    p->in = calloc(ranks + 1, sizeof *p->in);
    p->sends = calloc(ranks + 1, sizeof *p->sends);
    p->receives = calloc(ranks + 1, sizeof *p->receives);
    if (p->in == NULL || p->sends == NULL || p->receives == NULL)
        return error_code(COVEY_ENOMEM);
    for (uint32_t i = 0; i < x->count; i++) {
        const struct exchange_message *m = &x->messages[i];
        if (m->from == p->team->rank)
            p->sends[p->send_count++] = i;
        if (m->to != p->team->rank)
            continue;
        p->receives[p->receive_count++] = i;
        p->in[p->in_count++] =
            (struct covey_parcel){.rank = m->from, .count = (size_t)(m->bytes / width)};
    }
    return COVEY_OK;
}

static int take_part(struct covey_exchange_plan *p, const struct covey_parcel *out, int n)
{
    int error = take_lists(p);

    p->out = calloc((size_t)n + 1, sizeof *p->out);
    if (error == COVEY_OK && p->out == NULL)
        error = error_code(COVEY_ENOMEM);
    if (error != COVEY_OK)
        return error;
    p->out_count = n;
    for (int i = 0; i < n; i++) {
        p->out[i] = (struct covey_parcel){.rank = out[i].rank, .count = out[i].count};
        if (out[i].rank == p->team->rank)
            p->in[p->in_count++] = p->out[i];
    }
    qsort(p->in, (size_t)p->in_count, sizeof *p->in, parcel_by_rank);
    return COVEY_OK;
}

/* ---- Plans ------------------------------------------------------------------------------- */

static double seconds_since(uint64_t start_us)
{
    return (double)(clock_us() - start_us) / 1e6;
}

/* An order that the team did not know: it is made, and kept. */
static int make_order(struct covey_exchange_plan *p, const struct covey_exchange_options *options)
{
    uint64_t start_us = clock_us();
    int error = exchange_order_make(p->order, options, p->team);

    if (error == COVEY_OK)
        error = exchange_order_pace(p->order, p->team, options);
    if (error == COVEY_OK)
        exchange_cache_keep(p->team, p->order);
    p->schedule_s = seconds_since(start_us);
    return error;
}

/* A collective of its own: what it finds is in the lesson. */
static int lesson_ask(struct covey_team *team, struct exchange_lesson *lesson)
{
    struct collective *c = NULL;
    int error = exchange_cache_create(team);

    if (error == COVEY_OK)
        error = collective_create(team, "exchange", &c);
    if (error == COVEY_OK)
        exchange_learn(c, lesson);
    error = collective_run(error, c);
    if (error == COVEY_OK && lesson->error != COVEY_OK)
        error = error_set(lesson->error, "%s", lesson->why);
    return error;
}

static int learn(struct covey_exchange_plan *p, const struct covey_parcel *out, int n,
                 const struct covey_exchange_options *options)
{
    struct exchange_entry *row = NULL;
    uint64_t start_us = clock_us();
    int error = make_row(out, n, &row);
    struct exchange_lesson lesson = {
        .type = p->type, .options = options, .row = row, .row_count = (size_t)n};

    if (error == COVEY_OK)
        error = lesson_ask(p->team, &lesson);
    free(row);
    p->order = lesson.order;
    p->learn_s = seconds_since(start_us);
    return error != COVEY_OK || lesson.known ? error : make_order(p, options);
}

/* What fails at one member alone, after the others know what it sends, ends the team for all: they
 * would wait for it. */
static int exchange_give_up(struct covey_team *team, int error)
{
    struct call call = call_begin(team->vm);
    team_break(team, error, covey_error_text());
    return call_end(team->vm, &call, error);
}

static int make_plan(struct covey_exchange_plan *p, const struct covey_parcel *out, int n,
                     const struct covey_exchange_options *options)
{
    int error = learn(p, out, n, options);
    if (error == COVEY_OK)
        error = take_part(p, out, n);
    return error == COVEY_ENOMEM || error == COVEY_EPROTO ? exchange_give_up(p->team, error)
                                                          : error;
}

struct covey_exchange_options exchange_settle(const struct covey_team *team,
                                              const struct covey_exchange_options *options)
{
    struct covey_exchange_options how = {0};
    const struct team_topology *own = team->extra;

    if (options != NULL)
        how = *options;
    if (how.topology == NULL && own != NULL) {
        how.topology = own->topology;
        how.hosts = own->hosts;
    }
    return how;
}

int covey_exchange_plan(covey_team_t *team, int type, const struct covey_parcel *out, int n,
                        const struct covey_exchange_options *options, covey_exchange_plan_t **plan)
{
    if (team == NULL || plan == NULL)
        return error_set(COVEY_EINVAL, "exchange: NULL");
    const struct covey_exchange_options how = exchange_settle(team, options);
    int error = check_parcels(team, type, out, n);
    if (error == COVEY_OK)
        error = exchange_options_check(&how, team->size);
    if (error != COVEY_OK)
        return error;
    struct covey_exchange_plan *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_code(COVEY_ENOMEM);
    made->team = team;
    made->type = type;
    error = make_plan(made, out, n, &how);
    if (error == COVEY_OK)
        *plan = made;
    else
        covey_exchange_free(&made);
    return error;
}

void covey_exchange_free(covey_exchange_plan_t **plan)
{
    if (plan == NULL || *plan == NULL)
        return;
    struct covey_exchange_plan *freed = *plan;
    *plan = NULL;
    exchange_order_drop(freed->order);
    free(freed->out);
    free(freed->in);
    free(freed->sends);
    free(freed->receives);
    free(freed);
}

int covey_exchange_incoming(const covey_exchange_plan_t *plan, const struct covey_parcel **in)
{
    if (plan == NULL || in == NULL)
        return error_set(COVEY_EINVAL, "exchange: NULL");
    *in = plan->in;
    return plan->in_count;
}

/* ---- Runs -------------------------------------------------------------------------------- */

static int check_arrays(const struct covey_exchange_plan *plan, const void *const *out,
                        void *const *in)
{
    if (plan == NULL || (out == NULL && plan->out_count > 0) || (in == NULL && plan->in_count > 0))
        return error_set(COVEY_EINVAL, "exchange: NULL");
    for (int i = 0; i < plan->out_count; i++) {
        if (out[i] == NULL && plan->out[i].count > 0)
            return error_set(COVEY_EINVAL, "exchange: no array for rank %" PRId32,
                             plan->out[i].rank);
    }
    for (int i = 0; i < plan->in_count; i++) {
        if (in[i] == NULL && plan->in[i].count > 0)
            return error_set(COVEY_EINVAL, "exchange: no array for what comes from rank %" PRId32,
                             plan->in[i].rank);
    }
    return COVEY_OK;
}

int covey_exchange_run(covey_exchange_plan_t *plan, const void *const *out, void *const *in)
{
    int error = check_arrays(plan, out, in);
    if (error != COVEY_OK)
        return error;
    uint64_t start_us = clock_us();
    struct collective *c = NULL;
    error = collective_create(plan->team, "exchange", &c);
    if (error == COVEY_OK)
        exchange_steps(c, plan, out, in);
    error = collective_run(error, c);
    plan->run_s = seconds_since(start_us);
    plan->runs += error == COVEY_OK;
    return error;
}

int covey_exchange_start(covey_exchange_plan_t *plan, const void *const *out, void *const *in,
                         covey_req_t **req)
{
    int error = check_arrays(plan, out, in);
    if (error == COVEY_OK && req == NULL)
        error = error_set(COVEY_EINVAL, "exchange: NULL");
    if (error != COVEY_OK)
        return error;
    struct collective *c = NULL;
    error = collective_create(plan->team, "exchange", &c);
    if (error == COVEY_OK)
        exchange_steps(c, plan, out, in);
    error = collective_start(error, c, req);
    plan->runs += error == COVEY_OK;
    return error;
}

/* ---- At once ----------------------------------------------------------------------------- */

static size_t aligned(size_t bytes)
{
    size_t unit = alignof(max_align_t);
    return (bytes + unit - 1) / unit * unit;
}

/* Parcels and their elements in one block; NULL: no memory. */
static struct covey_parcel *make_block(const struct covey_exchange_plan *plan)
{
    size_t width = covey_type_size(plan->type);
    size_t bytes = aligned((size_t)plan->in_count * sizeof *plan->in);
    uint64_t sum = bytes;

    for (int i = 0; i < plan->in_count; i++)
        sum += aligned(plan->in[i].count * width);
    if (!addressable(sum))
        return NULL;
    uint8_t *block = malloc((size_t)sum + 1);
    struct covey_parcel *parcels = (void *)block;
    for (int i = 0; block != NULL && i < plan->in_count; i++) {
        parcels[i] = plan->in[i];
        parcels[i].base = block + bytes;
        bytes += aligned(plan->in[i].count * width);
    }
    return parcels;
}

static int run_once(struct covey_exchange_plan *plan, const struct covey_parcel *out,
                    struct covey_parcel *in)
{
    size_t places = (size_t)plan->out_count + (size_t)plan->in_count;
    const void **from = calloc(places + 1, sizeof *from);
    void **to = calloc(places + 1, sizeof *to);
    int error = from == NULL || to == NULL ? error_code(COVEY_ENOMEM) : COVEY_OK;

    for (int i = 0; error == COVEY_OK && i < plan->out_count; i++)
        from[i] = out[i].base;
    for (int i = 0; error == COVEY_OK && i < plan->in_count; i++)
        to[i] = (uint8_t *)in + ((const uint8_t *)in[i].base - (const uint8_t *)in);
    if (error == COVEY_OK)
        error = covey_exchange_run(plan, from, to);
    free(from);
    free(to);
    return error;
}

int covey_exchange(covey_team_t *team, int type, const struct covey_parcel *out, int n,
                   struct covey_parcel **in)
{
    struct covey_exchange_plan *plan = NULL;

    if (in == NULL)
        return error_set(COVEY_EINVAL, "exchange: NULL");
    int result = covey_exchange_plan(team, type, out, n, NULL, &plan);
    if (result != COVEY_OK)
        return result;
    struct covey_parcel *block = make_block(plan);
    result = block == NULL ? error_code(COVEY_ENOMEM) : run_once(plan, out, block);
    if (result == COVEY_OK) {
        result = plan->in_count;
        *in = block;
    }
    if (result <= 0)
        free(block);
    if (result == 0)
        *in = NULL;
    covey_exchange_free(&plan);
    return result;
}
