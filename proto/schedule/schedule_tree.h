/*
 * schedule_tree.h - the phases of Faraj & Yuan: optimal where all links have one rate.
 */
#ifndef COVEY_PROTO_SCHEDULE_TREE_H
#define COVEY_PROTO_SCHEDULE_TREE_H

#include "proto/schedule/schedule.h"

/* The load of the bottleneck link: the number of phases. */
uint64_t schedule_tree_load(const struct network *network);

/* The root (section 4.1): a switch at a bottleneck link with at least three subtrees that hold
 * ranks, none of them with more than half. At least three ranks are needed. */
int schedule_tree_root(const struct network *network);

/* Fills schedule->messages and message_count, in no order. Returns 0, or -1 when memory is
 * exhausted. */
int schedule_tree_fill(struct schedule *schedule, const struct network *network);

#endif
