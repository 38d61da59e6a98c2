/*
 * bag_wire.h - what goes between the tasks that use a bag, the daemon that holds it and its
 * backups.
 *
 *   request = bag=u64 handle=u32 term=u32 flags=u8 u8(0) weight=u16 hold=u32 want=u32 number=u64
 * taken=u64 received=u64 [left=u32] [count=u32 *(number=u64 term=u32)] *record ; BAG, task ->
 * holder answer  = bag=u64 handle=u32 term=u32 flags=u8 3u8(0) error=i32 acked=u64 first=u64
 * *record ; BAG_ANSWER, holder -> task log     = bag=u64 epoch=u32 flags=u8 3u8(0) position=u64
 * [params] *record ; BAG_LOG, holder -> backup log-ack = bag=u64 epoch=u32 flags=u8 3u8(0)
 * position=u64 ; BAG_LOG_ACK, backup -> holder look    = ready leased results put done given
 * set-aside leases retried duplicated expired members bytes closed               ; all u64; the
 * answer to BAG_LOOK: number bag=u64 params  = lease=u64 deaths=u32 flags=u8 name=text ; flags: in
 * order, keep; how many copies; single record  = kind=u8 flag=u8 u16(0) priority=i32 number=u64
 * term=u32 task=u32 handle=u32 size=u64 *u8
 *
 * A request, an answer or a log of any size travels in parts, frames of one kind in a row:
 *   part    = place=u8 3u8(0) *u8   ; see bag_parts.h
 *
 * request: `handle` tells the attachments of one task apart; `number` is that of the first record,
 *   records are numbered from 1 on; `hold` items may be leased to it, `want` results lie unread
 *   there; it has taken the first `taken` results that it was given, and received `received`.
 * `weight` is what the task has of a processor at present, in thousandths of an ordinary one; 0:
 * not known. With BAG_LEFT the time of its host ends in
 * `left` milliseconds. With BAG_HELLO the items follow that it holds. answer: `acked` records are
 * applied and cannot be lost; `first` is the number, among those given to this attachment, of the
 * first RESULT; with BAG_SAVED the records are what is left of the bag, from PARAMS on. log:
 * position counts records; with BAG_LOG_BEGIN a copy begins, and what follows makes it whole.
 * log-ack: with BAG_LOG_FULL the backup took that, and has no room for more that is put.
 */
#ifndef COVEY_PROTO_BAG_WIRE_H
#define COVEY_PROTO_BAG_WIRE_H

#include "proto/wire/cursor.h"

#define BAG_NAME_MAX 63
#define BAG_RECORD_BYTES 36
#define BAG_REQUEST_BYTES 52
#define BAG_REQUEST_BYTES_MAX (BAG_REQUEST_BYTES + 4)
#define BAG_ANSWER_BYTES 40
#define BAG_LOG_BYTES 24
#define BAG_BACKUPS_MAX 2
#define BAG_LOOK_BYTES (14 * 8)
#define BAG_PARAMS_BYTES_MAX (13 + 2 + BAG_NAME_MAX)
#define BAG_HELD_BYTES 12

enum bag_record_kind {
    BAG_PUT = 1,     /* request: priority, bytes. log: and number, term */
    BAG_DONE = 2,    /* number, term, bytes: the result; log: task: of whom */
    BAG_RETURN = 3,  /* request: number, term: the item was not begun */
    BAG_CLOSE = 4,   /* no more items come */
    BAG_BYE = 5,     /* request: the attachment ends */
    BAG_ITEM = 6,    /* answer: number, term, priority, flag: deaths so far, bytes */
    BAG_RESULT = 7,  /* answer: number, task: of whom, flag: BAG_SET_ASIDE or 0, bytes */
    BAG_DROP = 8,    /* answer: number, term: somebody else's result came first */
    BAG_DEATH = 9,   /* log: number, flag: so many workers died while they held it */
    BAG_ASIDE = 10,  /* log: number: it is set aside */
    BAG_GIVE = 11,   /* log: number: its result is given to task, handle */
    BAG_TAKEN = 12,  /* log: task, handle took so many (number) of what it was given */
    BAG_JOIN = 13,   /* log: task, handle is attached, and its first `number` records are applied */
    BAG_GONE = 14,   /* log: task, handle is attached no more */
    BAG_COUNT = 15,  /* log, in a copy: number: items were put so far; counters */
    BAG_END = 16,    /* request: the bag ends for all */
    BAG_FREEZE = 17, /* flag: enum bag_freeze. log: and task, handle; ends with that attachment */
    BAG_THAW = 18,   /* log: task, handle */
    BAG_PARAMS = 19  /* of what is left: how the bag was made */
};

/* Why a bag is frozen: to be saved, then the answer is what is left; or to be loaded, then the
 * requests are what was left: PUT, DEATH, DONE, ASIDE, COUNT and CLOSE as in a log. A bag that is
 * loaded ends when its attachment ends before THAW. */
enum bag_freeze { BAG_FREEZE_SAVE = 1, BAG_FREEZE_LOAD = 2 };

enum bag_request_flag { BAG_HELLO = 1, BAG_LEFT = 2 };
enum bag_answer_flag {
    BAG_WELCOME = 1,
    BAG_REFUSED = 2,
    BAG_COMPLETE = 4,
    BAG_DRAINED = 8,
    BAG_SAVED = 16
};
enum bag_log_flag { BAG_LOG_BEGIN = 1, BAG_LOG_REFUSED = 2, BAG_LOG_FULL = 4 };
#define BAG_SET_ASIDE 1

struct bag_record {
    uint8_t kind, flag;
    int32_t priority;
    uint64_t number;
    uint32_t term, task, handle;
    const uint8_t *bytes; /* a get: a view into the foreign bytes */
    size_t size;
};

struct bag_request {
    uint64_t bag;
    uint32_t handle, term;
    uint8_t flags;
    uint16_t weight;
    uint32_t hold, want;
    uint64_t number, taken, received;
    uint32_t left_ms; /* with BAG_LEFT */
};

struct bag_answer {
    uint64_t bag;
    uint32_t handle, term;
    uint8_t flags;
    int32_t error;
    uint64_t acked, first;
};

struct bag_log {
    uint64_t bag;
    uint32_t epoch;
    uint8_t flags;
    uint64_t position;
};

/* How a bag was made. */
struct bag_params {
    uint64_t lease_us;   /* 0: leases do not run out */
    uint32_t deaths_max; /* so many workers may die while they hold an item: then it is set aside */
    bool in_order;       /* results leave in the order of the items */
    bool keep;           /* it stays when nobody is attached */
    uint8_t copies;      /* hosts that are to have one beside the holder */
    bool single;         /* no second copy of an item is given */
    char name[BAG_NAME_MAX + 1];
};

void bag_record_put(struct cursor *c, const struct bag_record *record);
void bag_record_get(struct cursor *c, struct bag_record *record); /* refuses an unknown kind */
void bag_request_put(struct cursor *c, const struct bag_request *request);
void bag_request_get(struct cursor *c, struct bag_request *request);
void bag_answer_put(struct cursor *c, const struct bag_answer *answer);
void bag_answer_get(struct cursor *c, struct bag_answer *answer);
void bag_log_put(struct cursor *c, const struct bag_log *log);
void bag_log_get(struct cursor *c, struct bag_log *log);
void bag_params_put(struct cursor *c, const struct bag_params *params);
void bag_params_get(struct cursor *c, struct bag_params *params); /* refuses an empty name */

/* Bytes that grow: what is being written for one receiver. Zeroed before the first use. */
struct bag_parcel {
    uint8_t *bytes;
    size_t used, capacity;
    bool failed; /* memory was exhausted; what is there is not whole */
};

void bag_parcel_fini(struct bag_parcel *p);
/* A cursor over `size` more bytes, which count as used; a bad one when memory is exhausted. */
struct cursor bag_parcel_room(struct bag_parcel *p, size_t size);
void bag_parcel_add(struct bag_parcel *p, const struct bag_record *record);

#endif
