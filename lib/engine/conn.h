/*
 * conn.h - a link in use: frames being written and read.
 */
#ifndef COVEY_LIB_ENGINE_CONN_H
#define COVEY_LIB_ENGINE_CONN_H

#include "lib/engine/arrival.h"
#include "lib/link/faster.h"
#include "lib/link/link.h"
#include "lib/member/watch.h"
#include "lib/msg/message.h"
#include "proto/wire/frame.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct covey;
struct covey_req;
struct peek;
struct peer;
struct route_ops;

/* Writing: the frame under way. */
struct conn_out {
    uint8_t head[FRAME_HEADER_BYTES + OFFER_BYTES_MAX];
    size_t head_size, head_sent;
    size_t body_left;
    struct covey_req *req;
    uint64_t run_first, run_next; /* the last messages, in a row; alike: none */
    bool handed_over;             /* it carried hand-overs */
    uint64_t row_polls; /* short messages in a row: the last of them at that count of polls, */
    unsigned row;       /* so many, */
    bool held;          /* and the stream holds it for more, see conn_push_held() */
    bool mute; /* what is written to it goes nowhere any more, but there may be more to read */
    struct covey_req *leaving; /* of a schedule: sent, and not all of it is on its way */
};

/* Reading: the frame under way. */
struct conn_in {
    uint8_t head[BRIEF_STAMPED_BYTES]; /* most have FRAME_HEADER_BYTES */
    size_t head_used;
    bool taken; /* the head is here and was looked at */
    struct frame frame;
    uint8_t preface[OFFER_BYTES_MAX];
    size_t preface_size, preface_used;
    size_t body_left;
    struct held *held; /* the frame is kept or is no data: read whole first */
    size_t held_used;
    bool routed; /* it is known where the frame goes */
    bool paused; /* the task goes on before what else has come is read: see paused_count of links */
};

/* The send that is offered; see offer.c. */
struct conn_offer {
    struct covey_req *req; /* NULL: none */
    uint64_t since_us, due_us;
    uint64_t copied, moved_us; /* seen so far; when that changed */
    unsigned doubt, skip; /* so many messages go by the ring after one was taken back; are left */
    bool refused;         /* the other end could not read */
};

/* How long the message takes that comes; see faster.c. */
struct conn_timed {
    uint64_t since_ns; /* 0: it is not measured */
    uint64_t bytes;
    bool once;
    uint32_t advice; /* a bit of each class: not once */
    struct faster faster;
};

/* With a task of this host: its messages begin in order, see order.c. */
struct conn_order {
    bool parked;          /* the message in the preface has not had its turn: */
    uint64_t stamp;       /* of it */
    uint64_t home_needed; /* of the daemon's stream, before it may begin */
    uint64_t there_bytes; /* of the ring, when it was parked */
    uint64_t clear_bytes; /* messages up to there in the ring need no other look, */
    uint64_t clear_stamp; /* if their stamps are earlier than this one; 0: whatever these are */
    uint64_t patience_us; /* it waits until then for what may not come; 0: it does not */
    unsigned announced;   /* sends that the other end knows of and that are not out */
};

/* A link in use: frames being written and read. */
struct conn {
    struct watch watch; /* first: watch and conn have one address */
    struct conn *next;
    struct covey *vm;
    struct link *link;
    struct peer *peer; /* NULL: accepted, not yet known */
    int route;
    const struct route_ops *ops;
    bool ready, closed, ordered;
    uint64_t deadline_us; /* of the handshake */
    struct inlet inlet;
    uint64_t rest_until_us; /* it is not read until then: see rest.c; 0: it is */
    struct conn *rest_next;
    struct conn_order order;
    struct peek *peek; /* of a link between tasks that may read each other's memory, or NULL */
    struct conn_offer offer;
    struct conn_timed timed;
    struct conn_out out;
    struct conn_in in;
};

struct conn *conn_create(struct covey *vm, struct link *link, struct peer *peer, int route);
void conn_settle(struct conn *conn);    /* looks whether frames may flow now */
void conn_ready_now(struct conn *conn); /* frames may flow */
void conn_read(struct covey *vm, struct conn *conn);
/* Whether the request, sent by this, is on its way; if not, its owner hears when it is. */
bool conn_left(struct conn *conn, struct covey_req *req);
/* Nobody asks any more. */
void conn_left_no_more(struct covey *vm, const struct covey_req *req);
/* Whether what is put now has to wait behind much else, or would never go. */
bool conn_lags(const struct conn *conn);
bool conn_flush(struct conn *conn); /* true: a new frame may be started */
/* Puts a frame without data; payload has at most OFFER_BYTES_MAX. */
void conn_put_control(struct conn *conn, uint8_t kind, const uint8_t *payload, size_t size);
void conn_put_data(struct conn *conn, struct covey_req *req, size_t size);
/* Unless the link is full, no more follows what was put for now: it need not wait to fill a packet.
 */
void conn_push(struct conn *conn);
/* Short messages to one task of another host, sent in a row without a wait, share packets: each is
 * the kernel's at once, and leaves with the next ones, with the next acknowledgement, or when the
 * task waits or some time has passed: then this is called. */
void conn_push_held(struct covey *vm);
/* What it was sending fails: the bytes are their owner's again. */
void conn_abandon(struct conn *conn);
void conn_close(struct covey *vm, struct conn *conn, bool broken);
/* Closes it, and what waits for its turn is for nobody. */
void conn_drop(struct covey *vm, struct conn *conn);
void conn_drop_all(struct covey *vm);
void conn_bury(struct covey *vm); /* frees those closed that hold nothing */
/* Reads the stream that the receive posted first waits for, though nobody told that there is
 * something to be read. False: there is no such stream. */
bool conn_read_awaited(struct covey *vm);
bool conn_read_paused(struct covey *vm); /* goes on with those; false: there are none */
bool conn_poll_all(struct covey *vm);    /* some links have no descriptor: look at each */
/* Does what is due on links that have timers; returns when it must be called again. */
uint64_t conn_step_all(struct covey *vm);
/* Whether so much has not left yet of what a link of ours holds. */
bool conn_waiting(const struct covey *vm, size_t least);
/* Before a thread sleeps: asks for the doorbell; true: there is something to read now. */
bool conn_arm_all(struct covey *vm);
void conn_awake(struct covey *vm); /* no thread sleeps any more: nobody needs to ring */

/* Reads the streams whose rest is over. */
void conn_wake_rested(struct covey *vm);

#endif
