/*
 * peer.h - another task: its sends in order, credit both ways, its links and inlets.
 */
#ifndef COVEY_LIB_ENGINE_PEER_H
#define COVEY_LIB_ENGINE_PEER_H

#include "lib/engine/arrival.h"
#include "lib/engine/loss.h"
#include "proto/contention/contention.h"
#include "proto/wire/control.h"
#include <stdbool.h>
#include <stdint.h>

struct conn;
struct covey;
struct covey_req;
struct route_state;

/* A hand-over of a schedule that goes to a peer; see paced.c. */
struct sync {
    struct sync *next;
    struct control_sync what;
    uint32_t source; /* of one that came */
};

/* What goes to it. */
struct peer_out {
    uint64_t sequence, sent_bytes, credit_bytes;
    uint64_t home_put; /* bytes ever put to the daemon when a large frame began to wait; 0: none */
    uint64_t traffic_bytes;
    struct covey_req *sends, *sends_last;
    struct sync *syncs, *syncs_last; /* go out before anything else */
    uint64_t syncs_sent;
    struct peer *sending_next, *sending_prev; /* in the list of peers with sends */
    bool sending;
    struct conn *carrier;  /* the link that carries the send under way, NULL: the daemon */
    uint8_t carrier_flags; /* of its frames to the daemon: FRAME_ETHER or 0 */
    struct loss untold;    /* of messages to it */
};

/* What comes of it. */
struct peer_in {
    struct arrival *open, *open_last; /* begun and not complete, in order */
    bool cut; /* a message was lost: nothing that was sent after it is given out */
    uint64_t sequence, received_bytes, granted_bytes;
    uint64_t credit_window; /* what it may have outstanding beyond received_bytes */
    bool grant_due;         /* granted_bytes is to be told to the peer */
    bool starved;           /* credit is held back until the task receives */
    struct inlet inlet;     /* of the daemon's stream */
    struct cast_inlet *cast_inlets;
    struct inlet ether_inlet; /* of what came there over raw Ethernet: another order */
    bool by_ether;            /* its last data came so, and credit goes back so */
    uint64_t syncs_heard;
    struct loss doubted; /* of messages from it */
};

/* Large messages; see bulk.c. */
struct peer_bulk {
    struct claim claim;    /* to send it much */
    uint64_t way_known_us; /* no claim is needed until then */
    uint64_t stagger_rate; /* of the domain on the way to it, or 0 */
    uint64_t turn_before;  /* it takes bulk messages with smaller numbers; see turn.c */
    uint64_t turn_granted; /* and this task takes those of it */
};

struct peer {
    struct peer *next; /* in the bucket */
    uint32_t tid;
    bool gone, leaving; /* leaving: GONE came, what it sent is still being read */
    struct control_gone exit;
    uint64_t broken_at_us; /* a link of it broke; GONE should follow */
    char broken_why[96];
    int forced_route;           /* -1: as the task's */
    struct route_state *routes; /* ROUTES of them, once a direct link is wanted */
    bool way;                   /* one frame reaches its host and others, */
    uint64_t way_until_us;      /* which holds until then */
    struct peer_out out;
    struct peer_in in;
    struct peer_bulk bulk;
};

struct peer *peer_find(struct covey *vm, uint32_t tid);
struct peer *peer_get(struct covey *vm, uint32_t tid); /* makes it; NULL: no memory */
void peer_on_gone(struct covey *vm, const struct control_gone *gone);
void peer_on_gone_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void peer_on_host_event(struct covey *vm, const struct control_host_event *event);
void peer_home_lost(struct covey *vm, int error, const char *why);
void peer_check(struct covey *vm, uint64_t now_us);
void peer_free_all(struct covey *vm);
/* A link failed in the middle of a frame; the peer's end should follow. */
void peer_link_broke(struct covey *vm, struct peer *peer, const char *why);
int peer_error(const struct peer *peer); /* why: ENOTASK or EHOSTFAIL of a gone one, EROUTE */

#endif
