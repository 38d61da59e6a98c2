/* What stands for a task's computation: a fixed number of turns of arithmetic, each of which needs
 * the one before and no memory. Programs that are measured beside Covey do the same. */
#ifndef COVEY_TOOLS_BENCH_WORK_H
#define COVEY_TOOLS_BENCH_WORK_H

#include <math.h>
#include <stdint.h>
#include <time.h>

#define WORK_SPEED_NS 60000000 /* more than a period in which a processor is shared out */
#define WORK_TURNS_MAX ((int64_t)1 << 50)

static inline double work_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* The result is of no interest, but has to be used. */
static inline double work_do(int64_t turns)
{
    double x = 2;
    for (int64_t i = 0; i < turns; i++)
        x = sqrt(x) + 1;
    return x;
}

/* Turns a microsecond. */
static inline double work_speed(double *result)
{
    for (int64_t turns = 1 << 16; turns < WORK_TURNS_MAX; turns *= 2) {
        double start_us = work_now_us();
        *result += work_do(turns);
        double us = work_now_us() - start_us;
        if (us * 1e3 >= WORK_SPEED_NS)
            return (double)turns / us;
    }
    return 1;
}

#endif
