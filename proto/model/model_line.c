/*
 * model_line.c - fits alpha + beta N to measured times, in the two ways of model_line.h, and says
 * how far the line is from the points.
 */
#include "proto/model/model_line.h"

#include <math.h>

/* How far the points are off the line, relative to their times. */
static void judge(const double *bytes, const double *seconds, size_t n, struct model_line *line)
{
    double mean = 0, weights = 0, left = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        mean += 1 / seconds[i]; /* the weight 1 / s^2 times s */
        weights += 1 / (seconds[i] * seconds[i]);
    }
    mean /= weights;
    line->worst = 0;
    for (size_t i = 0; i < n; i++) {
        double off = (seconds[i] - line->alpha_s - line->beta_s * bytes[i]) / seconds[i];
        left += off * off;
        all += (seconds[i] - mean) * (seconds[i] - mean) / (seconds[i] * seconds[i]);
        line->worst = fabs(off) > line->worst ? fabs(off) : line->worst;
    }
    line->r2 = all > 0 ? 1 - left / all : 1;
}

/* The normal equations of the points divided by their times: 1 = alpha / s + beta * bytes / s. */
int model_line_fit(const double *bytes, const double *seconds, size_t n, struct model_line *line)
{
    double pp = 0, pq = 0, qq = 0, p1 = 0, q1 = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(seconds[i] > 0))
            return -1;
        double p = 1 / seconds[i], q = bytes[i] / seconds[i];
        pp += p * p;
        pq += p * q;
        qq += q * q;
        p1 += p;
        q1 += q;
    }
    double determinant = pp * qq - pq * pq;
    if (!(determinant > 1e-12 * pp * qq))
        return -1;
    line->alpha_s = (p1 * qq - q1 * pq) / determinant;
    line->beta_s = (q1 * pp - p1 * pq) / determinant;
    judge(bytes, seconds, n, line);
    return 0;
}

/* The slope of the least squares with equal weights; -1: there is none. */
static double slope_of(const double *bytes, const double *seconds, size_t n)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        x += bytes[i] / (double)n;
        y += seconds[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (bytes[i] - x) * (bytes[i] - x);
        xy += (bytes[i] - x) * (seconds[i] - y);
    }
    return xx > 0 && xy >= 0 ? xy / xx : -1;
}

/* The line through the shortest and the longest message. */
static int fit_outermost(const double *bytes, const double *seconds, size_t n,
                         struct model_line *line)
{
    size_t shortest = 0, longest = 0;
    for (size_t i = 1; i < n; i++) {
        if (bytes[i] < bytes[shortest])
            shortest = i;
        if (bytes[i] > bytes[longest])
            longest = i;
    }
    double more_bytes = bytes[longest] - bytes[shortest];
    double more_s = seconds[longest] - seconds[shortest];
    if (!(more_bytes > 0) || more_s < 0)
        return -1;
    line->beta_s = more_s / more_bytes;
    line->alpha_s = seconds[shortest] - line->beta_s * bytes[shortest];
    judge(bytes, seconds, n, line);
    return 0;
}

int model_line_fit_ends(const double *bytes, const double *seconds, size_t n,
                        struct model_line *line)
{
    double beta_s = slope_of(bytes, seconds, n), sum_s = 0;
    int count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(seconds[i] > 0))
            return -1;
        if (2 * beta_s * bytes[i] > seconds[i])
            continue;
        sum_s += seconds[i] - beta_s * bytes[i];
        count++;
    }
    if (n < 2)
        return -1;
    if (beta_s < 0 || count == 0)
        return fit_outermost(bytes, seconds, n, line);
    line->alpha_s = sum_s / count;
    line->beta_s = beta_s;
    judge(bytes, seconds, n, line);
    return 0;
}

double model_line_time(const struct model_line *line, double bytes)
{
    double time = line->alpha_s + line->beta_s * bytes;
    return time > 0 ? time : 0;
}
