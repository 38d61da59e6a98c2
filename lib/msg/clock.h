/*
 * clock.h - the monotonic clock, in microseconds where nothing else is said.
 */
#ifndef COVEY_LIB_CLOCK_H
#define COVEY_LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_us(void)
{
    return clock_ns() / 1000u;
}

/* The same as it was at the last tick of the kernel, some milliseconds ago at most: costs less than
 * a quarter of it. */
static inline uint64_t clock_coarse_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* The moment `timeout_us` from now; UINT64_MAX for COVEY_FOREVER. */
static inline uint64_t clock_deadline(int64_t timeout_us)
{
    return timeout_us < 0 ? UINT64_MAX : clock_us() + (uint64_t)timeout_us;
}

#endif
