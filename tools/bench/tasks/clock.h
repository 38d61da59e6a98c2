/* The clock that all samples are taken with. */
#ifndef COVEY_TOOLS_BENCH_CLOCK_H
#define COVEY_TOOLS_BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
