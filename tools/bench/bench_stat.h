/* Order statistics of samples. The line alpha + beta * bytes is covey_line_fit_ends(). */
#ifndef COVEY_TOOLS_BENCH_STAT_H
#define COVEY_TOOLS_BENCH_STAT_H

#include <stddef.h>

struct bench_spread {
    double min, quartile1, median, quartile3, max;
};

/* The spread of n >= 1 samples; between two of them it is interpolated. All 0 when memory is
 * exhausted. */
struct bench_spread bench_spread_of(const double *samples, size_t n);

/* The median of a[i] / b[i] over n >= 1 pairs: what drifts for both cancels. 0 when memory is
 * exhausted. */
double bench_median_ratio(const double *a, const double *b, size_t n);

#endif
