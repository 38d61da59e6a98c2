/*
 * window_cc.h - congestion control: CUBIC (RFC 9438) with slow start, one reduction a round trip,
 * none while few packets are lost, undo of a reduction that turns out to be unfounded, persistent
 * congestion; and the pacer.
 *
 * A packet is known here by its position: the how-many-th packet of the window it is.
 */
#ifndef COVEY_PROTO_WINDOW_CC_H
#define COVEY_PROTO_WINDOW_CC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cc_state {
    double window, threshold;        /* bytes: congestion window, slow start threshold */
    double maximum, prior, estimate; /* RFC 9438: W_max, cwnd_prior, W_est; bytes */
};

/* What an acknowledgement told. */
struct cc_ack {
    uint64_t position; /* of the last packet that it newly acknowledged */
    size_t bytes;      /* newly acknowledged */
    uint64_t rtt_us;   /* smoothed */
    uint64_t now_us;
};

struct cc {
    size_t packet_bytes;
    struct cc_state now, saved; /* saved: before the last reduction */
    bool limited;               /* more was to be sent than the window allowed */
    bool epoch;                 /* a congestion avoidance stage is under way */
    uint64_t epoch_us, acked_us;
    double k_s;              /* RFC 9438: K */
    uint64_t recovery;       /* losses of packets before it belong to the last reduction */
    uint32_t episode;        /* counts reductions; 0: none yet */
    uint32_t lost, spurious; /* packets of this episode */
    double loss_share;       /* of the last some hundred packets */
};

void cc_init(struct cc *c, size_t packet_bytes);
void cc_set_packet_bytes(struct cc *c, size_t packet_bytes);
uint64_t cc_window(const struct cc *c);
bool cc_slow_start(const struct cc *c);

void cc_on_ack(struct cc *c, const struct cc_ack *ack);

/* A share of lost packets that is taken for the path's own and not for congestion: up to it the
 * window is not reduced (as in BBR, draft-ietf-ccwg-bbr, BBR.LossThresh). A full queue loses more
 * at once. */
#define CC_LOSS_TOLERATED 0.02

/* A packet was declared lost; `next` is the position that the next packet will have. Returns the
 * episode that the loss belongs to; 0: it reduced nothing. */
uint32_t cc_on_loss(struct cc *c, uint64_t position, uint64_t next);

/* A packet declared lost in that episode arrived after all. */
void cc_on_spurious(struct cc *c, uint32_t episode);

/* RFC 9002 section 7.6: nothing got through for long. */
void cc_on_persistent_congestion(struct cc *c);

/* Nothing was sent for CC_IDLE_US: the window says nothing about the path any more (RFC 5681
 * section 4.1). After a shorter pause the pacer is enough. */
#define CC_IDLE_US 1000000
void cc_on_idle(struct cc *c);

/* The pacer: a bucket of bytes that fills with the rate window / RTT and a bit more. A burst of
 * PACER_BURST_BYTES or 2 ms may leave at once, and after a wait at least half a millisecond's
 * worth is sent together, so that no timer is needed for each packet. */
#define PACER_BURST_BYTES (96.0 * 1024)
#define PACER_BURST_US 2000
#define PACER_QUANTUM_US 500

struct pacer {
    double tokens, rate; /* bytes, bytes per us; rate 0: not paced yet */
    double burst;
    uint64_t filled_us, resume_us;
    bool waiting;
};

void pacer_init(struct pacer *p);
void pacer_set_rate(struct pacer *p, const struct cc *c, uint64_t rtt_us);
/* May `size` bytes leave now? If not, resume_us says when to ask again. */
bool pacer_allows(struct pacer *p, size_t size, uint64_t now_us);
void pacer_spend(struct pacer *p, size_t size);

#endif
