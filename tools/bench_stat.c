#include "tools/bench_stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
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
    qsort(sorted, n, sizeof *sorted, compare);
    struct bench_spread spread = {.min = sorted[0],
                                  .quartile1 = quantile(sorted, n, 0.25),
                                  .median = quantile(sorted, n, 0.5),
                                  .quartile3 = quantile(sorted, n, 0.75),
                                  .max = sorted[n - 1]};
    free(sorted);
    return spread;
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

static void judge(const double *bytes, const double *us, size_t n, struct bench_fit *fit)
{
    double mean = 0, weights = 0, left = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        mean += 1 / us[i]; /* the weight 1 / us^2 times us */
        weights += 1 / (us[i] * us[i]);
    }
    mean /= weights;
    fit->worst = 0;
    for (size_t i = 0; i < n; i++) {
        double off = (us[i] - fit->alpha_us - fit->beta_us * bytes[i]) / us[i];
        left += off * off;
        all += (us[i] - mean) * (us[i] - mean) / (us[i] * us[i]);
        fit->worst = fabs(off) > fit->worst ? fabs(off) : fit->worst;
    }
    fit->r2 = all > 0 ? 1 - left / all : 1;
}

/* The normal equations of the points divided by their times: 1 = alpha / us + beta * bytes / us. */
int bench_fit_line(const double *bytes, const double *us, size_t n, struct bench_fit *fit)
{
    double pp = 0, pq = 0, qq = 0, p1 = 0, q1 = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(us[i] > 0))
            return -1;
        double p = 1 / us[i], q = bytes[i] / us[i];
        pp += p * p;
        pq += p * q;
        qq += q * q;
        p1 += p;
        q1 += q;
    }
    double determinant = pp * qq - pq * pq;
    if (!(determinant > 1e-12 * pp * qq))
        return -1;
    fit->alpha_us = (p1 * qq - q1 * pq) / determinant;
    fit->beta_us = (q1 * pp - p1 * pq) / determinant;
    judge(bytes, us, n, fit);
    return 0;
}
