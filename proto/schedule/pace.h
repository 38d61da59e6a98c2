/*
 * pace.h - one rank's part in carrying out a schedule: what it sends when, and whom it tells what.
 *
 * A rank has w lanes: as many messages as it may have under way at a time, 1 where all rates are
 * equal. The messages of a rank, in the order of the schedule, take the lanes in turn; a message
 * starts when the one before it in its lane has left, and when the receivers of the messages that
 * contend with it and come before it have handed over to it. It is the receiver that hands over
 * (Faraj & Yuan, section 5, let the sender do it; but that a send returned proves nothing today).
 *
 * A loose order, as exchanges of unequal sizes have it, keeps the number of lanes alone: of the
 * messages to which all have handed over the first one starts, so that a receiver that is late
 * holds back none but those for it.
 *
 * A hand-over is for the sender of the message that waits, and names that message by its receiver.
 */
#ifndef COVEY_PROTO_PACE_H
#define COVEY_PROTO_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/schedule/schedule.h"

struct pace_send {
    uint16_t to;
    uint16_t waits; /* hand-overs before it may start */
};

/* The message to rank `about` of rank `to` may start, as far as this is concerned. */
struct pace_tell {
    uint16_t to, about;
};

/* What is to be carried out: a schedule, or an order of messages of which not every pair has one.
 */
struct pace_order {
    int ranks;
    bool loose;
    /* A sender does not know when a message has left, only when it was handed to what takes it
     * along: the receiver of a message then hands over to the next one in its lane, too. All ranks
     * are blind or none is. */
    bool blind;
    const uint32_t *lanes; /* by rank */
    size_t message_count, sync_count;
    const struct schedule_message
        *messages; /* those of a rank in their order; phases are not used */
    const struct schedule_sync *syncs;
};

#define PACE_NONE UINT32_MAX

/* What a rank has to know of a schedule; does not change while it is carried out. */
struct pace_plan {
    int ranks, rank;
    uint32_t lanes;
    bool loose;
    uint32_t send_count, receive_count;
    struct pace_send *sends; /* in their order */
    uint16_t *receives;      /* from whom, in the order of the messages */
    uint32_t *send_of;       /* by receiver: the position in sends, or PACE_NONE */
    uint16_t *hears;         /* by rank: hand-overs that it sends this one */
    uint32_t *tell_first;    /* by sender, and one more: the hand-overs when its message is here */
    struct pace_tell *tells;
};

/* Takes the rank's part out of a schedule, of which nothing is kept: as many lanes as it has
 * messages in a phase. Returns 0, or -1 when memory is exhausted. */
int pace_plan_create(struct pace_plan *plan, const struct schedule *schedule, int rank, bool blind);

/* The same of any order. */
int pace_plan_of(struct pace_plan *plan, const struct pace_order *order, int rank);

/* Frees what the plan holds and empties it. */
void pace_plan_destroy(struct pace_plan *plan);

/* The carrying out of a plan, once. */
struct pace {
    const struct pace_plan *plan;
    uint16_t *waits; /* by position in sends */
    uint32_t *next;  /* by lane: the position of its next message */
    uint8_t *busy;   /* by lane: a message of it is under way */
    uint8_t *begun;  /* loose: by position; lanes are alike there */
    uint32_t first;  /* loose: all before that position have begun */
    uint32_t busy_lanes;
    uint32_t left;     /* messages that have not left */
    uint32_t expected; /* messages that have not come */
};

/* The plan must stay. Returns 0, or -1 when memory is exhausted. */
int pace_create(struct pace *pace, const struct pace_plan *plan);
void pace_destroy(struct pace *pace);

/* The receiver of a message that starts now, or -1: none may start yet. */
int pace_start(struct pace *pace);

/* The message to that rank has left. */
void pace_on_left(struct pace *pace, int to);

/* A hand-over to the message for that rank came. False: none was expected. */
bool pace_on_told(struct pace *pace, int about);

/* The message from that rank is here, or as good as: sets *tells to the hand-overs that are due now
 * and returns their number. Those with `to` the rank itself go to pace_on_told(). */
uint32_t pace_on_arrived(struct pace *pace, int from, const struct pace_tell **tells);

/* Whether everything has left and everything has come. */
static inline bool pace_is_done(const struct pace *pace)
{
    return pace->left == 0 && pace->expected == 0;
}

#endif
