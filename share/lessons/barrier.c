/* barrier.c - nobody leaves a barrier before all have come to it */
#include "lesson.h"

#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(void)
{
    double last_came, first_left;

    begin();
    usleep(100000 * (useconds_t)rank); /* they come one after another */
    double came = now();
    check(covey_barrier(team));
    double left = now();

    check(covey_reduce(team, 0, COVEY_OP_MAX, COVEY_DOUBLE, &came, &last_came, 1));
    check(covey_reduce(team, 0, COVEY_OP_MIN, COVEY_DOUBLE, &left, &first_left, 1));
    if (rank == 0) /* clocks of several hosts differ: these are virtual hosts of one machine */
        printf("all had come before the first one left: %s\n",
               last_came <= first_left ? "yes" : "no");
    return end();
}
