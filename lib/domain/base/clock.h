/*
 * clock.h - the time, for what is measured.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_CLOCK_H
#define COVEY_LIB_DOMAIN_BASE_CLOCK_H

#include <time.h>

/* Seconds of a clock that nobody sets. */
static inline double domain_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of a processor that this thread has used: what others run beside it is not in them. */
static inline double domain_processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
