/*
 * window_receive.c - the stream that comes in. Bytes go straight to their place in the ring, also
 * those that came early; `early` remembers which. The ring holds what lies between the reader and
 * the limit that was granted, so it is bounded whatever the peer sends.
 *
 * A new limit is announced when a quarter of what was granted is used up and there is an eighth of
 * the buffer to gain. The packet with it must be acknowledged, and a lost one is sent again with
 * the newest limit: a sender that waits for a limit needs no timer.
 */
#include "proto/window/window_internal.h"

#include <assert.h>

#define RECEIVE_EARLY_MAX 8192 /* gaps in the stream that are kept track of */

void receiver_init(struct window *w)
{
    w->receive.granted = WINDOW_LIMIT_INITIAL;
}

const char *receiver_reserve(struct window *w, const struct wire_packet *p)
{
    struct receiver *r = &w->receive;
    uint64_t end = p->offset + p->length;
    if (end > r->granted)
        return "stream bytes beyond the limit granted";
    if (end <= r->next)
        return NULL;
    if (p->offset > r->next && r->early.count >= RECEIVE_EARLY_MAX)
        return "too many gaps in the stream";
    if (end < r->highest)
        end = r->highest;
    if (!window_ring_reserve(&r->ring, r->consumed, r->highest, end) ||
        !ranges_reserve(&r->early, r->early.count + 1))
        return "memory exhausted";
    return NULL;
}

static uint64_t limit_possible(const struct window *w)
{
    return w->receive.consumed + w->config.receive_buffer_bytes;
}

static void limit_update(struct window *w)
{
    struct receiver *r = &w->receive;
    uint64_t buffer = w->config.receive_buffer_bytes;
    assert(r->consumed <= r->next && r->next <= r->highest && r->highest <= r->granted);
    uint64_t grant = r->granted < buffer ? r->granted : buffer;
    bool used = r->granted - r->highest <= grant - grant / 4;
    if (used && limit_possible(w) >= r->granted + buffer / 8)
        r->limit_due = true;
}

void receiver_put_limit(struct window *w, struct cursor *c)
{
    struct receiver *r = &w->receive;
    if (r->granted < limit_possible(w))
        r->granted = limit_possible(w);
    wire_put_limit(c, r->granted);
    r->limit_due = false;
}

void receiver_on_stream(struct window *w, const struct wire_packet *p)
{
    struct receiver *r = &w->receive;
    uint64_t begin = p->offset < r->next ? r->next : p->offset;
    uint64_t end = p->offset + p->length;
    if (end <= r->next) {
        w->stats.bytes_duplicate += p->length;
        return;
    }
    w->stats.bytes_received += end - begin;
    window_ring_put(&r->ring, begin, p->bytes + (begin - p->offset), (size_t)(end - begin));
    if (end > r->highest)
        r->highest = end;
    if (begin == r->next) {
        /* In order up to `end`; early bytes that follow are in order now, too. */
        r->next = end;
        ranges_remove_below(&r->early, end);
        if (r->early.count != 0 && r->early.at[0].begin == end) {
            r->next = r->early.at[0].end;
            ranges_remove_below(&r->early, r->next);
        }
    } else {
        bool added = ranges_add(&r->early, begin, end); /* receiver_reserve() made room */
        assert(added);
    }
    limit_update(w);
}

size_t window_readable(struct window *w, const uint8_t **bytes)
{
    struct receiver *r = &w->receive;
    return window_ring_view(&r->ring, r->consumed, r->next, bytes);
}

size_t window_unread(const struct window *w)
{
    return (size_t)(w->receive.next - w->receive.consumed);
}

bool window_view(struct window *w, size_t size, const uint8_t **bytes)
{
    struct receiver *r = &w->receive;
    if (window_unread(w) < size)
        return false;
    size_t there = window_ring_view(&r->ring, r->consumed, r->consumed + size, bytes);
    assert(there == size);
    return true;
}

void window_consume(struct window *w, size_t size)
{
    struct receiver *r = &w->receive;
    uint64_t readable = r->next - r->consumed;
    r->consumed += size < readable ? size : readable;
    limit_update(w);
}
