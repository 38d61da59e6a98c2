/*
 * schedule_pack.h - phases for links of unequal rates, by search (beyond the paper).
 */
#ifndef COVEY_PROTO_SCHEDULE_PACK_H
#define COVEY_PROTO_SCHEDULE_PACK_H

#include "proto/schedule/schedule.h"

/* How many messages the node's link carries each way in a phase of so many slots. */
uint32_t schedule_pack_capacity(const struct network *network, int node, uint32_t slots);

/* The load of the link that takes longest, in phases of so many slots. */
uint32_t schedule_pack_bound(const struct network *network, uint32_t slots);

/* The same in slots, exactly: load / rate of that link over the rate of the slowest one. */
double schedule_pack_time(const struct network *network);

/* Searches phases for all messages that take more than range[0] and at most range[1] slots in all,
 * of which the last one may be shorter than the others, also by a part of a slot. The phases are as
 * short as possible: long ones put more messages on a link at a time, and are for rates of which
 * short ones would waste more. Fills messages (in no order), message_count, phases, slots and
 * bound. Returns 1 when there are such, 0 when none were found, -1 when memory is exhausted. */
int schedule_pack_fill(struct schedule *schedule, const struct network *network,
                       const double range[2], uint64_t seed);

#endif
