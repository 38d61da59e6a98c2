/*
 * pace_bytes.h - a message of a schedule, byte by byte: when it hands over, and how seldom it is
 * read. For the runtime (paced.c), and for the model of it.
 */
#ifndef COVEY_PROTO_PACE_BYTES_H
#define COVEY_PROTO_PACE_BYTES_H

#include <stdint.h>

#define PACE_REST_BYTES_MAX 10240 /* come while a stream is not read: see rest.c */

/* How many of its last bytes may be under way when a message hands over: those that the switches of
 * a path hold, each a frame, and those that pass while the hand-over is under way. rate: bytes a
 * second. */
uint64_t pace_early_bytes(uint64_t rate);

/* When so many bytes of a message are here, it hands over. Of a long one more may be under way
 * then: what waits in front of the bottleneck is little of it, and the bottleneck never idle. */
uint64_t pace_mark_bytes(uint64_t early, uint64_t bytes);

/* So many bytes may come before the next look at a stream: few of a message's first ones, since its
 * sender begins with a window of some ten segments and stands still until it hears of them, and no
 * more than are missing until it hands over, or is whole. */
uint64_t pace_rest_bytes(uint64_t mark, uint64_t received, uint64_t size);

#endif
