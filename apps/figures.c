/*
 * figures.c - where a task's time went, by two clocks: that of the wall and that of the processor,
 * which does not count what other programs took. Figures of a task travel in a message, and the
 * coordinator makes their mean.
 */
#include "apps/figures.h"

#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double figures_clock(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double figures_processor(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

struct figures figures_mean(const struct figures *each, int n)
{
    struct figures mean = {0};
    int told = 0;
    for (int i = 0; i < n; i++)
        told += each[i].elapsed_s > 0;
    for (int i = 0; i < n && told > 0; i++) {
        mean.elapsed_s += each[i].elapsed_s / told;
        mean.computation_s += each[i].computation_s / told;
        mean.communication_s += each[i].communication_s / told;
        mean.idle_s += each[i].idle_s / told;
        mean.processor_s += each[i].processor_s / told;
    }
    return mean;
}

int figures_pack(covey_msg_t *msg, const struct figures *figures)
{
    const double values[] = {figures->elapsed_s, figures->computation_s, figures->communication_s,
                             figures->idle_s, figures->processor_s};
    return covey_pack_double(msg, values, 5, 1);
}

int figures_unpack(covey_msg_t *msg, struct figures *figures)
{
    double values[5];
    int error = covey_unpack_double(msg, values, 5, 1);
    if (error < 0)
        return error;
    *figures = (struct figures){values[0], values[1], values[2], values[3], values[4]};
    return 0;
}
