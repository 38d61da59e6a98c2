/*
 * window_ack.c - which packets came, and when to say so. An acknowledgement is held back until
 * ACK_PACKETS packets, ACK_BYTES bytes or WINDOW_ACK_DELAY_US have gathered; it goes out at once
 * when a packet came out of order or carries a PING: the sender puts one four times a round trip,
 * so that it never waits for the timer while its congestion window is full.
 */
#include "proto/window/window_internal.h"

#include <assert.h>

#define ACK_PACKETS 10
#define ACK_BYTES (256u * 1024)
#define ACK_RANGES_KEPT (2 * WIRE_RANGES_MAX)
#define ACK_HISTORY 256 /* numbers kept below what the peer knows that we have seen */
#define ACK_RANGES_LONG 8
#define ACK_LONG_PACKETS 32 /* with bytes of the stream, between two that tell what we know */

bool acker_seen(const struct acker *a, uint64_t number)
{
    return number < a->floor || ranges_contain(&a->seen, number);
}

bool acker_reserve(struct acker *a)
{
    return ranges_reserve(&a->seen, ACK_RANGES_KEPT + 1);
}

static uint64_t seen_end(const struct acker *a)
{
    return a->seen.count == 0 ? a->floor : a->seen.at[a->seen.count - 1].end;
}

static void forget_below(struct acker *a, uint64_t number)
{
    if (number <= a->floor)
        return;
    a->floor = number;
    ranges_remove_below(&a->seen, number);
}

void acker_on_packet(struct window *w, uint64_t number, size_t size, const struct wire_packet *p,
                     uint64_t now_us)
{
    struct acker *a = &w->ack;
    bool in_order = number == seen_end(a);
    if (number >= seen_end(a))
        a->largest_us = now_us;
    assert(number >= a->floor && a->seen.count <= ACK_RANGES_KEPT);
    bool added = ranges_add(&a->seen, number, number + 1); /* there is room for one more */
    assert(added);
    if (a->seen.count > ACK_RANGES_KEPT)
        forget_below(a, a->seen.at[0].end);
    if (!p->stream && !p->limit && !p->ping)
        return;
    a->pending_bytes += size;
    a->unpruned += p->stream;
    if (a->pending++ == 0)
        a->deadline_us = now_us + WINDOW_ACK_DELAY_US;
    bool enough = a->pending >= ACK_PACKETS || a->pending_bytes >= ACK_BYTES;
    if (p->ping || !in_order || enough)
        a->deadline_us = 0;
}

bool acker_due(const struct acker *a, uint64_t now_us)
{
    return a->pending != 0 && a->deadline_us <= now_us;
}

uint64_t acker_put(struct window *w, struct cursor *c, uint64_t now_us)
{
    struct acker *a = &w->ack;
    size_t left = cursor_left(c) / 2; /* the rest is for what else is to be said */
    size_t count = a->seen.count;
    if (left < WIRE_ACK_BYTES(1) || count == 0)
        return 0;
    if (count > WIRE_RANGES_MAX)
        count = WIRE_RANGES_MAX;
    while (WIRE_ACK_BYTES(count) > left)
        count--;
    wire_put_ack(c, &a->seen, count, now_us - a->largest_us);
    a->pending = 0;
    a->pending_bytes = 0;
    return seen_end(a);
}

bool acker_long(const struct acker *a)
{
    return a->seen.count >= ACK_RANGES_LONG && a->unpruned >= ACK_LONG_PACKETS;
}

void acker_prune(struct acker *a, uint64_t end)
{
    a->unpruned = 0;
    if (end > ACK_HISTORY)
        forget_below(a, end - ACK_HISTORY);
}
