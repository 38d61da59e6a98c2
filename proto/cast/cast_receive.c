/*
 * cast_receive.c - a channel at a member. Invariants: given <= have <= top; the ring keeps
 * what is not stable or not given out; what lies beyond the ring is refused, the sender was told
 * not to send it.
 */
#include <assert.h>
#include <string.h>

#include "proto/cast/cast_state.h"

#define ACK_EVERY 64u
#define ACK_US 3000   /* acknowledged then at the latest */
#define ASK_US 1000   /* a gap may be reordering */
#define AGAIN_US 4000 /* what was asked for should have come */
#define AGAIN_US_MAX 200000
#define RETRY_US 2000 /* a message that was not taken is offered again */

/* ---- opening --------------------------------------------------------------------------------- */

static size_t channels_of(const struct cast *cast, uint32_t sender)
{
    size_t count = 0;
    const struct cast_channel *ch = cast->channels[sender % CAST_BUCKETS];
    for (; ch != NULL; ch = ch->chain)
        count += ch->key.sender == sender;
    return count;
}

static const char *open_refused(const struct cast *cast, const struct cast_control *open)
{
    if (open->key.incarnation != cast->hosts[open->key.sender].incarnation)
        return "another incarnation";
    if (!host_set_has(&open->members, cast->self) || host_set_has(&open->members, open->key.sender))
        return "bad members";
    if (open->slot_bytes < CAST_DATAGRAM_BYTES_MIN || open->slot_bytes > CAST_DATAGRAM_BYTES_MAX)
        return "bad size of fragments";
    if (open->window == 0 ||
        (size_t)open->window * open->slot_bytes > (size_t)CAST_DATAGRAM_BYTES_MAX * 256)
        return "its window is too large";
    if (channels_of(cast, open->key.sender) >= CAST_FOREIGN_MAX)
        return "too many channels of that host";
    return NULL;
}

static void admit(struct cast *cast, struct cast_channel *ch)
{
    struct cast_control opened = {.type = CAST_OPENED, .key = ch->key};
    if (!ch->withheld || (ch->total && !cast_order_admits(cast, ch->key.sender)))
        return;
    ch->withheld = false;
    ch->serial = ++cast->total.admitted;
    cast_order_review(cast);
    cast_control_send(cast, ch->key.sender, &opened);
}

const char *cast_on_open(struct cast *cast, const struct cast_control *open)
{
    const char *refused = open_refused(cast, open);
    if (refused != NULL || cast_find(cast, &open->key) != NULL ||
        cast_tomb_find(cast, &open->key) != NULL)
        return refused;
    struct cast_channel *ch = cast_channel_create(cast, &open->key, &open->members);
    if (ch == NULL)
        return "out of memory";
    ch->state = CAST_LIVE;
    ch->total = open->total;
    ch->ring.slot_bytes = open->slot_bytes;
    ch->ring.window = open->window;
    ch->receiver.ack_us = ch->receiver.ask_us = UINT64_MAX;
    ch->withheld = true;
    admit(cast, ch);
    return NULL;
}

/* ---- fragments ------------------------------------------------------------------------------- */

static uint64_t floor_of(const struct cast_channel *ch)
{
    return ch->stable < ch->receiver.given ? ch->stable : ch->receiver.given;
}

static void channel_forget(struct cast_channel *ch, uint64_t stable)
{
    uint64_t before = floor_of(ch);
    if (stable > ch->stable && stable <= ch->receiver.have)
        ch->stable = stable;
    assert(before <= floor_of(ch) && ch->stable <= ch->receiver.have);
    cast_ring_drop(&ch->ring, before, floor_of(ch));
}

static void ack_at(struct cast_channel *ch, uint64_t at_us)
{
    if (at_us < ch->receiver.ack_us)
        ch->receiver.ack_us = at_us;
}

static void store(struct cast_channel *ch, const struct cast_fragment *f, const uint8_t *bytes)
{
    assert(f->number >= ch->receiver.have && f->number < floor_of(ch) + ch->ring.window);
    struct cast_slot *slot = cast_ring_take(&ch->ring, f->number, f->size);
    slot->flags = f->flags;
    slot->back = f->back;
    memcpy(cast_ring_bytes(&ch->ring, f->number), bytes, f->size);
    if (f->number >= ch->receiver.top)
        ch->receiver.top = f->number + 1;
    uint64_t have = ch->receiver.have;
    while (cast_ring_get(&ch->ring, ch->receiver.have) != NULL)
        ch->receiver.have++;
    assert(ch->receiver.given <= ch->receiver.have && ch->receiver.have <= ch->receiver.top);
    if (ch->receiver.have > have)
        ch->receiver.asked = 0;
}

/* When to ask for what is missing: at once if that is known for a while, later each time. */
static void plan_asking(struct cast *cast, struct cast_channel *ch)
{
    if (ch->receiver.have == ch->receiver.top)
        ch->receiver.ask_us = UINT64_MAX;
    else if (ch->receiver.ask_us == UINT64_MAX)
        ch->receiver.ask_us = cast->now_us + ASK_US;
}

void cast_on_fragment(struct cast *cast, struct cast_channel *ch, struct cast_fragment *f,
                      const uint8_t *bytes)
{
    const uint8_t *payload;
    uint64_t number = f->number;
    bool fresh = number >= ch->receiver.have && cast_ring_get(&ch->ring, number) == NULL;
    if (f->size > ch->ring.slot_bytes || !cast_ring_ready(cast, ch))
        return;
    if (fresh && f->number >= floor_of(ch) + 2 * (uint64_t)ch->ring.window)
        return; /* before the work of opening it: no number that its sender would use */
    if (!cast_seal_open(&ch->seal, bytes, f, cast->room, &payload)) {
        cast->counters.refused++;
        return;
    }
    cast->dirty = true;
    if (f->back <= f->number)
        channel_forget(ch, f->number - f->back);
    if (!fresh)
        cast->counters.duplicates++;
    else if (f->number < floor_of(ch) + ch->ring.window)
        store(ch, f, bytes);
    bool ask = (f->flags & CAST_ASK) != 0 || ch->receiver.have >= ch->receiver.acked + ACK_EVERY;
    ack_at(ch, ask ? cast->now_us : cast->now_us + ACK_US);
    plan_asking(cast, ch);
}

void cast_on_sync(struct cast *cast, struct cast_channel *ch, const struct cast_control *sync)
{
    if (sync->stable > sync->next || sync->next > floor_of(ch) + 2 * (uint64_t)ch->ring.window)
        return;
    if (sync->next > ch->receiver.top)
        ch->receiver.top = sync->next;
    channel_forget(ch, sync->stable);
    if (sync->stable < sync->next)
        ack_at(ch, cast->now_us);
    plan_asking(cast, ch);
    if (ch->stable == ch->receiver.top && ch->receiver.given == ch->receiver.top)
        cast_ring_fini(&ch->ring);
}

/* What a survivor hands on is the next that is missing here. There is room for it where what was
 * stable when it was sent, which perhaps was not heard of here, is forgotten. */
static void take_handed(struct cast *cast, struct cast_channel *ch, struct cast_fragment *f,
                        const uint8_t *bytes)
{
    const uint8_t *payload;
    if (f->size > ch->ring.slot_bytes || !cast_ring_ready(cast, ch) ||
        f->number != ch->receiver.have ||
        !cast_seal_open(&ch->seal, bytes, f, cast->room, &payload))
        return;
    if (f->back <= f->number)
        channel_forget(ch, f->number - f->back);
    if (f->number >= floor_of(ch) + ch->ring.window)
        return;
    store(ch, f, bytes);
    cast_flush_review(cast, ch);
}

void cast_on_data(struct cast *cast, struct cast_channel *ch, uint32_t host,
                  const struct cast_control *data)
{
    struct cast_fragment f;
    bool by_sender = host == ch->key.sender;
    if (ch->state != (by_sender ? CAST_LIVE : CAST_FLUSHING) ||
        !cast_peek(data->bytes, data->size, cast->vm, &f) || f.sender != ch->key.sender ||
        f.name != cast_name(ch->key.id))
        return;
    if (by_sender)
        cast_on_fragment(cast, ch, &f, data->bytes);
    else
        take_handed(cast, ch, &f, data->bytes);
}

/* ---- giving out ------------------------------------------------------------------------------ */

/* One past the last fragment of the first message not given out; 0: it is not whole. */
static uint64_t message_end(const struct cast_channel *ch)
{
    for (uint64_t n = ch->receiver.given; n < ch->receiver.have; n++) {
        const struct cast_slot *slot = cast_ring_get(&ch->ring, n);
        if (slot == NULL)
            return 0;
        if ((slot->flags & CAST_LAST) != 0)
            return n + 1;
    }
    return 0;
}

/* Puts the fragments given .. end-1 together; returns the size, SIZE_MAX for nonsense. */
static size_t fragments_gather(struct cast *cast, const struct cast_channel *ch, uint64_t end)
{
    size_t size = 0;
    for (uint64_t n = ch->receiver.given; n < end; n++) {
        const struct cast_slot *slot = cast_ring_get(&ch->ring, n);
        assert(slot != NULL); /* message_end() saw it */
        const uint8_t *bytes = cast_ring_bytes(&ch->ring, n);
        const uint8_t *payload = bytes + CAST_PREFIX_BYTES;
        struct cast_fragment f = {.number = n, .size = slot->size};
        if (ch->seal.encrypt && !cast_seal_open(&ch->seal, bytes, &f, cast->room, &payload))
            return SIZE_MAX;
        if (((slot->flags & CAST_FIRST) != 0) != (n == ch->receiver.given) ||
            size + cast_payload_bytes(&f) > CAST_MESSAGE_MAX)
            return SIZE_MAX;
        memcpy(cast->message + size, payload, cast_payload_bytes(&f));
        size += cast_payload_bytes(&f);
    }
    return size;
}

/* Offers the message; what makes no sense is dropped. */
static bool message_give(struct cast *cast, const struct cast_channel *ch, uint64_t end)
{
    size_t size = fragments_gather(cast, ch, end);
    struct cast_message message = {
        .sender = ch->key.sender, .order = CAST_FIFO, .bytes = cast->message, .size = size};
    if (size == SIZE_MAX) {
        cast->counters.refused++;
        return true;
    }
    if (ch->total)
        return cast_order_deliver(cast, cast->message, size);
    if (!cast->owner.deliver(cast->owner.context, &message))
        return false;
    cast->counters.messages_delivered++;
    return true;
}

/* Whether a channel that its sender closed before has not been given out whole. */
static bool is_later(const struct cast *cast, const struct cast_channel *ch)
{
    const struct cast_channel *o = cast->channels[ch->key.sender % CAST_BUCKETS];
    for (; o != NULL; o = o->chain) {
        if (o->key.sender == ch->key.sender && o->key.id < ch->key.id && o->state == CAST_ENDED)
            return true;
    }
    return ch->total && cast_order_blocked(cast, ch);
}

/* Returns when to try again, UINT64_MAX: all that is whole was given out. */
static uint64_t give_all(struct cast *cast, struct cast_channel *ch)
{
    for (uint64_t end; (end = message_end(ch)) != 0;) {
        if (is_later(cast, ch))
            return UINT64_MAX; /* when the other ends, all are stepped */
        if (!message_give(cast, ch, end))
            return cast->now_us + RETRY_US;
        uint64_t before = floor_of(ch);
        ch->receiver.given = end;
        cast_ring_drop(&ch->ring, before, floor_of(ch));
    }
    return UINT64_MAX;
}

/* ---- acknowledging --------------------------------------------------------------------------- */

static void find_missing(const struct cast_channel *ch, struct cast_control *ack)
{
    for (uint64_t n = ch->receiver.have;
         n < ch->receiver.top && ack->missing_count < CAST_MISSING_MAX;) {
        struct cast_missing *m = &ack->missing[ack->missing_count];
        uint64_t first = n;
        while (n < ch->receiver.top && n - first < UINT16_MAX &&
               cast_ring_get(&ch->ring, n) == NULL)
            n++;
        if (n > first) {
            *m = (struct cast_missing){first, (uint16_t)(n - first)};
            ack->missing_count++;
        }
        while (n < ch->receiver.top && cast_ring_get(&ch->ring, n) != NULL)
            n++;
    }
}

static void acknowledge(struct cast *cast, struct cast_channel *ch)
{
    struct cast_control ack = {.type = CAST_ACK,
                               .key = ch->key,
                               .have = ch->receiver.have,
                               .limit = ch->receiver.given + ch->ring.window};
    bool ask = cast->now_us >= ch->receiver.ask_us;
    if (cast->now_us < ch->receiver.ack_us && !ask)
        return;
    if (ask) {
        find_missing(ch, &ack);
        uint64_t again = (uint64_t)AGAIN_US << (ch->receiver.asked < 8 ? ch->receiver.asked : 8);
        ch->receiver.ask_us = cast->now_us + (again < AGAIN_US_MAX ? again : AGAIN_US_MAX);
        ch->receiver.asked++;
    }
    ch->receiver.acked = ch->receiver.have;
    ch->receiver.ack_us = UINT64_MAX;
    cast_control_send(cast, ch->key.sender, &ack);
}

/* Whether it is known here how far the channel went: then what is not whole never will be. */
static bool channel_is_over(const struct cast_channel *ch)
{
    return ch->state == CAST_ENDED && message_end(ch) == 0;
}

uint64_t cast_receive_step(struct cast *cast, struct cast_channel *ch)
{
    uint64_t given = ch->receiver.given, due = give_all(cast, ch);
    if (channel_is_over(ch)) {
        cast_channel_bury(cast, ch);
        return UINT64_MAX;
    }
    if (ch->state != CAST_LIVE)
        return due;
    admit(cast, ch);
    if (ch->receiver.given > given && ch->receiver.acked == ch->receiver.have)
        ack_at(ch, cast->now_us + ACK_US); /* its sender may wait for room */
    acknowledge(cast, ch);
    due = ch->receiver.ack_us < due ? ch->receiver.ack_us : due;
    return ch->receiver.ask_us < due ? ch->receiver.ask_us : due;
}
