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

/* Searches for where the curve of the time flattens. One number of hosts that suits badly (a prime,
 * of which no grid is made) is not its end: the best of what comes later counts. */
struct model_best model_best(const int *hosts, const double *total_s, int n, double tolerance)
{
    struct model_best best = {.break_even = find_break_even(total_s, n)};
    while (best.efficient < best.break_even) {
        int steepest = best.efficient;
        double most = tolerance;
        for (int j = best.efficient + 1; j <= best.break_even; j++) {
            /* From i hosts on to j: the share of the time that is saved over the share by which
             * hosts grow. */
            int i = best.efficient;
            double saved = 1 - total_s[j] / total_s[i];
            double more = 1 - (double)hosts[i] / hosts[j];
            double here = saved / more;
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
