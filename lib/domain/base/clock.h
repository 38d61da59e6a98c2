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

/* The least that some runs of the same work take: what disturbs one of them may outlast it, but not
 * all that are done within a while. Begin with {0}. */
struct domain_least {
    double s, spent_s;
    int runs;
};

#define DOMAIN_LEAST_SPENT_S 8e-3 /* two ticks of many a kernel */
#define DOMAIN_LEAST_MORE 8       /* times so many runs at most */

/* Whether there is another run to do: so many are done in any case, and of short ones more. */
static inline int domain_least_lacks(const struct domain_least *least, int runs)
{
    return least->runs < runs ||
           (least->spent_s < DOMAIN_LEAST_SPENT_S && least->runs < DOMAIN_LEAST_MORE * runs);
}

/* What a run took; one of less than the clock's unit counts as that. */
static inline void domain_least_add(struct domain_least *least, double seconds)
{
    seconds = seconds > 1e-9 ? seconds : 1e-9;
    least->s = least->runs == 0 || seconds < least->s ? seconds : least->s;
    least->spent_s += seconds + 1e-6;
    least->runs++;
}

#endif
