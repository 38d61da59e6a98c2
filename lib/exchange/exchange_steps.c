/*
 * exchange_steps.c - one run of an exchange as the steps of a collective.
 *
 * Every receive is posted at the beginning. What differs is when a message is sent:
 *
 *   AC   at once
 *   S2   when the one before it, in the order, has left
 *   S1   and when its receiver has said that it is ready: when what it receives before has arrived,
 *        and what it sends in earlier phases has left (Wang & Ranka, section 6)
 *
 * That send() returned proves nothing, so it is the receiver that hands over. It does so a little
 * before the end: a long message goes in two pieces, and the second is what is still under way
 * while the signal travels.
 *
 * The orders that are not the paper's do without the wait for a phase of the own sends, and their
 * signals overtake data: exchange_paced.c.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_step.h"
#include "lib/exchange/exchange.h"

#include <string.h>

#define TAIL_BYTES 8192          /* of a message are under way when its receiver hands over */
#define TAIL_MESSAGE_BYTES 32768 /* shorter ones go in one piece */

enum { LANE_DATA, LANE_READY };

/* The steps of one message at one end. */
struct ends {
    int head, tail; /* the last one of each piece; the same, or -1 when there is none */
};

struct run {
    struct collective *c;
    const struct covey_exchange_plan *plan;
    const struct exchange_message *messages;
    const void *const *out;
    void *const *in;
    struct ends *sends, *receives; /* by place in the plan's lists */
};

/* ---- Places ------------------------------------------------------------------------------ */

static int parcel_to(const struct covey_exchange_plan *plan, int rank)
{
    int at = 0;
    while (plan->out[at].rank != rank)
        at++;
    return at;
}

/* Incoming parcels stand by rank. */
static int parcel_from(const struct covey_exchange_plan *plan, int rank)
{
    int low = 0, high = plan->in_count - 1;

    while (low < high) {
        int middle = (low + high) / 2;
        if (plan->in[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t exchange_incoming_count(const struct covey_exchange_plan *plan, int rank)
{
    int at = parcel_from(plan, rank);
    return plan->in_count > 0 && plan->in[at].rank == rank ? plan->in[at].count : 0;
}

/* Elements that go ahead; all of a short message. */
static size_t head_count(const struct covey_exchange_plan *plan, const struct exchange_message *m)
{
    size_t width = covey_type_size(plan->type), count = (size_t)m->bytes / width;
    return m->bytes < TAIL_MESSAGE_BYTES ? count : count - TAIL_BYTES / width;
}

/* ---- Data -------------------------------------------------------------------------------- */

/* Both pieces wait for the same things. */
static void add_send(struct run *r, int place)
{
    const struct covey_exchange_plan *plan = r->plan;
    const struct exchange_message *m = &r->messages[plan->sends[place]];
    size_t width = covey_type_size(plan->type), count = (size_t)m->bytes / width;
    size_t head = head_count(plan, m);
    const uint8_t *base = r->out[parcel_to(plan, m->to)];
    struct ends *ends = &r->sends[place];

    ends->head = ends->tail = collective_send(r->c, m->to, plan->type, base, head);
    if (head < count)
        ends->tail = collective_send(r->c, m->to, plan->type, base + head * width, count - head);
}

static void send_after(struct run *r, int place, int earlier)
{
    collective_after(r->c, r->sends[place].head, earlier);
    if (r->sends[place].tail != r->sends[place].head)
        collective_after(r->c, r->sends[place].tail, earlier);
}

static void copy_own(struct run *r)
{
    const struct covey_exchange_plan *plan = r->plan;
    int rank = plan->team->rank, at = parcel_from(plan, rank);

    if (plan->in_count == 0 || plan->in[at].rank != rank)
        return;
    collective_copy(r->c, r->in[at], r->out[parcel_to(plan, rank)],
                    plan->in[at].count * covey_type_size(plan->type));
}

/* ---- Order ------------------------------------------------------------------------------- */

/* The last of the own sends that is in an earlier phase; -1: none. */
static int send_before(const struct run *r, uint32_t phase)
{
    int place = r->plan->send_count - 1;
    while (place >= 0 && r->messages[r->plan->sends[place]].phase >= phase)
        place--;
    return place;
}

/* Tells the sender of each message that it may send it. */
static void add_ready(struct run *r, int place)
{
    const struct covey_exchange_plan *plan = r->plan;
    const struct exchange_message *m = &r->messages[plan->receives[place]];
    int step = collective_send_lane(r->c, LANE_READY, m->from, COVEY_BYTES, NULL, 0);
    int sent = send_before(r, m->phase);

    if (place > 0)
        collective_after(r->c, step, r->receives[place - 1].head);
    if (sent >= 0)
        collective_after(r->c, step, r->sends[sent].tail);
}

static void add_order(struct run *r)
{
    const struct covey_exchange_plan *plan = r->plan;
    bool ready = plan->order->synchrony == COVEY_EXCHANGE_S1;

    for (int i = 1; plan->order->algorithm != COVEY_EXCHANGE_AC && i < plan->send_count; i++)
        send_after(r, i, r->sends[i - 1].tail);
    for (int i = 0; ready && i < plan->receive_count; i++)
        add_ready(r, i);
    for (int i = 0; ready && i < plan->send_count; i++) {
        const struct exchange_message *m = &r->messages[r->plan->sends[i]];
        send_after(r, i, collective_receive_lane(r->c, LANE_READY, m->to, COVEY_BYTES, NULL, 0));
    }
}

/* ---- All --------------------------------------------------------------------------------- */

/* What a run needs, in memory that stays as long as its collective. NULL: there is none, and the
 * collective ends. */
static struct run *make_run(struct collective *c, const struct covey_exchange_plan *plan,
                            const void *const *out, void *const *in)
{
    size_t ends = (size_t)plan->send_count + (size_t)plan->receive_count;
    struct run *r = collective_memory(c, sizeof *r);
    struct ends *all = collective_memory(c, (ends + 1) * sizeof *all);

    if (r == NULL || all == NULL)
        return NULL;
    *r = (struct run){.c = c,
                      .plan = plan,
                      .messages = plan->order->x.messages,
                      .out = out,
                      .in = in,
                      .sends = all,
                      .receives = all + plan->send_count};
    return r;
}

static void add_messages(struct run *r)
{
    for (int i = 0; i < r->plan->receive_count; i++) {
        const struct covey_exchange_plan *plan = r->plan;
        const struct exchange_message *m = &r->messages[plan->receives[i]];
        size_t width = covey_type_size(plan->type), count = (size_t)m->bytes / width;
        size_t head = head_count(plan, m);
        uint8_t *base = r->in[parcel_from(plan, m->from)];
        struct ends *ends = &r->receives[i];

        ends->head = ends->tail = collective_receive(r->c, m->from, plan->type, base, head);
        if (head < count)
            ends->tail =
                collective_receive(r->c, m->from, plan->type, base + head * width, count - head);
    }
    for (int i = 0; i < r->plan->send_count; i++)
        add_send(r, i);
    add_order(r);
}

void exchange_steps(struct collective *c, const struct covey_exchange_plan *plan,
                    const void *const *out, void *const *in)
{
    struct run *r = make_run(c, plan, out, in);

    if (r == NULL)
        return;
    if (plan->order->paced)
        exchange_paced(c, plan, out, in);
    else
        add_messages(r);
    copy_own(r);
}
