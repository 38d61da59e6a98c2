/*
 * cast_order.c - total order by a sequencer, as told in cast.c. At first and
 * after a death the host of the lowest incarnation takes that part; it keeps it while it lives,
 * also when one comes that was invited before it. Whoever knows a sequencer that lives admits no
 * other, and nobody puts anything in order before all have admitted him.
 *
 * A message is known by its origin and number. An origin keeps its messages until they come back to
 * it and hands those that did not to a new sequencer, in order; so one that arrives a second time
 * is one that has been put in order, and is dropped: by the sequencer and by whoever gives out.
 */
#include <assert.h>
#include <stdlib.h>

#include "proto/cast/cast_state.h"

#define QUEUE_BYTES (512u * 1024) /* of the channel; the rest waits */
#define RETRY_US 2000             /* a message that was not taken here is offered again */

/* ---- who puts in order ----------------------------------------------------------------------- */

/* Whether that host puts in order, as far as is known here. */
static bool cast_order_led_by(const struct cast *cast, uint32_t host)
{
    const struct cast_channel *ch = cast->channels[host % CAST_BUCKETS];
    for (; ch != NULL; ch = ch->chain) {
        if (ch->key.sender == host && ch->total && !ch->withheld && ch->state == CAST_LIVE)
            return true;
    }
    return false;
}

/* Whoever puts in order already goes on, whoever else may come; otherwise the oldest host does. */
static uint32_t choose_sequencer(const struct cast *cast)
{
    uint32_t oldest = cast->self;
    if (cast->total.order != NULL && cast->total.order->state == CAST_LIVE)
        return cast->self;
    for (uint32_t host = 0; (host = host_set_next(&cast->live, host)) != 0;) {
        if (cast_order_led_by(cast, host))
            return host;
        if (cast->hosts[host].incarnation < cast->hosts[oldest].incarnation)
            oldest = host;
    }
    return oldest;
}

/* Whether anything is to be put in order, or a channel for that is open here. */
static bool orders_anything(const struct cast *cast)
{
    return cast->total.order != NULL || cast->total.pending.first != NULL ||
           cast->total.waiting.first != NULL;
}

void cast_order_review(struct cast *cast)
{
    if (!orders_anything(cast))
        return; /* cast_order_step() reviews when there is: not each of thousands that come */
    uint32_t sequencer = choose_sequencer(cast);
    if (sequencer == cast->total.sequencer)
        return;
    cast->total.sequencer = sequencer;
    for (struct cast_parcel *p = cast->total.pending.first; p != NULL; p = p->next)
        p->sent = false;
}

bool cast_order_admits(struct cast *cast, uint32_t sender)
{
    if (cast->total.order != NULL && cast->total.order->state == CAST_LIVE)
        return false;
    for (uint32_t host = 0; (host = host_set_next(&cast->live, host)) != 0;) {
        if (host != sender && cast_order_led_by(cast, host))
            return false;
    }
    if (cast->total.order != NULL) { /* nothing was put in order by it */
        cast_close(cast, cast->total.order);
        cast->total.order = NULL;
    }
    return true;
}

static bool is_earlier(const struct cast_key *a, const struct cast_key *b)
{
    return a->sender == b->sender && a->incarnation == b->incarnation && a->id < b->id;
}

bool cast_order_blocked(const struct cast *cast, const struct cast_channel *ch)
{
    for (size_t i = 0; i < CAST_BUCKETS; i++) {
        for (const struct cast_channel *o = cast->channels[i]; o != NULL; o = o->chain) {
            bool over = o->state != CAST_LIVE || is_earlier(&o->key, &ch->key) ||
                        !host_set_has(&cast->live, o->key.sender);
            if (o->total && !o->mine && o != ch && !o->withheld && o->serial < ch->serial && over)
                return true;
        }
    }
    return false;
}

/* Whether a channel of an earlier sequencer has not ended here. */
static bool taking_over(const struct cast *cast)
{
    for (size_t i = 0; i < CAST_BUCKETS; i++) {
        for (const struct cast_channel *o = cast->channels[i]; o != NULL; o = o->chain) {
            if (o->total && !o->mine && !o->withheld && o->key.sender != cast->total.sequencer)
                return true;
        }
    }
    return false;
}

/* ---- giving out ------------------------------------------------------------------------------ */

bool cast_order_deliver(struct cast *cast, const uint8_t *bytes, size_t size)
{
    struct cursor c = cursor_reader(bytes, size);
    uint32_t origin = cursor_get_u32(&c);
    uint64_t number = cursor_get_u64(&c);
    if (!cursor_ok(&c) || origin == 0 || origin > HOST_INDEX_MAX) {
        cast->counters.refused++;
        return true;
    }
    struct cast_message message = {
        .sender = origin, .order = CAST_TOTAL, .bytes = c.at, .size = cursor_left(&c)};
    if (number <= cast->ordered[origin])
        return true;
    if (!cast->owner.deliver(cast->owner.context, &message))
        return false;
    cast->ordered[origin] = number;
    cast->counters.messages_delivered++;
    if (origin == cast->self) {
        /* Own messages up to that number came back. */
        while (cast->total.pending.first != NULL && cast->total.pending.first->number <= number)
            free(cast_list_pop(&cast->total.pending));
    }
    return true;
}

/* ---- the sequencer --------------------------------------------------------------------------- */

const char *cast_on_order(struct cast *cast, uint32_t host, const struct cast_control *order)
{
    if (order->key.sender != host)
        return "a message of another host";
    if (order->size > CAST_MESSAGE_MAX - CAST_TOTAL_BYTES)
        return "a message that is too long";
    struct cast_parcel *p =
        cast_list_add(&cast->total.waiting, order->bytes, order->size, CAST_TOTAL_BYTES);
    if (p == NULL)
        return "out of memory";
    p->origin = host;
    p->number = order->number;
    return NULL;
}

/* Its own messages take no detour; they wait for their return, too. */
static void order_take_own(struct cast *cast)
{
    for (struct cast_parcel *p = cast->total.pending.first; p != NULL; p = p->next) {
        if (p->sent)
            continue;
        struct cast_parcel *copy =
            cast_list_add(&cast->total.waiting, p->bytes, p->size, CAST_TOTAL_BYTES);
        if (copy == NULL)
            return;
        copy->origin = cast->self;
        copy->number = p->number;
        p->sent = true;
    }
}

/* The channel to all hosts that are up; NULL: not yet. One to fewer, or with fragments of another
 * size than fits now, must be stable before another begins. */
static struct cast_channel *order_channel(struct cast *cast)
{
    struct cast_channel *ch = cast->total.order;
    struct host_set all = cast->live;
    host_set_subtract(&all, ch != NULL ? &ch->members : &(struct host_set){0});
    if (ch != NULL && host_set_empty(&all) && cast_fits(cast, ch))
        return ch;
    if (ch != NULL && !cast_idle(ch))
        return NULL;
    if (ch != NULL)
        cast_close(cast, ch);
    cast->total.order = cast_open(cast, &cast->live, true);
    return cast->total.order;
}

/* The first that waits into the channel, and to be given out here; false: memory is exhausted. */
static bool put_in_order(struct cast *cast, struct cast_channel *ch)
{
    struct cast_parcel *p = cast->total.waiting.first;
    assert(p != NULL && p->size >= CAST_TOTAL_BYTES);
    struct cursor c = cursor_writer(p->bytes, CAST_TOTAL_BYTES);
    cursor_put_u32(&c, p->origin);
    cursor_put_u64(&c, p->number);
    if (cast_list_add(&cast->total.local, p->bytes, p->size, 0) == NULL)
        return false;
    cast_list_push(&ch->sender.queue, cast_list_pop(&cast->total.waiting));
    cast->queued += p->size;
    return true;
}

static bool give_local(struct cast *cast)
{
    while (cast->total.local.first != NULL) {
        const struct cast_parcel *p = cast->total.local.first;
        if (!cast_order_deliver(cast, p->bytes, p->size))
            return false;
        free(cast_list_pop(&cast->total.local));
    }
    return true;
}

/* Whether it was put in order before, by this host or by one whose channel has ended here. */
static void drop_ordered(struct cast *cast)
{
    const struct cast_parcel *p;
    while ((p = cast->total.waiting.first) != NULL && p->number <= cast->ordered[p->origin])
        free(cast_list_pop(&cast->total.waiting));
}

static void order_waiting(struct cast *cast)
{
    while (give_local(cast)) {
        drop_ordered(cast);
        if (cast->total.waiting.first == NULL)
            return;
        struct cast_channel *ch = order_channel(cast);
        if (ch == NULL || ch->state != CAST_LIVE || ch->sender.queue.bytes >= QUEUE_BYTES ||
            !put_in_order(cast, ch))
            return;
    }
}

uint64_t cast_order_step(struct cast *cast)
{
    if (!orders_anything(cast))
        return UINT64_MAX;
    cast_order_review(cast);
    if (taking_over(cast))
        return UINT64_MAX;
    drop_ordered(cast);
    if (cast->total.sequencer != cast->self) {
        struct cast_control order = {.type = CAST_ORDER,
                                     .key = {cast->self, 0, cast->hosts[cast->self].incarnation}};
        for (struct cast_parcel *p = cast->total.pending.first; p != NULL; p = p->next) {
            if (p->sent)
                continue;
            order.number = p->number;
            order.bytes = p->bytes;
            order.size = p->size;
            cast_control_send(cast, cast->total.sequencer, &order);
            p->sent = true;
        }
        return UINT64_MAX;
    }
    order_take_own(cast);
    if (cast->total.order != NULL)
        order_channel(cast); /* hosts that came learn who puts in order */
    order_waiting(cast);
    return cast->total.local.first != NULL ? cast->now_us + RETRY_US : UINT64_MAX;
}
