/*
 * window.c - the reliable window, put together from its parts:
 *
 *   window_send.c     the stream that goes out; which packet comes next
 *   window_receive.c  the stream that comes in; what the peer may send (flow control)
 *   window_ack.c      packets that came; when to acknowledge them
 *   window_loss.c     what acknowledgements and timers mean for packets sent
 *   window_cc.c       CUBIC and the pacer          window_rtt.c   round trip times
 *   window_mtu.c      path MTU discovery           window_wire.c  the layout of a payload
 *   window_sent.c     records of packets sent      window_ring.c  bytes of a stream
 *   window_ranges.c   sets of numbers              window_loans.c bytes that are lent
 *
 * The last eight know nothing of the window. `struct window` owns everything; nothing is shared
 * between windows.
 *
 * Invariants
 *  - A byte written is in the send ring, or lent, until the peer acknowledged it: it is
 * acknowledged (in `acked`), waits to be sent again (in `lost`), waits to be sent (from `next` on),
 * or at least one record in flight carries it.
 *  - A byte received lies in the receive ring below the limit granted; `next` never goes back, so
 *    it comes out once.
 *  - While a record is in flight a timer runs; a window without one, without unsent bytes and
 *    without an acknowledgement to send has no deadline.
 *  - A payload is checked whole before anything changes.
 *
 * Not here: sockets, clocks, keys, packet numbers (the session gives them), and the decision that a
 * peer is dead: a window asks again once a second for ever.
 */
#include "proto/window/window_internal.h"
#include "proto/wire/deadline.h"

#include <stdlib.h>

static bool config_fits(const struct window_config *c)
{
    return c->packet_bytes_min >= WINDOW_PACKET_BYTES_MIN &&
           c->packet_bytes_min <= WINDOW_PACKET_BYTES_MAX &&
           c->packet_bytes_max <= WINDOW_PACKET_BYTES_MAX && c->send_buffer_bytes != 0;
}

struct window *window_create(const struct window_config *config)
{
    struct window *w = config_fits(config) ? calloc(1, sizeof *w) : NULL;
    if (w == NULL)
        return NULL;
    w->config = *config;
    if (w->config.receive_buffer_bytes < WINDOW_LIMIT_INITIAL)
        w->config.receive_buffer_bytes = WINDOW_LIMIT_INITIAL;
    mtu_init(&w->mtu, config->packet_bytes_min, config->packet_bytes_max);
    cc_init(&w->cc, w->mtu.size);
    rtt_init(&w->rtt);
    pacer_init(&w->pacer);
    sender_init(w);
    loss_init(w);
    receiver_init(w);
    if (!acker_reserve(&w->ack) || !ranges_reserve(&w->send.lost, 1)) {
        window_destroy(w);
        return NULL;
    }
    return w;
}

void window_destroy(struct window *w)
{
    if (w == NULL)
        return;
    ranges_free(&w->ack.seen);
    ranges_free(&w->receive.early);
    window_ring_free(&w->receive.ring);
    sent_free(&w->send.sent);
    ranges_free(&w->send.lost);
    ranges_free(&w->send.acked);
    window_ring_free(&w->send.ring);
    loans_free(&w->send.loans);
    free(w);
}

const char *window_on_packet(struct window *w, uint64_t number, const uint8_t *payload, size_t size,
                             uint64_t now_us)
{
    struct wire_packet p;
    if (number >= WIRE_OFFSET_MAX)
        return "packet number too large";
    if (acker_seen(&w->ack, number))
        return NULL;
    const char *refusal = wire_decode(&p, payload, size);
    if (refusal == NULL && p.ack)
        refusal = loss_check_ack(w, &p);
    if (refusal == NULL && p.stream)
        refusal = receiver_reserve(w, &p);
    if (refusal != NULL)
        return refusal;
    w->stats.packets_received++;
    acker_on_packet(w, number, size, &p, now_us);
    if (p.stream)
        receiver_on_stream(w, &p);
    if (p.limit)
        sender_on_limit(&w->send, p.limit_offset);
    if (p.ack)
        loss_on_ack(w, &p, now_us);
    return NULL;
}

void window_set_crowd(struct window *w, uint64_t crowd_us)
{
    w->loss.crowd_us = crowd_us;
}

uint64_t window_deadline(const struct window *w)
{
    uint64_t due_us = earlier(loss_deadline(w), sender_deadline(w));
    return w->ack.pending != 0 ? earlier(due_us, w->ack.deadline_us) : due_us;
}

void window_on_timer(struct window *w, uint64_t now_us)
{
    loss_on_timer(w, now_us);
}

void window_stats(const struct window *w, struct window_stats *stats)
{
    *stats = w->stats;
    stats->rtt_us = w->rtt.smoothed_us;
    stats->rtt_min_us = w->rtt.min_us;
    stats->rtt_variance_us = w->rtt.variance_us;
    stats->congestion_window_bytes = cc_window(&w->cc);
    stats->packet_bytes = w->mtu.size;
}
