/*
 * traffic.h - to whom the tasks of a host have sent: a daemon answers TRAFFIC with such rows.
 *
 *   request = number=u32 behind=u32 most=u16 ; so many tasks with higher tids, or fewer
 *   answer  = left *row                      ; left=u32: so many with higher tids were left out
 *   row     = tid=u32 count=u8 *peer         ; at most TRAFFIC_PEERS
 *   peer    = tid=u32 sent=u64 bytes=u64     ; messages, and the bytes in them, since the beginning
 *
 * Numbers are big-endian.
 */
#ifndef COVEY_PROTO_TRAFFIC_H
#define COVEY_PROTO_TRAFFIC_H

#include "proto/wire/cursor.h"

#define TRAFFIC_PEERS 64
#define TRAFFIC_BYTES_MAX (4 + 1 + TRAFFIC_PEERS * 20)

struct traffic_peer {
    uint32_t tid;
    uint64_t sent, bytes;
};

struct traffic {
    uint32_t tid;
    int count;
    struct traffic_peer peers[TRAFFIC_PEERS];
};

void traffic_put(struct cursor *c, const struct traffic *t);
/* Refuses what ends early, and more peers than there can be. */
void traffic_get(struct cursor *c, struct traffic *t);

#endif
