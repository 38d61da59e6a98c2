/*
 * schedule_sync.h - which messages of a schedule must wait for which others (Faraj & Yuan, section
 * 5).
 */
#ifndef COVEY_PROTO_SCHEDULE_SYNC_H
#define COVEY_PROTO_SCHEDULE_SYNC_H

#include "proto/schedule/schedule.h"

/* Fills syncs and sync_count of a schedule whose messages are sorted. Returns 0, or -1 when memory
 * is exhausted. */
int schedule_sync_fill(struct schedule *schedule, const struct network *network);

#endif
