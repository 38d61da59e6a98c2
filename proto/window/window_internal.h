/*
 * window_internal.h - the window as its own files see it; window.c tells who does what.
 */
#ifndef COVEY_PROTO_WINDOW_INTERNAL_H
#define COVEY_PROTO_WINDOW_INTERNAL_H

#include "proto/window/window.h"
#include "proto/window/window_cc.h"
#include "proto/window/window_loans.h"
#include "proto/window/window_mtu.h"
#include "proto/window/window_ring.h"
#include "proto/window/window_rtt.h"
#include "proto/window/window_sent.h"
#include "proto/window/window_wire.h"

#define WINDOW_ACK_DELAY_US 2000           /* an acknowledgement is held back so long at most */
#define WINDOW_LIMIT_INITIAL (128u * 1024) /* granted before the first LIMIT */
#define WINDOW_NEVER UINT64_MAX

_Static_assert(WINDOW_VIEW_BYTES == RING_VIEW_BYTES, "window.h promises what the ring keeps");

/* The stream that goes out, and the packets that carry it. */
struct sender {
    struct window_ring ring;
    struct loans loans;       /* what is not in the ring */
    uint64_t base, next, end; /* acknowledged below, never sent from, written up to */
    uint64_t limit;           /* granted by the peer */
    struct ranges acked;      /* stream bytes from base on */
    struct ranges lost;       /* stream bytes to be sent again */
    struct sent_ring sent;
    uint64_t scan;          /* position: nothing below is in flight */
    uint64_t largest_acked; /* behind the last record acknowledged (position) */
    uint64_t number_end;    /* behind the last packet number used */
    uint64_t flight_bytes;  /* in flight, path MTU probes not counted */
    uint64_t unasked_bytes; /* sent since the last PING */
    uint64_t sent_us;       /* when the last packet that counts as in flight was sent */
    bool hold;              /* what does not fill a packet waits */
    uint64_t starved_us;    /* memory was exhausted: nothing that needs it until then */
};

/* What is known of losses. */
struct loss {
    uint64_t deadline_us; /* the time threshold of the next packet; UINT64_MAX: none */
    uint64_t threshold;   /* packets, adapts */
    unsigned patience;    /* eighths of an RTT above one, adapts */
    uint64_t crowd_us;    /* added to the probe timeout */
    unsigned probes;      /* probe timeouts in a row */
    unsigned probes_due;  /* packets to be sent whatever the congestion window says */
    bool run;             /* losses without an acknowledgement in between ... */
    uint64_t run_us;      /* ... since this sending time */
};

/* The stream that comes in. */
struct receiver {
    struct window_ring ring;
    uint64_t consumed, next; /* read by the owner; in order up to here */
    uint64_t highest;        /* behind the last byte received */
    uint64_t granted;
    bool limit_due;      /* a LIMIT must be sent */
    struct ranges early; /* received beyond `next` */
};

/* Packets that came in, and what we still have to say about them. */
struct acker {
    struct ranges seen;  /* packet numbers */
    uint64_t floor;      /* numbers below it are taken as seen */
    uint64_t largest_us; /* when the largest came */
    uint32_t pending;    /* packets that must be acknowledged */
    uint64_t pending_bytes;
    uint32_t unpruned;    /* packets with stream bytes since the peer told what it knows of this */
    uint64_t deadline_us; /* when pending; 0: at once */
};

struct window {
    struct window_config config;
    struct window_stats stats;
    struct rtt rtt;
    struct cc cc;
    struct pacer pacer;
    struct mtu mtu;
    struct sender send;
    struct loss loss;
    struct receiver receive;
    struct acker ack;
};

/* window_ack.c */
bool acker_seen(const struct acker *a, uint64_t number);
bool acker_reserve(struct acker *a);
void acker_on_packet(struct window *w, uint64_t number, size_t size, const struct wire_packet *p,
                     uint64_t now_us);
bool acker_due(const struct acker *a, uint64_t now_us);
/* Puts an ACK if there is room, and returns the number behind the largest in it; 0: put nothing. */
uint64_t acker_put(struct window *w, struct cursor *c, uint64_t now_us);
/* Acknowledgements have become long: the peer should tell what it knows of them. */
bool acker_long(const struct acker *a);
/* The peer knows that we have seen the numbers below `end`. */
void acker_prune(struct acker *a, uint64_t end);

/* window_receive.c */
void receiver_init(struct window *w);
/* Checks a stream piece and makes room for it; NULL or the reason of refusal. */
const char *receiver_reserve(struct window *w, const struct wire_packet *p);
void receiver_on_stream(struct window *w, const struct wire_packet *p);
void receiver_put_limit(struct window *w, struct cursor *c);

/* window_send.c */
void sender_init(struct window *w);
void sender_on_limit(struct sender *s, uint64_t limit);
/* Bytes of the stream were acknowledged, or must be sent again. */
void sender_acked(struct sender *s, uint64_t offset, size_t length);
void sender_lost(struct sender *s, uint64_t offset, size_t length);
/* When a packet that needs a record may be sent, WINDOW_NEVER: there is nothing, or only an
 * acknowledgement or timer can help. */
uint64_t sender_deadline(const struct window *w);

/* window_loss.c */
void loss_init(struct window *w);
const char *loss_check_ack(const struct window *w, const struct wire_packet *p);
void loss_on_ack(struct window *w, const struct wire_packet *p, uint64_t now_us);
void loss_on_timer(struct window *w, uint64_t now_us);
/* Makes room for one more record of a packet; false when memory is exhausted. */
bool loss_reserve(struct window *w, uint64_t now_us);
uint64_t loss_deadline(const struct window *w);

#endif
