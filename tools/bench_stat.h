/* Statistics of samples: order statistics, and the line alpha + beta * bytes. */
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

/* Time of a message in microseconds as alpha_us + beta_us * bytes. */
struct bench_fit {
    double alpha_us;
    double beta_us; /* a byte */
    double r2;      /* share of the variance that the line explains, of the weighted points */
    double worst;   /* the largest deviation of a point, as a share of its time */
};

/* The least squares of the deviations relative to the times, so that small messages, which alone
 * show alpha, count as much as large ones. Needs two different sizes; returns 0, or -1. */
int bench_fit_line(const double *bytes, const double *us, size_t n, struct bench_fit *fit);

#endif
