/*
 * window_loss.c - what an acknowledgement means for the packets sent (RFC 9002 sections 5 to 7).
 *
 * Records of packets stand in the order of sending, and both thresholds of loss (packets, time)
 * are older for older packets: `scan` therefore moves forward only and each record is looked at
 * once. A lost record is kept for a while: an acknowledgement that comes after all shows that the
 * loss was spurious; then the thresholds grow and the reduction of the window is taken back.
 *
 * Packets counted in flight arm the probe timer. Path MTU probes are not counted: their loss is no
 * sign of congestion and needs no repair.
 */
#include "proto/window/window_internal.h"

#include <assert.h>

#define LOSS_PACKETS 3 /* kPacketThreshold */
#define LOSS_PACKETS_MAX 128
#define LOSS_PATIENCE 1 /* kTimeThreshold: 9/8 */
#define LOSS_PATIENCE_MAX 8
#define LOSS_PERSISTENT 3    /* kPersistentCongestionThreshold */
#define LOSS_MEMORY_US 10000 /* pause after memory was exhausted */

/* What one acknowledgement brought. */
struct tally {
    uint64_t bytes;    /* newly acknowledged that were in flight */
    uint64_t count;    /* records newly acknowledged */
    uint64_t position; /* the last of them */
};

void loss_init(struct window *w)
{
    w->loss = (struct loss){
        .deadline_us = WINDOW_NEVER, .threshold = LOSS_PACKETS, .patience = LOSS_PATIENCE};
}

static uint64_t probe_us(const struct window *w, unsigned probes)
{
    return rtt_probe_us(&w->rtt, WINDOW_ACK_DELAY_US, probes);
}

static void use_packet_bytes(struct window *w)
{
    cc_set_packet_bytes(&w->cc, w->mtu.size);
}

/* The loss of this record was spurious: wait longer from now on (RFC 9002 section 6.1.1). */
static void on_spurious(struct window *w, uint64_t position, const struct sent *s)
{
    struct loss *l = &w->loss;
    uint64_t apart = w->send.largest_acked - position;
    assert(position < w->send.scan && w->send.scan <= w->send.largest_acked);
    w->stats.packets_spurious++;
    if (s->flags & SENT_MTU_PROBE)
        return;
    cc_on_spurious(&w->cc, s->episode);
    if (apart > l->threshold)
        l->threshold = apart < LOSS_PACKETS_MAX ? apart : LOSS_PACKETS_MAX;
    if (l->patience < LOSS_PATIENCE_MAX)
        l->patience++;
}

static void ack_record(struct window *w, uint64_t position, struct tally *t, uint64_t now_us)
{
    struct sent *s = sent_at(&w->send.sent, position);
    if (s->state == SENT_LOST) {
        on_spurious(w, position, s);
    } else if (!(s->flags & SENT_MTU_PROBE)) {
        assert(s->state == SENT_IN_FLIGHT && w->send.flight_bytes >= s->size);
        w->send.flight_bytes -= s->size;
        t->bytes += s->size;
    }
    s->state = SENT_ACKED;
    s->acked_run = 1;
    t->position = t->count == 0 || position > t->position ? position : t->position;
    t->count++;
    if (s->flags & SENT_MTU_PROBE) {
        mtu_probe_acked(&w->mtu, s->size, now_us);
        use_packet_bytes(w);
    } else {
        mtu_acked(&w->mtu, s->size, now_us);
    }
    if (s->length != 0)
        sender_acked(&w->send, s->offset, s->length);
    if (s->ack_end != 0)
        acker_prune(&w->ack, s->ack_end);
}

/* Walks the records of a range from its upper end; records that earlier acknowledgements named are
 * jumped over, so that the work is proportional to what is new. */
static void ack_range(struct window *w, const struct range *range, struct tally *t, uint64_t now_us)
{
    struct sent_ring *ring = &w->send.sent;
    uint64_t top = sent_find(ring, range->end - 1);
    uint64_t p = top;
    while (p > ring->first && sent_at(ring, p - 1)->number >= range->begin) {
        const struct sent *s = sent_at(ring, p - 1);
        if (s->state == SENT_ACKED) {
            p -= s->acked_run < p - ring->first ? s->acked_run : p - ring->first;
        } else {
            ack_record(w, p - 1, t, now_us);
            p--;
        }
    }
    if (top > p)
        sent_at(ring, top - 1)->acked_run = (uint32_t)(top - p);
}

static void lose_record(struct window *w, uint64_t position, uint64_t now_us)
{
    struct sent *s = sent_at(&w->send.sent, position);
    assert(s->state == SENT_IN_FLIGHT);
    s->state = SENT_LOST;
    if (s->flags & SENT_MTU_PROBE) {
        mtu_probe_lost(&w->mtu, s->size, now_us);
        return;
    }
    w->stats.packets_lost++;
    assert(w->send.flight_bytes >= s->size);
    w->send.flight_bytes -= s->size;
    if (s->flags & SENT_LIMIT)
        w->receive.limit_due = true;
    if (s->length != 0)
        sender_lost(&w->send, s->offset, s->length);
    s->episode = cc_on_loss(&w->cc, position, w->send.sent.next);
    if (mtu_lost(&w->mtu, s->size, LOSS_PERSISTENT * probe_us(w, 0), now_us))
        use_packet_bytes(w);
}

/* RFC 9002 section 7.6: all packets over a long time were lost. */
static void persistent_check(struct window *w, const struct sent *s)
{
    struct loss *l = &w->loss;
    if (s->flags & SENT_MTU_PROBE || !w->rtt.sampled)
        return;
    if (!l->run) {
        l->run = true;
        l->run_us = s->sent_us;
    } else if (s->sent_us - l->run_us > LOSS_PERSISTENT * probe_us(w, 0)) {
        l->run = false;
        cc_on_persistent_congestion(&w->cc);
    }
}

/* RFC 9002 section 6.1: by packet and time threshold. */
static void detect(struct window *w, uint64_t now_us)
{
    struct sender *s = &w->send;
    struct loss *l = &w->loss;
    uint64_t rtt_us = w->rtt.smoothed_us > w->rtt.latest_us ? w->rtt.smoothed_us : w->rtt.latest_us;
    uint64_t delay_us = rtt_us + rtt_us * l->patience / 8;
    if (delay_us < RTT_GRANULARITY_US)
        delay_us = RTT_GRANULARITY_US;
    l->deadline_us = WINDOW_NEVER;
    for (; s->scan < s->largest_acked; s->scan++) {
        const struct sent *record = sent_at(&s->sent, s->scan);
        uint64_t due_us = record->sent_us + delay_us;
        if (record->state != SENT_IN_FLIGHT) {
            l->run = false;
            continue;
        }
        if (s->largest_acked - s->scan <= l->threshold && due_us > now_us) {
            l->deadline_us = due_us;
            return;
        }
        lose_record(w, s->scan, now_us);
        persistent_check(w, record);
    }
}

/* Forgets records from the old end: acknowledged ones, and lost ones that are surely lost. */
static void retire(struct window *w, uint64_t now_us)
{
    struct sender *s = &w->send;
    uint64_t keep_us = 2 * probe_us(w, 0);
    assert(s->sent.first <= s->scan && s->scan <= s->sent.next);
    while (s->sent.first < s->scan) {
        const struct sent *record = sent_at(&s->sent, s->sent.first);
        bool recent = now_us - record->sent_us < keep_us;
        bool room = s->sent.next - s->sent.first < SENT_RECORDS_MAX / 2;
        if (record->state == SENT_LOST && recent && room)
            return;
        s->sent.first++;
    }
}

/* There are too many records: the oldest one goes, and what it carries counts as lost. */
static void make_room(struct window *w, uint64_t now_us)
{
    struct sender *s = &w->send;
    retire(w, now_us);
    if (s->sent.next - s->sent.first < SENT_RECORDS_MAX)
        return;
    assert(s->sent.first == s->scan);
    if (sent_at(&s->sent, s->scan)->state == SENT_IN_FLIGHT)
        lose_record(w, s->scan, now_us);
    s->scan++;
    s->sent.first++;
}

bool loss_reserve(struct window *w, uint64_t now_us)
{
    struct sender *s = &w->send;
    if (s->sent.next - s->sent.first >= SENT_RECORDS_MAX)
        make_room(w, now_us);
    if (sent_reserve(&s->sent))
        return true;
    s->starved_us = now_us + LOSS_MEMORY_US;
    return false;
}

const char *loss_check_ack(const struct window *w, const struct wire_packet *p)
{
    if (p->ack_ranges[0].end > w->send.number_end)
        return "acknowledges a packet that was never sent";
    return NULL;
}

void loss_on_ack(struct window *w, const struct wire_packet *p, uint64_t now_us)
{
    struct sender *s = &w->send;
    struct tally t = {0};
    for (size_t i = 0; i < p->ack_count; i++)
        ack_range(w, &p->ack_ranges[i], &t, now_us);
    if (t.count == 0)
        return;
    const struct sent *last = sent_at(&s->sent, t.position);
    if (last->number == p->ack_ranges[0].end - 1)
        rtt_sample(&w->rtt, now_us - last->sent_us, p->ack_delay_us);
    w->loss.probes = 0;
    w->loss.probes_due = 0;
    assert(t.position < s->sent.next);
    if (t.position >= s->largest_acked)
        s->largest_acked = t.position + 1;
    detect(w, now_us);
    if (t.bytes != 0) {
        struct cc_ack ack = {.position = t.position,
                             .bytes = (size_t)t.bytes,
                             .rtt_us = w->rtt.smoothed_us,
                             .now_us = now_us};
        cc_on_ack(&w->cc, &ack);
    }
    pacer_set_rate(&w->pacer, &w->cc, w->rtt.smoothed_us);
    retire(w, now_us);
}

uint64_t loss_deadline(const struct window *w)
{
    if (w->loss.deadline_us != WINDOW_NEVER)
        return w->loss.deadline_us;
    /* RFC 9002 section 6.2: the probe timer runs while anything is in flight. */
    if (w->send.flight_bytes == 0 || w->loss.probes_due != 0)
        return WINDOW_NEVER;
    return w->send.sent_us + w->loss.crowd_us + probe_us(w, w->loss.probes);
}

void loss_on_timer(struct window *w, uint64_t now_us)
{
    if (w->loss.deadline_us <= now_us)
        detect(w, now_us);
    if (loss_deadline(w) > now_us)
        return;
    w->loss.probes_due = w->loss.probes == 0 ? 1 : 2;
    w->loss.probes++;
}

void window_path_changed(struct window *w)
{
    mtu_init(&w->mtu, w->mtu.floor, w->mtu.ceiling);
    if (w->loss.probes > 1)
        w->loss.probes = 1; /* the next probe is small, too */
}
