/*
 * trace_round.h - how often the rings of a trace are asked for what is in them. Each time wakes
 * somebody up on a host whose tasks may need the processor for themselves, so it is seldom; but
 * what finds a ring full is lost, so it is soon enough.
 */
#ifndef COVEY_PROTO_TRACE_ROUND_H
#define COVEY_PROTO_TRACE_ROUND_H

#include <stdint.h>

#define TRACE_ROUND_US ((uint64_t)100000) /* the first one */
#define TRACE_ROUND_MIN_US ((uint64_t)5000)
#define TRACE_ROUND_MAX_US ((uint64_t)400000) /* so much is lost, at most, of a host that dies */
#define TRACE_ROUND_PERCENT 20                /* as full is a ring to be; bursts have the rest */

/* Microseconds from one round to the next: after so many the fullest ring was so many percent full.
 * At most twice as many, at least a quarter. */
static inline uint64_t trace_round_us(uint64_t passed_us, unsigned percent)
{
    uint64_t last_us = passed_us < TRACE_ROUND_MAX_US ? passed_us : TRACE_ROUND_MAX_US;
    uint64_t next_us = last_us * TRACE_ROUND_PERCENT / (percent > 0 ? percent : 1);
    next_us = next_us < 2 * last_us ? next_us : 2 * last_us;
    next_us = next_us > last_us / 4 ? next_us : last_us / 4;
    next_us = next_us < TRACE_ROUND_MAX_US ? next_us : TRACE_ROUND_MAX_US;
    return next_us > TRACE_ROUND_MIN_US ? next_us : TRACE_ROUND_MIN_US;
}

#endif
