/*
 * seconds.h - the solvers' clock, and the median of several times.
 */
#ifndef TESTS_BENCH_SECONDS_H
#define TESTS_BENCH_SECONDS_H

#include <stdlib.h>

#include "lib/domain/base/clock.h"

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them; of an even number the upper one of the middle. */
static inline double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, compare_doubles);
    return x[n / 2];
}

#endif
