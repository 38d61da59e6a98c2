/*
 * bench_stat.c - medians, quartiles, and the median of the ratios of samples taken in turn: a
 * machine's speed drifts, and a ratio of two samples of one round does not see that.
 */
#include "tools/bench/bench_stat.h"

#include <stdlib.h>
#include <string.h>

static int compare_samples(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t low = (size_t)at;
    size_t high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

struct bench_spread bench_spread_of(const double *samples, size_t n)
{
    double *sorted = calloc(n, sizeof *sorted);
    if (!sorted)
        return (struct bench_spread){.min = 0};
    memcpy(sorted, samples, n * sizeof *sorted); /* pairs with other samples stay pairs */
    qsort(sorted, n, sizeof *sorted, compare_samples);
    struct bench_spread spread = {.min = sorted[0],
                                  .quartile1 = quantile(sorted, n, 0.25),
                                  .median = quantile(sorted, n, 0.5),
                                  .quartile3 = quantile(sorted, n, 0.75),
                                  .max = sorted[n - 1]};
    free(sorted);
    return spread;
}

struct bench_spread bench_series_spread(const struct bench_series *series)
{
    return bench_spread_of(series->us, (size_t)series->rounds);
}

double bench_series_median(const struct bench_series *series)
{
    return bench_series_spread(series).median;
}

double bench_median_ratio(const double *a, const double *b, size_t n)
{
    double *ratios = calloc(n, sizeof *ratios);
    if (!ratios)
        return 0;
    for (size_t i = 0; i < n; i++)
        ratios[i] = b[i] > 0 ? a[i] / b[i] : 0;
    double median = bench_spread_of(ratios, n).median;
    free(ratios);
    return median;
}
