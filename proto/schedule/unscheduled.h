/*
 * unscheduled.h - an all-to-all without a schedule: whom a rank sends to next, and how many of its
 * messages are under way at once. For the runtime, and for the model of it.
 */
#ifndef COVEY_PROTO_UNSCHEDULED_H
#define COVEY_PROTO_UNSCHEDULED_H

#include <stddef.h>

#define UNSCHEDULED_WINDOW 8 /* messages under way each way, at most */

/* `pairwise`: blocks of so many bytes that each rank has under way: as many small ones as the
 * queues of a network hold; 1: round by round. */
int unscheduled_at_once(size_t bytes);

/* `pairwise`: a block of at least so many bytes waits until its receiver has begun the round: it
 * takes so long that a message there and back is little beside it. */
#define UNSCHEDULED_ASKED 32768

/* `linear`: messages of a member under way each way, and the sizes of blocks that wait until their
 * receiver asks for them; asked_from > asked_to: none. Blocks that come from all at once fill the
 * queue before the receiver's host, and the last packets of some are lost: nothing comes behind
 * them that would tell, and they are missed after a fifth of a second. Behind those of long blocks
 * something does come, and all at once keeps the links busy.
 *
 * The sizes are the same at all members, of which there are `size` on `hosts`. The window is the
 * caller's own, whose blocks have mean_bytes in the mean: a block waits for earlier ones alone. */
struct unscheduled_linear {
    int window;
    size_t asked_from, asked_to;
};
struct unscheduled_linear unscheduled_linear(int size, int hosts, size_t mean_bytes);

/* `pairwise`, several at once: how many ranks on the i-th (1 .. size - 1) is that a rank sends to:
 * near ones and far ones in turn, so that links between switches are busy from the beginning to the
 * end. From half of the way on it sends to those that it received from in the first half, in their
 * order: what goes back takes along the acknowledgement, before the kernel sends it by itself. */
int unscheduled_distance(int i, int size);

#endif
