/*
 * cast_flush.c - the sender of a channel is gone: its survivors agree where the channel ended. What
 * they do is told in cast.c.
 *
 * Why it holds. A survivor takes fragments from the sender no more before it makes its first
 * statement, and what it gets by DATA never goes beyond the farthest statement of a round, so no
 * survivor ever has more than the farthest stated. Who is done in one round keeps everything until
 * all survivors are done, and states it again in every later round, so that the farthest of a
 * later round is no nearer while one of them lives. Who has ended leaves a tomb that answers.
 */
#include "proto/cast/cast_state.h"

#include <assert.h>

#define UNKNOWN_US 5000000 /* a member that this host was not told of by then never was one */

static void state(struct cast *cast, struct cast_channel *ch, uint32_t host)
{
    struct cast_control flush = {.type = CAST_FLUSH,
                                 .key = ch->key,
                                 .have = ch->flush.stated,
                                 .round = ch->flush.round,
                                 .total = ch->total,
                                 .members = ch->members};
    cast_control_send(cast, host, &flush);
}

void cast_flush_round(struct cast *cast, struct cast_channel *ch)
{
    if (ch->state != CAST_FLUSHING) {
        ch->state = CAST_FLUSHING;
        ch->flush.since_us = cast->now_us;
        cast->counters.flushes++;
        if (ch->receiver.top > ch->receiver.have)
            cast_ring_drop(&ch->ring, ch->receiver.have, ch->receiver.top);
        ch->receiver.top = ch->receiver.have;
    }
    assert(!ch->mine && ch->receiver.top == ch->receiver.have);
    ch->flush.stated = ch->receiver.have;
    ch->flush.round = host_set_hash(&ch->gone);
    ch->flush.served = false;
    for (size_t i = 0; i < ch->link_count; i++) {
        if (cast_link_lives(ch, &ch->links[i]))
            state(cast, ch, ch->links[i].host);
    }
    cast_flush_review(cast, ch);
}

/* The farthest statement of this round and the lowest host that made it; false: one is missing. */
static bool farthest(const struct cast *cast, const struct cast_channel *ch, uint64_t *have,
                     uint32_t *host)
{
    *have = ch->flush.stated;
    *host = cast->self;
    for (size_t i = 0; i < ch->link_count; i++) {
        const struct cast_link *link = &ch->links[i];
        if (!cast_link_lives(ch, link))
            continue;
        if (!link->stated || link->round != ch->flush.round)
            return false;
        if (link->have > *have || (link->have == *have && link->host < *host)) {
            *have = link->have;
            *host = link->host;
        }
    }
    return true;
}

static void hand_on(struct cast *cast, const struct cast_channel *ch, uint32_t host, uint64_t from,
                    uint64_t to)
{
    struct cast_control data = {.type = CAST_DATA, .key = ch->key};
    for (; from < to; from++) {
        const struct cast_slot *slot = cast_ring_get(&ch->ring, from);
        if (slot == NULL)
            return;
        data.bytes = cast_ring_bytes(&ch->ring, from);
        data.size = slot->size;
        cast_control_send(cast, host, &data);
    }
}

static bool all_done(const struct cast_channel *ch)
{
    for (size_t i = 0; i < ch->link_count; i++) {
        if (cast_link_lives(ch, &ch->links[i]) && !ch->links[i].done)
            return false;
    }
    return ch->flush.done;
}

void cast_flush_review(struct cast *cast, struct cast_channel *ch)
{
    uint64_t end;
    uint32_t host;
    if (ch->state != CAST_FLUSHING)
        return;
    if (farthest(cast, ch, &end, &host)) {
        if (host == cast->self && !ch->flush.served) {
            ch->flush.served = true;
            for (size_t i = 0; i < ch->link_count; i++) {
                const struct cast_link *link = &ch->links[i];
                if (cast_link_lives(ch, link) && link->have < end)
                    hand_on(cast, ch, link->host, link->have, end);
            }
        }
        if (ch->receiver.have >= end && !ch->flush.done) {
            struct cast_control done = {.type = CAST_DONE, .key = ch->key};
            ch->flush.done = true;
            cast_control_spread(cast, ch, &done);
        }
    }
    if (all_done(ch))
        ch->state = CAST_ENDED; /* cast_receive_step() gives out what is whole, and buries it */
    cast->dirty = true;
}

void cast_on_done(struct cast *cast, struct cast_channel *ch, uint32_t host)
{
    cast_link_find(ch, host)->done = true;
    cast_flush_review(cast, ch);
}

/* ---- statements of others -------------------------------------------------------------------- */

/* A channel that ended here has what all have: it agrees to whatever round. */
static void answer_ended(struct cast *cast, uint32_t host, const struct cast_control *flush,
                         uint64_t have)
{
    struct cast_control answer = *flush;
    if (flush->ended)
        return;
    answer.have = have;
    answer.ended = true;
    cast_control_send(cast, host, &answer);
    answer.type = CAST_DONE;
    cast_control_send(cast, host, &answer);
}

void cast_on_close(struct cast *cast, struct cast_channel *ch)
{
    ch->state = CAST_ENDED;
    for (size_t i = 0; i < ch->link_count; i++) {
        struct cast_control flush = {.type = CAST_FLUSH,
                                     .key = ch->key,
                                     .round = ch->links[i].round,
                                     .total = ch->total,
                                     .members = ch->members};
        if (ch->links[i].stated)
            answer_ended(cast, ch->links[i].host, &flush, ch->receiver.have);
    }
}

/* A channel that was opened at others before its sender died: nothing was sent. */
static struct cast_channel *unknown(struct cast *cast, const struct cast_control *flush)
{
    struct cast_channel *ch = cast_channel_create(cast, &flush->key, &flush->members);
    if (ch == NULL)
        return NULL;
    ch->state = CAST_LIVE;
    ch->total = flush->total;
    ch->ring.slot_bytes = CAST_DATAGRAM_BYTES_MAX;
    ch->ring.window = 1;
    ch->receiver.ack_us = ch->receiver.ask_us = UINT64_MAX;
    if (host_set_has(&cast->gone, ch->key.sender))
        cast_flush_round(cast, ch);
    return ch;
}

static const char *flush_refused(const struct cast *cast, uint32_t host,
                                 const struct cast_control *flush)
{
    if (!host_set_has(&flush->members, cast->self) || !host_set_has(&flush->members, host))
        return "not among its members";
    if (host_set_has(&flush->members, flush->key.sender) || flush->key.sender == cast->self)
        return "its sender lives";
    return NULL;
}

/* A sender that this host was never told of got no OPENED from here, so it sent nothing. One whose
 * fragments another has got one from here: so the channel has ended here, with what all have, and
 * there have been so many since that its tomb is no more. */
static bool has_ended(const struct cast *cast, const struct cast_control *flush)
{
    bool stranger = flush->key.incarnation != cast->hosts[flush->key.sender].incarnation;
    return stranger || flush->have > 0;
}

const char *cast_on_flush(struct cast *cast, uint32_t host, const struct cast_control *flush)
{
    struct cast_channel *ch = cast_find(cast, &flush->key);
    const struct cast_tomb *tomb = ch == NULL ? cast_tomb_find(cast, &flush->key) : NULL;
    if (tomb != NULL) {
        answer_ended(cast, host, flush, tomb->have);
        return NULL;
    }
    const char *refused = ch == NULL ? flush_refused(cast, host, flush) : NULL;
    if (refused != NULL)
        return refused;
    if (ch == NULL && has_ended(cast, flush)) {
        cast_tomb_add(cast, &flush->key, flush->have);
        answer_ended(cast, host, flush, flush->have);
        return NULL;
    }
    if (ch == NULL)
        ch = unknown(cast, flush);
    struct cast_link *link = ch == NULL ? NULL : cast_link_find(ch, host);
    if (link == NULL)
        return "not among its members";
    if (ch->state == CAST_ENDED) {
        answer_ended(cast, host, flush, ch->receiver.have);
        return NULL;
    }
    link->stated = true;
    link->round = flush->round;
    link->have = flush->have;
    cast_flush_review(cast, ch);
    return NULL;
}

/* A member that went before this host came is never reported gone here. */
uint64_t cast_flush_step(struct cast *cast, struct cast_channel *ch)
{
    if (cast->now_us < ch->flush.since_us + UNKNOWN_US)
        return ch->flush.since_us + UNKNOWN_US;
    bool any = false;
    for (size_t i = 0; i < ch->link_count; i++) {
        const struct cast_link *link = &ch->links[i];
        if (cast_link_lives(ch, link) && !host_set_has(&cast->live, link->host)) {
            host_set_add(&ch->gone, link->host);
            any = true;
        }
    }
    ch->flush.since_us = cast->now_us;
    if (any)
        cast_flush_round(cast, ch);
    return ch->flush.since_us + UNKNOWN_US;
}
