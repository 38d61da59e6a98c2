/*
 * exchange_choice.c - which algorithm: by density and mean size, as in the region map of Wang &
 * Ranka (Figure 5), from measurements by `covey bench exchange`.
 */
#include "lib/exchange.h"

/* In the lab of 32 hosts at 50 Mbit/s, what order gains is more than what signals cost from these
 * on; below, and where no link is between the tasks, everything at once is as fast. Longest first
 * is as good as the colouring for equal sizes, and no phase waits for one that is late. */
#define DENSITY_MIN 4
#define BYTES_MIN 32768 /* on average */

int exchange_choose(const struct exchange_order *order, bool links)
{
    const struct exchange *x = &order->x;
    double sum = 0;

    for (size_t i = 0; i < x->count; i++)
        sum += (double)x->messages[i].bytes;
    bool large = x->count > 0 && sum / (double)x->count >= BYTES_MIN;
    bool order_pays = large && (links || order->density >= DENSITY_MIN);
    return order_pays && !order->one_host ? COVEY_EXCHANGE_LONGEST : COVEY_EXCHANGE_AC;
}
