/*
 * window_send.c - the stream that goes out, and the choice of the next packet.
 *
 * Written bytes stay in the ring, or where they are lent, until the peer has them: base (all below
 * acknowledged) <= next (all from here on never sent) <= end. Between base and next, `acked` and
 * `lost` tell what is settled and what must go again; the rest is in flight. What cannot be
 * remembered for want of memory is sent once more than needed.
 */
#include "proto/window/window_internal.h"

#include <assert.h>

#define SEND_HEADS_BYTES 64 /* reckoned for what a packet carries besides stream bytes */

enum choice {
    SEND_NOTHING,
    SEND_ACK,
    SEND_ACK_PING,
    SEND_CONTROL,
    SEND_STREAM,
    SEND_PROBE,
    SEND_MTU_PROBE
};

void sender_init(struct window *w)
{
    w->send.limit = WINDOW_LIMIT_INITIAL;
}

size_t window_writable(const struct window *w)
{
    size_t held = window_unacknowledged(w);
    return held < w->config.send_buffer_bytes ? w->config.send_buffer_bytes - held : 0;
}

size_t window_unacknowledged(const struct window *w)
{
    return (size_t)(w->send.end - w->send.base);
}

size_t window_waiting(const struct window *w)
{
    return (size_t)(w->send.end - w->send.next);
}

uint64_t window_acknowledged(const struct window *w)
{
    return w->send.largest_acked;
}

/* How many of `size` bytes there is room for; in the ring, too, where they go there now or later.
 */
static size_t room_make(struct window *w, size_t size, bool in_ring)
{
    struct sender *s = &w->send;
    size_t room = window_writable(w);
    assert(s->base <= s->next && s->next <= s->end && s->next <= s->limit);
    if (size > room)
        size = room;
    if (in_ring && !window_ring_reserve(&s->ring, s->base, s->end, s->end + size))
        return 0;
    return size;
}

size_t window_write(struct window *w, const void *bytes, size_t size)
{
    struct sender *s = &w->send;
    size = room_make(w, size, true);
    if (size == 0)
        return 0;
    assert(size <= s->ring.capacity - (s->end - s->base));
    window_ring_put(&s->ring, s->end, bytes, size);
    s->end += size;
    return size;
}

size_t window_lend(struct window *w, const void *bytes, size_t size)
{
    struct sender *s = &w->send;
    size = room_make(w, size, !w->config.lent_stay);
    if (size == 0)
        return 0;
    loans_remove_below(&s->loans, s->base);
    if (!loans_add(&s->loans, bytes, s->end, size))
        return w->config.lent_stay ? 0 : window_write(w, bytes, size);
    s->end += size;
    return size;
}

void window_keep(struct window *w)
{
    struct sender *s = &w->send;
    assert(!w->config.lent_stay);
    loans_remove_below(&s->loans, s->base);
    for (unsigned i = 0; i < s->loans.count; i++) {
        const struct loan *loan = &s->loans.at[i];
        uint64_t begin = loan->begin > s->base ? loan->begin : s->base;
        window_ring_put(&s->ring, begin, loan->bytes + (begin - loan->begin),
                        (size_t)(loan->end - begin));
    }
    s->loans.count = 0;
}

bool window_lends(const struct window *w)
{
    return w->send.loans.count > 0;
}

void window_hold(struct window *w, bool hold)
{
    w->send.hold = hold;
}

void sender_on_limit(struct sender *s, uint64_t limit)
{
    if (limit > s->limit) /* an old one may come late */
        s->limit = limit;
}

void sender_acked(struct sender *s, uint64_t offset, size_t length)
{
    uint64_t end = offset + length;
    if (end <= s->base)
        return;
    if (s->lost.count != 0)
        ranges_remove(&s->lost, offset, end);
    if (offset <= s->base) {
        assert(end <= s->end);
        s->base = end;
        ranges_remove_below(&s->acked, end);
        if (s->acked.count != 0 && s->acked.at[0].begin == end) {
            s->base = s->acked.at[0].end;
            assert(s->base <= s->end);
            ranges_remove_below(&s->acked, s->base);
        }
        ranges_remove_below(&s->lost, s->base);
    } else if (!ranges_add(&s->acked, offset, end))
        ranges_cover(&s->lost, offset, end);
}

void sender_lost(struct sender *s, uint64_t offset, size_t length)
{
    uint64_t end = offset + length;
    assert(end <= s->next);
    if (offset < s->base)
        offset = s->base;
    if (offset >= end)
        return;
    ranges_cover(&s->lost, offset, end);
    for (size_t i = ranges_find(&s->acked, offset); i < s->acked.count; i++) {
        if (s->acked.at[i].begin >= end)
            return;
        ranges_remove(&s->lost, s->acked.at[i].begin, s->acked.at[i].end);
    }
}

/* What should be sent next of the stream, as far as the peer allows; false: nothing. */
static bool stream_wanted(const struct sender *s, struct range *r)
{
    uint64_t end = s->end < s->limit ? s->end : s->limit;
    if (s->lost.count != 0)
        *r = s->lost.at[0];
    else
        *r = (struct range){s->next, end};
    return r->begin < r->end;
}

/* The same, but for what is to wait. */
static bool stream_due(const struct window *w, struct range *r)
{
    bool more = stream_wanted(&w->send, r);
    bool fills = r->end - r->begin + SEND_HEADS_BYTES >= w->mtu.size;
    return more && (fills || !w->send.hold || w->send.lost.count != 0);
}

/* The size that a packet with these bytes is reckoned at before it is built. */
static size_t estimate(const struct window *w, const struct range *r)
{
    uint64_t size = r->end - r->begin + SEND_HEADS_BYTES;
    return size < w->mtu.size ? (size_t)size : w->mtu.size;
}

static bool window_open(const struct window *w, size_t size)
{
    return w->send.flight_bytes + size <= cc_window(&w->cc);
}

uint64_t sender_deadline(const struct window *w)
{
    struct range r;
    uint64_t starved_us = w->send.starved_us;
    if (w->loss.probes_due != 0 || w->receive.limit_due)
        return starved_us;
    if (!stream_due(w, &r) || !window_open(w, estimate(w, &r)))
        return WINDOW_NEVER;
    uint64_t paced_us = w->pacer.waiting ? w->pacer.resume_us : 0;
    return paced_us > starved_us ? paced_us : starved_us;
}

static enum choice choose_stream(struct window *w, size_t capacity, uint64_t now_us)
{
    struct range r;
    if (!stream_due(w, &r))
        return SEND_NOTHING;
    size_t probe = mtu_probe_wanted(&w->mtu, now_us);
    if (probe != 0 && probe <= capacity)
        return SEND_MTU_PROBE;
    bool idle = w->send.flight_bytes == 0 && w->send.sent.next != 0;
    if (idle && now_us - w->send.sent_us >= CC_IDLE_US)
        cc_on_idle(&w->cc);
    size_t size = estimate(w, &r);
    if (!window_open(w, size)) {
        w->cc.limited = true;
        return SEND_NOTHING;
    }
    if (pacer_allows(&w->pacer, size, now_us))
        return SEND_STREAM;
    w->cc.limited |= w->send.flight_bytes >= cc_window(&w->cc) / 2;
    return SEND_NOTHING;
}

/* An acknowledgement alone is not acknowledged itself, unless it has grown so long that it pays to
 * learn which ranges need no more be told. */
static enum choice choose_ack(const struct window *w, uint64_t now_us)
{
    if (!acker_due(&w->ack, now_us))
        return SEND_NOTHING;
    return acker_long(&w->ack) && w->send.flight_bytes == 0 ? SEND_ACK_PING : SEND_ACK;
}

static enum choice choose_packet(struct window *w, size_t capacity, uint64_t now_us)
{
    enum choice choice = SEND_PROBE;
    if (w->loss.probes_due == 0)
        choice = choose_stream(w, capacity, now_us);
    if (choice == SEND_NOTHING && w->receive.limit_due)
        choice = SEND_CONTROL;
    if (choice == SEND_NOTHING)
        choice = choose_ack(w, now_us);
    if (choice == SEND_NOTHING || choice == SEND_ACK)
        return choice;
    if (now_us >= w->send.starved_us && loss_reserve(w, now_us))
        return choice;
    return acker_due(&w->ack, now_us) ? SEND_ACK : SEND_NOTHING;
}

/* A packet that is being built. */
struct packet {
    struct cursor c;
    struct sent record;
    struct window_apart *apart; /* what says where its bytes are; NULL: they are copied */
};

/* Where the bytes at `begin` are, and how many follow there up to `end`. */
static struct window_piece piece_at(const struct sender *s, uint64_t begin, uint64_t end)
{
    struct window_piece piece;
    if (loans_find(&s->loans, begin, &end, &piece.bytes))
        piece.size = (size_t)(end - begin);
    else
        piece.size = window_ring_run(&s->ring, begin, (size_t)(end - begin), &piece.bytes);
    return piece;
}

/* False: they are in too many pieces. */
static bool leave_apart(const struct sender *s, struct window_apart *apart, uint64_t begin,
                        uint64_t end)
{
    unsigned count = 0;
    for (uint64_t at = begin; at < end; at += apart->pieces[count++].size) {
        if (count == WINDOW_PIECES_MAX)
            return false;
        apart->pieces[count] = piece_at(s, at, end);
    }
    apart->count = count;
    apart->size = (size_t)(end - begin);
    return true;
}

/* The bytes begin .. end-1 behind the head of their piece, which is the last one. */
static void put_bytes(const struct sender *s, struct packet *p, uint64_t begin, uint64_t end)
{
    wire_put_stream(&p->c, begin, (size_t)(end - begin));
    if (p->apart != NULL && leave_apart(s, p->apart, begin, end))
        return;
    while (begin < end) {
        struct window_piece piece = piece_at(s, begin, end);
        cursor_put_bytes(&p->c, piece.bytes, piece.size);
        begin += piece.size;
    }
}

/* Puts as much of the range as fits. */
static void put_stream(struct window *w, struct packet *p, struct range r)
{
    struct sender *s = &w->send;
    assert(s->base <= r.begin && r.begin < r.end && r.end <= s->end);
    assert(cursor_left(&p->c) > WIRE_STREAM_BYTES);
    size_t most = cursor_left(&p->c) - WIRE_STREAM_BYTES;
    uint64_t length = r.end - r.begin < most ? r.end - r.begin : most;
    r.end = r.begin + length;
    put_bytes(s, p, r.begin, r.end);
    p->record.offset = r.begin;
    p->record.length = (uint32_t)length;
    ranges_remove(&s->lost, r.begin, r.end);
    if (r.begin < s->next)
        w->stats.bytes_retransmitted += length;
    else
        w->stats.bytes_sent += length;
    if (r.end > s->next)
        s->next = r.end;
    assert(s->next <= s->limit);
}

/* The bytes of a probe: what would be sent anyway, or the oldest that are in flight. */
static bool probe_range(const struct sender *s, struct range *r)
{
    if (stream_wanted(s, r))
        return true;
    *r = (struct range){s->base, s->acked.count != 0 ? s->acked.at[0].begin : s->next};
    return r->begin < r->end;
}

/* An acknowledgement is asked for four times per window, so that the delay timer of the peer does
 * not hold up a sender who waits for room. */
static bool ask_due(struct window *w, size_t size)
{
    uint64_t most = cc_window(&w->cc);
    if (most > w->config.send_buffer_bytes)
        most = w->config.send_buffer_bytes;
    w->send.unasked_bytes += size;
    if (w->send.unasked_bytes < most / 4)
        return false;
    w->send.unasked_bytes = 0;
    return true;
}

static void record_sent(struct window *w, const struct sent *record)
{
    sent_push(&w->send.sent, record);
    if (record->flags & SENT_MTU_PROBE) {
        mtu_probe_sent(&w->mtu, record->size);
        return;
    }
    w->send.flight_bytes += record->size;
    w->send.sent_us = record->sent_us;
    pacer_spend(&w->pacer, record->size);
}

static void build_probe(struct window *w, struct packet *p)
{
    struct range r;
    assert(w->loss.probes_due > 0);
    wire_put_ping(&p->c);
    if (probe_range(&w->send, &r))
        put_stream(w, p, r);
    w->loss.probes_due--;
    w->stats.probes_sent++;
}

/* Full packets are all of one size, with PING or without: links can hand many over at once then. */
static void build_stream(struct window *w, struct packet *p)
{
    struct range r;
    if (!stream_wanted(&w->send, &r))
        return;
    if (ask_due(w, estimate(w, &r)))
        wire_put_ping(&p->c);
    put_stream(w, p, r);
}

static void build_packet(struct window *w, enum choice choice, struct packet *p)
{
    if (choice == SEND_MTU_PROBE) {
        p->record.flags = SENT_MTU_PROBE;
        wire_put_ping(&p->c);
        wire_put_pad(&p->c);
        return;
    }
    if (w->ack.pending != 0)
        p->record.ack_end = acker_put(w, &p->c, p->record.sent_us);
    if (w->receive.limit_due && choice != SEND_ACK) {
        p->record.flags = SENT_LIMIT;
        receiver_put_limit(w, &p->c);
    }
    if (choice == SEND_PROBE)
        build_probe(w, p);
    else if (choice == SEND_STREAM)
        build_stream(w, p);
    else if (choice == SEND_ACK_PING)
        wire_put_ping(&p->c);
}

/* How large the packet may be: a repeated probe is small, should large ones get lost. */
static size_t room_for(struct window *w, enum choice choice, uint64_t now_us)
{
    if (choice == SEND_MTU_PROBE)
        return mtu_probe_wanted(&w->mtu, now_us);
    return choice == SEND_PROBE && w->loss.probes > 1 ? w->mtu.floor : w->mtu.size;
}

/* Builds the packet whose other fields are set, and returns its size. */
static size_t build_next(struct window *w, struct packet *p, uint8_t *payload, size_t capacity)
{
    uint64_t now_us = p->record.sent_us;
    if (capacity < WINDOW_PACKET_BYTES_MIN || p->record.number < w->send.number_end)
        return 0;
    enum choice choice = choose_packet(w, capacity, now_us);
    if (choice == SEND_NOTHING)
        return 0;
    size_t room = room_for(w, choice, now_us);
    if (room == 0)
        return 0; /* what was lost to make room for its record says that no path probe is wanted */
    p->c = cursor_writer(payload, room < capacity ? room : capacity);
    build_packet(w, choice, p);
    assert(cursor_ok(&p->c));
    p->record.size = (uint32_t)(p->c.at - payload);
    if (p->apart != NULL)
        p->record.size += (uint32_t)p->apart->size;
    w->send.number_end = p->record.number + 1;
    w->stats.packets_sent++;
    if (choice != SEND_ACK)
        record_sent(w, &p->record);
    return p->record.size;
}

size_t window_next(struct window *w, uint64_t number, uint8_t *payload, size_t capacity,
                   uint64_t now_us)
{
    struct packet p = {.record = {.number = number, .sent_us = now_us}};
    return build_next(w, &p, payload, capacity);
}

size_t window_next_apart(struct window *w, uint64_t number, struct window_apart *apart,
                         uint64_t now_us)
{
    struct packet p = {.record = {.number = number, .sent_us = now_us}, .apart = apart};
    apart->size = apart->count = 0;
    return build_next(w, &p, apart->payload, apart->capacity);
}
