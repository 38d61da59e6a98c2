/*
 * model_best.c - how many hosts: sections 2.4 and 4.1 of Schmidt & Sunderam.
 */
#include "proto/model/model.h"

#define GAIN_MIN 0.001 /* less than a thousandth of the time is no gain */

/* Beyond it no time is gained: the first of those as short as the shortest. */
static int find_break_even(const double *total_s, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++) {
        if (total_s[i] < total_s[best] * (1 - GAIN_MIN))
            best = i;
    }
    return best;
}

double model_slope(int fewer, double fewer_s, int more, double more_s)
{
    double saved = fewer_s > 0 ? 1 - more_s / fewer_s : 0;
    return saved / (1 - (double)fewer / more);
}

/* Searches for where the curve of the time flattens. One number of hosts that suits badly (a prime,
 * of which no grid is made) is not its end: the best of what comes later counts. */
struct model_best model_best(const int *hosts, const double *total_s, int n, double tolerance)
{
    struct model_best best = {.break_even = find_break_even(total_s, n)};
    while (best.efficient < best.break_even) {
        int steepest = best.efficient;
        double most = tolerance;
        for (int j = best.efficient + 1; j <= best.break_even; j++) {
            int i = best.efficient;
            double here = model_slope(hosts[i], total_s[i], hosts[j], total_s[j]);
            if (here < most)
                continue;
            steepest = j;
            most = here;
        }
        if (steepest == best.efficient)
            break;
        best.efficient = steepest;
    }
    return best;
}
