/*
 * unscheduled.h - an all-to-all without a schedule: whom a rank sends to next, and how many of its
 * messages are under way at once. For the runtime, and for the model of it.
 */
#ifndef COVEY_PROTO_UNSCHEDULED_H
#define COVEY_PROTO_UNSCHEDULED_H

#include <stdbool.h>
#include <stddef.h>

#define UNSCHEDULED_WINDOW 8 /* messages under way each way, at most */

/* `pairwise`: blocks of so many bytes that each rank has under way: as many small ones as the
 * queues of a network hold; 1: round by round. */
int unscheduled_at_once(size_t bytes);

/* `pairwise`: whether a block of so many bytes waits until its receiver has begun the round: where
 * it takes so long that a message there and back is little beside it. */
bool unscheduled_asks(size_t bytes);

/* `pairwise`, several at once: how many ranks on the i-th (1 .. size - 1) is that a rank sends to:
 * near ones and far ones in turn, so that links between switches are busy from the beginning to the
 * end. From half of the way on it sends to those that it received from in the first half, in their
 * order: what goes back takes along the acknowledgement, before the kernel sends it by itself. */
int unscheduled_distance(int i, int size);

#endif
