/*
 * kernel.c - times a program's own arithmetic for `covey calibrate`. It counts the processor time
 * of many operations, and prints besides how much of a processor it got, so that the model can
 * tell a slow processor from a busy one.
 */
#include "apps/kernel.h"

#include "apps/figures.h"

#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define LAST_S 0.4 /* of one kernel: some periods of a host's limit */
#define RUNS_MIN 3
#define LONG_S 1.5 /* one that takes so long says enough, and has warmed up itself */

void kernel_begin(struct kernel *kernel)
{
    *kernel = (struct kernel){figures_clock(), figures_processor()};
}

void kernel_time(const char *name, int64_t size, double operations, void (*make)(void *context),
                 void (*fn)(void *context), void *context)
{
    double sum_s = 0, begin_s = figures_clock();
    int runs = -1; /* the first one warms up */
    while (runs < RUNS_MIN || figures_clock() - begin_s < LAST_S) {
        if (make != NULL)
            make(context);
        double before_s = figures_processor();
        fn(context);
        bool enough = figures_clock() - begin_s > LONG_S;
        sum_s += runs >= 0 || enough ? figures_processor() - before_s : 0;
        runs += runs < 0 && enough ? 2 : 1;
        if (enough)
            break;
    }
    printf("%s", name);
    if (size > 0)
        printf(" %lld", (long long)size);
    printf(" %.6g\n", sum_s / runs / operations);
}

int kernel_end(const struct kernel *kernel)
{
    double share =
        (figures_processor() - kernel->began_processor_s) / (figures_clock() - kernel->began_s);
    printf("share %.4f\n", share < 1 ? share : 1);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_SUCCESS;
    warn("cannot write the figures");
    return EXIT_FAILURE;
}
