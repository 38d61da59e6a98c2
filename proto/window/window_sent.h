/*
 * window_sent.h - what was sent and in which packet: a ring of records in the order of sending. A
 * record's place in that order is its position; packet numbers grow with it, but may have gaps.
 */
#ifndef COVEY_PROTO_WINDOW_SENT_H
#define COVEY_PROTO_WINDOW_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SENT_RECORDS_MAX 65536u

enum sent_state { SENT_IN_FLIGHT, SENT_ACKED, SENT_LOST };
enum sent_flags { SENT_LIMIT = 1, SENT_MTU_PROBE = 2 };

struct sent {
    uint64_t number, sent_us;
    uint64_t offset;      /* of the stream bytes in it */
    uint64_t ack_end;     /* it acknowledged numbers below this; 0: nothing */
    uint32_t length;      /* stream bytes */
    uint32_t size;        /* of the payload */
    uint32_t acked_run;   /* acked: so many records from here downwards are, at least 1 */
    uint32_t episode;     /* lost: of congestion control */
    uint8_t state, flags; /* enum sent_state, sent_flags */
};

struct sent_ring {
    struct sent *at;
    size_t capacity;      /* a power of two, or 0 */
    uint64_t first, next; /* positions kept: first .. next-1 */
};

void sent_free(struct sent_ring *r);
static inline struct sent *sent_at(const struct sent_ring *r, uint64_t position)
{
    return &r->at[position & (r->capacity - 1)];
}

/* Makes room for one more record. False: memory is exhausted or SENT_RECORDS_MAX are kept. */
bool sent_reserve(struct sent_ring *r);
void sent_push(struct sent_ring *r, const struct sent *record);

/* The position behind the last record with a number of at most `number`; r->first when none is. */
uint64_t sent_find(const struct sent_ring *r, uint64_t number);

#endif
