/*
 * paced.h - an exchange of messages, carried out by a schedule: pace.h with messages. All calls
 * with the lock of the task held.
 */
#ifndef COVEY_LIB_PACED_H
#define COVEY_LIB_PACED_H

#include "lib/collective/collective.h"
#include "proto/schedule/pace.h"

/* What is to be done. Everything stays the caller's and as it is until the exchange is over. */
struct paced_job {
    const struct pace_plan *plan;
    const struct vector *send, *recv; /* the own block is none of its business */
    uint64_t early_bytes; /* a message is as good as here when no more of it are under way, or, of a
                           * long one, when somewhat more are */
    uint64_t rate;        /* bytes a second that this rank sends at most to each; 0: unknown */
};

/* Posts all receives and starts what may start. `whole` is a request of the team's context, with
 * the tag of its messages, which is finished when all is over or has failed; `number` counts the
 * exchanges of the team. 0, or an error that is set: nothing was begun. */
int paced_begin(struct covey_team *team, const struct paced_job *job, uint32_t number,
                struct covey_req *whole);

/* Takes back what can be taken back; `whole` is finished, now or when what cannot be is over. */
void paced_give_up(struct covey_req *whole);

/* Hand-overs of that context, of all for 0, are for nobody any more. */
void paced_forget(struct covey *vm, uint32_t context);

/* ---- early.c: hand-overs for exchanges that have not begun here ---- */

/* Keeps one; where that cannot be, its team ends, now or with its first exchange. */
void early_keep(struct covey *vm, const struct control_sync *what, uint32_t source);
/* Takes out those of one exchange, which are the caller's, and drops those of earlier ones. */
struct sync *early_take(struct covey *vm, uint32_t context, uint32_t number);
/* Whether one for a team of that context could not be kept: an error that is set, or 0. */
int early_error(const struct covey *vm, uint32_t context);

/* What the library calls: */

void paced_settle(struct covey *vm); /* from the poll loop: does what is due */
void paced_on_sync(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void paced_peer_gone(struct covey *vm, const struct peer *peer);
/* A hand-over of that task, which lives, went with a link: its teams are broken. */
void paced_sync_lost(struct covey *vm, const struct peer *peer);

#endif
