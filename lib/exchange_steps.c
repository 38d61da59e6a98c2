/*
 * exchange_steps.c - one run of an exchange as the steps of a collective.
 *
 * Every receive is posted at the beginning. What differs is when a message is sent:
 *
 *   AC   at once
 *   S2   when the one before it, in the order, has left
 *   S1   and when its receiver has said that it is ready: when what it receives before has arrived,
 *        and, where there are phases, what it sends in earlier ones has left (Wang & Ranka, section
 *        6)
 *
 * and, where links are the limit, when the receivers of the messages that leave a link to it have
 * said that they have them (exchange_signal.h).
 *
 * Without phases the order of sending is not kept at any price: of the messages that may go the
 * first one does, and receivers are ready for a few ahead, so that one rank that is late holds up
 * no others and a signal that stands in a queue behind data does no harm.
 *
 * That send() returned proves nothing, so it is the receiver that hands over. It does so a little
 * before the end: a long message goes in two pieces, and the second is what is still under way
 * while the signal travels.
 */
#include "lib/exchange.h"

#include <string.h>

#define AHEAD 2                  /* messages that a receiver is ready for besides the next one */
#define TAIL_BYTES 8192          /* of a message are under way when its receiver hands over */
#define TAIL_MESSAGE_BYTES 32768 /* shorter ones go in one piece */

enum { LANE_DATA, LANE_READY, LANE_SIGNAL };

/* The steps of one message at one end. */
struct ends {
    int head, tail; /* the last one of each piece; the same, or -1 when there is none */
};

/* A message to be sent as soon as it may be. */
struct waiting {
    struct run *run;
    int wants; /* signals */
    bool begun;
};

struct run {
    struct collective *c;
    const struct covey_exchange_plan *plan;
    const struct exchange_message *messages;
    const void *const *out;
    void *const *in;
    struct ends *sends, *receives; /* by place in the plan's lists */
    struct waiting *waiting;       /* without phases: by place */
    bool sending;
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

static void add_receive(struct run *r, int place)
{
    const struct covey_exchange_plan *plan = r->plan;
    const struct exchange_message *m = &r->messages[plan->receives[place]];
    size_t width = covey_type_size(plan->type), count = (size_t)m->bytes / width;
    size_t head = head_count(plan, m);
    uint8_t *base = r->in[parcel_from(plan, m->from)];
    struct ends *ends = &r->receives[place];

    ends->head = ends->tail = collective_receive(r->c, m->from, plan->type, base, head);
    if (head < count)
        ends->tail =
            collective_receive(r->c, m->from, plan->type, base + head * width, count - head);
}

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
    int sent = plan->order->x.phases > 0 ? send_before(r, m->phase) : -1;

    int ahead = plan->order->x.phases > 0 ? 0 : AHEAD;
    if (place > ahead)
        collective_after(r->c, step, r->receives[place - 1 - ahead].head);
    if (sent >= 0)
        collective_after(r->c, step, r->sends[sent].tail);
}

/* ---- Without phases ---------------------------------------------------------------------- */

static int on_left(struct collective *c, void *arg);

/* The first message that may go. */
static void send_next(struct run *r)
{
    for (int place = 0; place < r->plan->send_count && !r->sending; place++) {
        struct waiting *w = &r->waiting[place];
        if (w->begun || w->wants > 0)
            continue;
        w->begun = r->sending = true;
        add_send(r, place);
        int left = collective_call(r->c, on_left, r);
        collective_after(r->c, left, r->sends[place].head);
        collective_after(r->c, left, r->sends[place].tail);
    }
}

static int on_left(struct collective *c, void *arg)
{
    struct run *r = arg;
    (void)c;
    r->sending = false;
    send_next(r);
    return COVEY_OK;
}

static int on_signal(struct collective *c, void *arg)
{
    struct waiting *w = arg;
    (void)c;
    w->wants--;
    send_next(w->run);
    return COVEY_OK;
}

/* The message waits for the step, by which something is received. */
static void await(struct run *r, int place, int step)
{
    if (r->waiting == NULL) {
        send_after(r, place, step);
        return;
    }
    r->waiting[place].wants++;
    collective_after(r->c, collective_call(r->c, on_signal, &r->waiting[place]), step);
}

static void await_ready(struct run *r, int place)
{
    const struct exchange_message *m = &r->messages[r->plan->sends[place]];
    await(r, place, collective_receive_lane(r->c, LANE_READY, m->to, COVEY_BYTES, NULL, 0));
}

/* ---- Links ------------------------------------------------------------------------------- */

static int place_of(const uint32_t *list, int count, uint32_t message)
{
    int place = 0;
    while (place < count && list[place] != message)
        place++;
    return place;
}

/* This member tells: it has received `before`. */
static int tell_signal(struct run *r, const struct exchange_signal *s, int last)
{
    const struct covey_exchange_plan *plan = r->plan;
    int heard = r->receives[place_of(plan->receives, plan->receive_count, s->before)].head;
    int told = r->messages[s->after].from;

    if (told == plan->team->rank) {
        await(r, place_of(plan->sends, plan->send_count, s->after), heard);
        return last;
    }
    int step = collective_send_lane(r->c, LANE_SIGNAL, told, COVEY_BYTES, NULL, 0);
    collective_after(r->c, step, heard);
    collective_after(r->c, step, last);
    return step;
}

static void await_signal(struct run *r, const struct exchange_signal *s)
{
    const struct covey_exchange_plan *plan = r->plan;
    int teller = r->messages[s->before].to;

    await(r, place_of(plan->sends, plan->send_count, s->after),
          collective_receive_lane(r->c, LANE_SIGNAL, teller, COVEY_BYTES, NULL, 0));
}

/* Signals stand in the order of the messages that they tell of: a member sends its own one after
 * the other, so that each pair has them in this order at both ends. */
static void add_signals(struct run *r)
{
    const struct exchange_order *order = r->plan->order;
    int rank = r->plan->team->rank, last = -1;

    for (size_t i = 0; i < order->signal_count; i++) {
        const struct exchange_signal *s = &order->signals[i];
        if (r->messages[s->before].to == rank)
            last = tell_signal(r, s, last);
        else if (r->messages[s->after].from == rank)
            await_signal(r, s);
    }
}

/* ---- All --------------------------------------------------------------------------------- */

static void add_order(struct run *r)
{
    const struct covey_exchange_plan *plan = r->plan;
    bool ready = plan->order->synchrony == COVEY_EXCHANGE_S1;
    bool chained = plan->order->algorithm != COVEY_EXCHANGE_AC && r->waiting == NULL;

    for (int i = 1; chained && i < plan->send_count; i++)
        send_after(r, i, r->sends[i - 1].tail);
    for (int i = 0; ready && i < plan->receive_count; i++)
        add_ready(r, i);
    for (int i = 0; ready && i < plan->send_count; i++)
        await_ready(r, i);
    add_signals(r);
}

/* What a run needs, in memory that stays as long as its collective: the program's lists of arrays
 * need not. NULL: there is none, and the collective ends. */
static struct run *make_run(struct collective *c, const struct covey_exchange_plan *plan,
                            const void *const *out, void *const *in)
{
    size_t sends = (size_t)plan->send_count, outs = (size_t)plan->out_count;
    size_t receives = (size_t)plan->receive_count, ins = (size_t)plan->in_count;
    struct run *r = collective_memory(c, sizeof *r);
    const void **from = collective_memory(c, (outs + ins + 1) * sizeof *from);
    struct ends *ends = collective_memory(c, (sends + receives + 1) * sizeof *ends);
    struct waiting *waiting = collective_memory(c, (sends + 1) * sizeof *waiting);

    if (r == NULL || from == NULL || ends == NULL || waiting == NULL)
        return NULL;
    if (outs > 0)
        memcpy(from, out, outs * sizeof *from);
    if (ins > 0)
        memcpy(from + outs, in, ins * sizeof *from);
    for (size_t i = 0; i < sends; i++)
        waiting[i] = (struct waiting){.run = r};
    bool phases = plan->order->x.phases > 0 || plan->order->synchrony != COVEY_EXCHANGE_S1;
    *r = (struct run){.c = c,
                      .plan = plan,
                      .messages = plan->order->x.messages,
                      .out = from,
                      .in = (void *const *)(from + outs),
                      .sends = ends,
                      .receives = ends + sends,
                      .waiting = phases ? NULL : waiting};
    return r;
}

void exchange_steps(struct collective *c, const struct covey_exchange_plan *plan,
                    const void *const *out, void *const *in)
{
    struct run *r = make_run(c, plan, out, in);

    if (r == NULL)
        return;
    for (int i = 0; i < plan->receive_count; i++)
        add_receive(r, i);
    for (int i = 0; i < plan->send_count && r->waiting == NULL; i++)
        add_send(r, i);
    add_order(r);
    copy_own(r);
}
