/*
 * cast_send.c - a channel at its sender. Invariants: stable <= sent <= next <= stable + window of
 * the ring; what is in the ring from `stable` on is kept; a fragment is sealed once, when it is
 * first sent, and repaired as it is.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/cast/cast_state.h"

#define WINDOW_START 64.0
#define WINDOW_LEAST 32.0
#define WINDOW_SHRINK 0.7
#define BURST 64u
#define GATHER_US 300        /* others may lack the same */
#define REPAIR_AGAIN_US 2000 /* what was repaired is under way for so long at least */
#define REPAIRS_VAIN 2       /* then a fragment goes in a control frame */
#define TRIP_START_US 2000
#define TRIP_US_MAX 100000
#define PACE_LEAST_US 200
#define SYNC_US 5000    /* quiet for so long: members are told where it ends */
#define SIZED_US 250000 /* paths are measured meanwhile */
#define SLOTS_MIN 256u  /* more than one message has fragments of the smallest size */
#define SLOTS_MAX 2048u

static void review_opening(struct cast_channel *ch)
{
    for (size_t i = 0; i < ch->link_count; i++) {
        if (!ch->links[i].opened && cast_link_lives(ch, &ch->links[i]))
            return;
    }
    if (ch->state == CAST_OPENING)
        ch->state = CAST_LIVE;
}

/* Members learn of a channel after the end of the one that it takes the place of. */
static void channel_announce(struct cast *cast, struct cast_channel *ch)
{
    const struct cast_channel *o = cast->channels[cast->self % CAST_BUCKETS];
    for (; o != NULL; o = o->chain) {
        if (o->mine && o->sender.retired && o->key.id < ch->key.id &&
            host_set_equal(&o->wanted, &ch->wanted))
            return;
    }
    struct cast_control open = {.type = CAST_OPEN,
                                .key = ch->key,
                                .total = ch->total,
                                .slot_bytes = (uint16_t)ch->ring.slot_bytes,
                                .window = (uint16_t)ch->ring.window,
                                .members = ch->members};
    ch->sender.announced = true;
    cast_control_spread(cast, ch, &open);
    review_opening(ch);
}

/* How large fragments to those hosts may be. */
static size_t slot_bytes(const struct cast *cast, const struct host_set *to)
{
    size_t size = cast->owner.datagram_bytes == NULL
                      ? cast->config.datagram_bytes
                      : cast->owner.datagram_bytes(cast->owner.context, to);
    if (size < CAST_DATAGRAM_BYTES_MIN)
        return CAST_DATAGRAM_BYTES_MIN;
    return size < CAST_DATAGRAM_BYTES_MAX ? size : CAST_DATAGRAM_BYTES_MAX;
}

/* Ids never end, but their names come again: one that is still in use is passed over. */
static uint64_t next_id(struct cast *cast)
{
    const struct cast_channel *ch = cast->channels[cast->self % CAST_BUCKETS];
    while (ch != NULL) {
        bool taken = ch->mine && cast_name(ch->key.id) == cast_name(cast->next_id);
        cast->next_id += taken;
        ch = taken ? cast->channels[cast->self % CAST_BUCKETS] : ch->chain;
    }
    return cast->next_id;
}

struct cast_channel *cast_open(struct cast *cast, const struct host_set *wanted, bool total)
{
    struct host_set members = *wanted;
    struct cast_key key = {cast->self, next_id(cast), cast->hosts[cast->self].incarnation};
    host_set_intersect(&members, &cast->live);
    struct cast_channel *ch = cast_channel_create(cast, &key, &members);
    if (ch == NULL)
        return NULL;
    ch->wanted = *wanted;
    cast->next_id++;
    ch->total = total;
    ch->ring.slot_bytes = slot_bytes(cast, &members);
    /* A whole message must fit, or it would never be given out. */
    size_t slot = ch->ring.slot_bytes;
    bool large = cast->own_count < CAST_OWN_LARGE;
    size_t slots = cast->config.buffer_bytes / (large ? 1 : 4) / slot;
    size_t least = large ? SLOTS_MIN : CAST_MESSAGE_MAX / (slot - CAST_OVERHEAD_BYTES) + 2;
    slots = slots < least ? least : slots;
    ch->ring.window = (uint32_t)(slots > SLOTS_MAX ? SLOTS_MAX : slots);
    ch->sender.sized_us = cast->now_us + SIZED_US;
    ch->sender.window = WINDOW_START;
    ch->sender.enough = ch->ring.window;
    ch->sender.trip_us = TRIP_START_US;
    ch->sender.repair_us = ch->sender.sync_us = UINT64_MAX;
    ch->sender.used_us = cast->now_us;
    for (size_t i = 0; i < ch->link_count; i++)
        ch->links[i].limit = ch->ring.window;
    channel_announce(cast, ch);
    cast->dirty = true;
    return ch;
}

void cast_close(struct cast *cast, struct cast_channel *ch)
{
    struct cast_control close = {.type = CAST_CLOSE, .key = ch->key};
    cast_control_spread(cast, ch, &close);
    cast_channel_destroy(cast, ch);
}

bool cast_idle(const struct cast_channel *ch)
{
    return ch->sender.queue.first == NULL && ch->stable == ch->sender.next;
}

bool cast_covers(const struct cast *cast, const struct cast_channel *ch)
{
    struct host_set missing = ch->wanted;
    host_set_intersect(&missing, &cast->live);
    host_set_subtract(&missing, &ch->members);
    return host_set_empty(&missing);
}

bool cast_fits(const struct cast *cast, struct cast_channel *ch)
{
    if (cast->now_us < ch->sender.sized_us || !cast_idle(ch))
        return true;
    struct host_set to = ch->members;
    host_set_subtract(&to, &ch->gone);
    ch->sender.sized_us = cast->now_us + SIZED_US;
    size_t size = slot_bytes(cast, &to);
    return size >= ch->ring.slot_bytes && size <= ch->ring.slot_bytes + ch->ring.slot_bytes / 4;
}

/* ---- what members say ------------------------------------------------------------------------ */

static void review_stable(struct cast *cast, struct cast_channel *ch)
{
    uint64_t stable = ch->sender.sent;
    for (size_t i = 0; i < ch->link_count; i++) {
        if (cast_link_lives(ch, &ch->links[i]) && ch->links[i].have < stable)
            stable = ch->links[i].have;
    }
    if (stable <= ch->stable)
        return;
    assert(stable <= ch->sender.sent && ch->sender.sent <= ch->sender.next);
    cast_ring_drop(&ch->ring, ch->stable, stable);
    if (ch->sender.recovery <= stable) {
        /* The window grows: twice as large every round trip at first, then by one fragment. */
        uint64_t acknowledged = stable - ch->stable;
        ch->sender.window += ch->sender.window < ch->sender.enough
                                 ? (double)acknowledged
                                 : (double)acknowledged / ch->sender.window;
        if (ch->sender.window > ch->ring.window)
            ch->sender.window = ch->ring.window;
    }
    ch->stable = stable;
    if (ch->sender.timed_us != 0 && ch->stable > ch->sender.timed) {
        uint64_t trip = cast->now_us - ch->sender.timed_us;
        ch->sender.trip_us =
            (ch->sender.trip_us * 7 + (trip < TRIP_US_MAX ? trip : TRIP_US_MAX)) / 8;
        ch->sender.timed_us = 0;
    }
    ch->sender.sync_us = cast->now_us + SYNC_US + 2 * ch->sender.trip_us;
}

void cast_member_gone(struct cast *cast, struct cast_channel *ch)
{
    assert(ch->mine);
    review_opening(ch);
    review_stable(cast, ch);
}

void cast_on_opened(struct cast *cast, struct cast_channel *ch, uint32_t host)
{
    (void)cast;
    cast_link_find(ch, host)->opened = true;
    review_opening(ch);
}

/* A round trip in which something was repaired measures the repair (Karn's algorithm). */
static void on_missing(struct cast *cast, struct cast_channel *ch, uint32_t host,
                       const struct cast_control *ack)
{
    for (uint16_t i = 0; i < ack->missing_count; i++) {
        uint64_t first = ack->missing[i].first, count = ack->missing[i].count;
        if (first < ch->stable || first >= ch->sender.sent)
            continue;
        if (first >= ch->sender.recovery) {
            ch->sender.recovery = ch->sender.sent;
            ch->sender.window *= WINDOW_SHRINK;
            if (ch->sender.window < WINDOW_LEAST)
                ch->sender.window = WINDOW_LEAST;
            ch->sender.enough = ch->sender.window;
        }
        for (uint64_t k = 0; k < count && first + k < ch->sender.sent; k++) {
            uint64_t number = first + k;
            struct cast_slot *slot = cast_ring_get(&ch->ring, number);
            uint64_t again = REPAIR_AGAIN_US + ch->sender.trip_us;
            if (slot != NULL && number < ch->sender.sent &&
                cast->now_us >= slot->repaired_us + again) {
                slot->wanted =
                    slot->wanted == 0 || slot->wanted == host ? host : CAST_WANTED_BY_MANY;
                if (ch->sender.repair_us == UINT64_MAX)
                    ch->sender.repair_us = cast->now_us + (ch->link_count > 1 ? GATHER_US : 0);
            }
        }
    }
    if (ack->missing_count > 0)
        ch->sender.timed_us = 0;
    cast->counters.asked += ack->missing_count > 0;
}

void cast_on_ack(struct cast *cast, struct cast_channel *ch, uint32_t host,
                 const struct cast_control *ack)
{
    struct cast_link *link = cast_link_find(ch, host);
    assert(link != NULL); /* on_channel() */
    if (ack->have > ch->sender.sent)
        return; /* it cannot have what was never sent */
    if (ack->have > link->have)
        link->have = ack->have;
    if (ack->limit > link->limit)
        link->limit = ack->limit;
    on_missing(cast, ch, host, ack);
    review_stable(cast, ch);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* The next fragment of the first message into the ring. */
static void cut_one(struct cast *cast, struct cast_channel *ch)
{
    struct cast_parcel *parcel = ch->sender.queue.first;
    assert(parcel != NULL && ch->sender.cut <= parcel->size);
    assert(ch->sender.next < ch->stable + ch->ring.window);
    size_t room = ch->ring.slot_bytes - CAST_OVERHEAD_BYTES, left = parcel->size - ch->sender.cut;
    size_t size = left < room ? left : room;
    struct cast_slot *slot = cast_ring_take(&ch->ring, ch->sender.next, size + CAST_OVERHEAD_BYTES);
    memcpy(cast_ring_bytes(&ch->ring, ch->sender.next) + CAST_PREFIX_BYTES,
           parcel->bytes + ch->sender.cut, size);
    slot->serial = parcel->number;
    slot->flags =
        (uint8_t)((ch->sender.cut == 0 ? CAST_FIRST : 0) | (size == left ? CAST_LAST : 0));
    ch->sender.next++;
    ch->sender.cut += size;
    if (size < left)
        return;
    ch->sender.cut = 0;
    assert(cast->queued >= parcel->size);
    cast->queued -= parcel->size;
    free(cast_list_pop(&ch->sender.queue));
}

/* The first fragment that may not be sent now. */
static uint64_t allowed(const struct cast_channel *ch)
{
    uint64_t end = ch->stable + (uint64_t)ch->sender.window;
    for (size_t i = 0; i < ch->link_count; i++) {
        if (cast_link_lives(ch, &ch->links[i]) && ch->links[i].limit < end)
            end = ch->links[i].limit;
    }
    return end < ch->sender.next ? end : ch->sender.next;
}

static void transmit(struct cast *cast, struct cast_channel *ch, bool ask)
{
    uint64_t number = ch->sender.sent++;
    struct cast_slot *slot = cast_ring_get(&ch->ring, number);
    assert(slot != NULL && number < ch->sender.next);
    uint8_t *bytes = cast_ring_bytes(&ch->ring, number);
    struct cast_fragment fragment = {.sender = ch->key.sender,
                                     .name = cast_name(ch->key.id),
                                     .number = number,
                                     .flags = (uint8_t)(slot->flags | (ask ? CAST_ASK : 0)),
                                     .back = (uint16_t)(number - ch->stable),
                                     .size = slot->size};
    struct host_set to = ch->members;
    cast_seal_put(&ch->seal, &fragment, bytes);
    host_set_subtract(&to, &ch->gone);
    if (!host_set_empty(&to))
        cast->owner.multicast(cast->owner.context, &to, bytes, slot->size);
    cast->counters.fragments_sent++;
    if (ask && ch->sender.timed_us == 0) {
        ch->sender.timed = number;
        ch->sender.timed_us = cast->now_us;
    }
}

static void repair_one(struct cast *cast, const struct cast_channel *ch, struct cast_slot *slot)
{
    const uint8_t *bytes = cast_ring_bytes(&ch->ring, slot->number);
    struct host_set to = ch->members;
    host_set_subtract(&to, &ch->gone);
    cast->counters.repairs_sent++;
    if (slot->repairs++ >= REPAIRS_VAIN) {
        /* To who lacks it, over the windows: they know how large a datagram the path carries now.
         */
        struct cast_control data = {.type = CAST_DATA,
                                    .key = ch->key,
                                    .bytes = cast_ring_bytes(&ch->ring, slot->number),
                                    .size = slot->size};
        for (size_t i = 0; i < ch->link_count; i++) {
            const struct cast_link *link = &ch->links[i];
            bool wants = slot->wanted == CAST_WANTED_BY_MANY || slot->wanted == link->host;
            if (!wants || !cast_link_lives(ch, link) || link->have > slot->number)
                continue;
            cast->counters.repairs_framed++;
            cast_control_send(cast, link->host, &data);
        }
    } else if (slot->wanted == CAST_WANTED_BY_MANY) {
        cast->counters.repairs_multicast++;
        cast->owner.multicast(cast->owner.context, &to, bytes, slot->size);
    } else if (host_set_has(&to, slot->wanted)) {
        cast->owner.unicast(cast->owner.context, slot->wanted, bytes, slot->size);
    }
    slot->wanted = 0;
    slot->repaired_us = cast->now_us;
}

static void repair(struct cast *cast, struct cast_channel *ch)
{
    unsigned count = 0;
    if (cast->now_us < ch->sender.repair_us)
        return;
    ch->sender.repair_us = UINT64_MAX;
    for (uint64_t n = ch->stable; n < ch->sender.sent; n++) {
        struct cast_slot *slot = cast_ring_get(&ch->ring, n);
        if (slot == NULL || slot->wanted == 0)
            continue;
        if (count++ == BURST) {
            ch->sender.repair_us = cast->now_us + ch->sender.trip_us / 4;
            return;
        }
        repair_one(cast, ch, slot);
    }
}

/* After a while of silence members learn where it ends, so that they can ask for the last ones,
 * and what is stable, so that they can forget it. */
static void sync(struct cast *cast, struct cast_channel *ch)
{
    struct cast_control m = {
        .type = CAST_SYNC, .key = ch->key, .next = ch->sender.sent, .stable = ch->stable};
    if (cast->now_us < ch->sender.sync_us)
        return;
    cast_control_spread(cast, ch, &m);
    ch->sender.timed_us = 0;
    ch->sender.sync_us = UINT64_MAX;
    if (cast_idle(ch))
        cast_ring_fini(&ch->ring);
}

uint64_t cast_send_step(struct cast *cast, struct cast_channel *ch)
{
    if (ch->sender.queue.first != NULL && !cast_ring_ready(cast, ch))
        return cast->now_us + SYNC_US;
    while (ch->sender.queue.first != NULL && ch->sender.next < ch->stable + ch->ring.window)
        cut_one(cast, ch);
    if (!ch->sender.announced)
        channel_announce(cast, ch);
    if (ch->state != CAST_LIVE)
        return UINT64_MAX;
    /* New fragments, as many as may be under way; members are asked to acknowledge four times a
     * window, and with the last one. */
    uint64_t end = allowed(ch), first = ch->sender.sent, ask = (uint64_t)ch->sender.window / 4;
    if (ch->sender.sent < end && cast->now_us >= ch->sender.pace_us) {
        if (end - first > BURST)
            end = first + BURST;
        while (ch->sender.sent < end)
            transmit(cast, ch, ch->sender.sent + 1 == end || ch->sender.sent % ask == 0);
        double pace_us =
            (double)(end - first) * (double)ch->sender.trip_us / (2 * ch->sender.window);
        ch->sender.pace_us = pace_us >= PACE_LEAST_US ? cast->now_us + (uint64_t)pace_us : 0;
        ch->sender.sync_us = cast->now_us + SYNC_US + 2 * ch->sender.trip_us;
    }
    review_stable(cast, ch); /* nobody may be left who could acknowledge */
    repair(cast, ch);
    sync(cast, ch);
    if (ch->sender.retired && cast_idle(ch)) {
        cast_close(cast, ch);
        cast->dirty = true;
        return UINT64_MAX;
    }
    uint64_t due =
        ch->sender.repair_us < ch->sender.sync_us ? ch->sender.repair_us : ch->sender.sync_us;
    uint64_t more = ch->sender.sent < allowed(ch) ? ch->sender.pace_us : UINT64_MAX;
    return more < due ? more : due;
}
