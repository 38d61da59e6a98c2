/*
 * bag_held.h - what the files of a bag's holder share:
 *   bag_holder.c   attachments and what they ask for, what ends, and a round
 *   bag_backup.c   the log of changes, and the hosts that have copies
 *   bag_answer.c   what is given and told to attachments
 */
#ifndef COVEY_PROTO_BAG_HELD_H
#define COVEY_PROTO_BAG_HELD_H

#include "proto/bag/bag_holder.h"
#include "proto/wire/error.h"

#define BAG_FIRST_POSITION 1                 /* of the log: a backup that has nothing has less */
#define BAG_MEMBERS_SURE 1024                /* so many may attach however full it is */
#define BAG_PARCEL_KEPT ((size_t)256 * 1024) /* a larger one is not kept for the next time */

struct bag_backup {
    uint32_t host;
    bool agreed, proposed;
    bool full;             /* it said so last */
    bool begun;            /* a copy was sent, */
    uint64_t begin, acked; /* at that position; and it has all up to this one */
};

struct bag_holder {
    uint64_t id;
    uint32_t term;
    struct bag *bag;
    struct bag_holder_owner owner;
    struct bag_backup backups[BAG_BACKUPS_MAX];
    size_t backup_count;
    uint64_t position; /* records in the log so far */
    uint64_t sent;     /* to the backups */
    struct bag_parcel log, out;
    bool complete, drained; /* and from where on in the log */
    uint64_t complete_at, drained_at;
    uint64_t propose_at_us;
    size_t room_for_puts, room_for_results;
    bool waits;         /* some member lacks room */
    bool joined;        /* somebody was attached once */
    bool over;          /* somebody said so */
    uint64_t frozen_at; /* in the log */
};

/* ---- bag_backup.c ---- */

/* Applies a record and writes it down. */
enum bag_verdict bag_backup_change(struct bag_holder *h, const struct bag_record *r);
void bag_backup_add(struct bag_holder *h, uint32_t host, bool agreed);
bool bag_backup_full(const struct bag_holder *h); /* some backup is */
void bag_backup_gone(struct bag_holder *h, uint32_t host);
/* What was written since goes to the backups. */
void bag_backup_send(struct bag_holder *h);
/* Up to here nothing can be lost. */
uint64_t bag_backup_safe(const struct bag_holder *h);
/* Those that have all are proposed; returns when to call again, UINT64_MAX: when something comes.
 */
uint64_t bag_backup_propose(struct bag_holder *h, uint64_t now_us);

/* ---- bag_answer.c ---- */

/* Items in turns, each time a part of what is left: nobody gets all because it came first. */
void bag_answer_give(struct bag_holder *h, uint64_t now_us);
void bag_answer_results(struct bag_holder *h, struct bag_member *m);
/* To a task that is no attachment, or must begin anew. */
void bag_answer_refuse(const struct bag_holder *h, uint32_t task, uint32_t handle, int32_t error);
/* Another's result of the item came first: a bag_other_fn. */
void bag_answer_drop(void *context, struct bag_member *m, const struct bag_item *item);
/* All that the attachment may hear by now, the log being safe up to that position. */
void bag_answer_tell(struct bag_holder *h, struct bag_member *m, uint64_t position);

#endif
