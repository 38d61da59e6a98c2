/*
 * stamp.h - the order in which the tasks of one host send: a clock after Lamport ("Time, clocks,
 * and the ordering of events in a distributed system", 1978) that also follows the host's own, as
 * Kulkarni's hybrid clocks do (2014). Who sends gives the message the next stamp; who gets one goes
 * on from it. So what was sent because of a message has a later stamp than that, and what was sent
 * later for other reasons nearly always.
 *
 * A stamp has STAMP_BITS bits and is never 0. It begins again after 35 years without a reboot:
 * two are compared by the shorter way round.
 */
#ifndef COVEY_PROTO_STAMP_H
#define COVEY_PROTO_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#define STAMP_BITS 56
#define STAMP_MASK (((uint64_t)1 << STAMP_BITS) - 1)
#define STAMPS_US_SHIFT 6 /* so many bits for those of one microsecond */

static inline bool stamp_is_before(uint64_t a, uint64_t b)
{
    return a != b && ((b - a) & STAMP_MASK) >> (STAMP_BITS - 1) == 0;
}

static inline uint64_t stamp_later(uint64_t a, uint64_t b)
{
    return stamp_is_before(a, b) ? b : a;
}

/* The one after `last`, at that time. */
static inline uint64_t stamp_next(uint64_t last, uint64_t now_us)
{
    uint64_t next = stamp_later((last + 1) & STAMP_MASK, now_us << STAMPS_US_SHIFT & STAMP_MASK);
    return next == 0 ? 1 : next;
}

#endif
