/* Order statistics of samples. The line alpha + beta * bytes is covey_line_fit_ends(). */
#ifndef COVEY_TOOLS_BENCH_STAT_H
#define COVEY_TOOLS_BENCH_STAT_H

#include <stddef.h>

#include "tools/bench/bench_plan.h"

struct bench_spread {
    double min, quartile1, median, quartile3, max;
};

/* The spread of n >= 1 samples; between two of them it is interpolated. All 0 when memory is
 * exhausted. */
struct bench_spread bench_spread_of(const double *samples, size_t n);

/* The same of a series, and its median. */
struct bench_spread bench_series_spread(const struct bench_series *series);
double bench_series_median(const struct bench_series *series);

/* The median of a[i] / b[i] over n >= 1 pairs: what drifts for both cancels. 0 when memory is
 * exhausted. */
double bench_median_ratio(const double *a, const double *b, size_t n);

#endif
