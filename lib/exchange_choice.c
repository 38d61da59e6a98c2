/*
 * exchange_choice.c - which algorithm: by density and mean size, as in the region map of Wang &
 * Ranka (Figure 5), from measurements by `covey bench exchange`.
 */
#include "lib/exchange.h"

/* Sizes that differ so much from their mean do not fit into phases. */
#define UNEQUAL 1.25

struct region {
    uint32_t density_max; /* up to this density */
    double bytes_min;     /* and from this mean size on */
    int algorithm;
};

/* For equal sizes; the first one that fits, else AC. */
static const struct region regions[] = {
    {4, 16384, COVEY_EXCHANGE_COLOUR},
    {UINT32_MAX, 4096, COVEY_EXCHANGE_COLOUR},
};

int exchange_choose(const struct exchange *x, bool links)
{
    uint32_t density = exchange_density(x);
    double sum = 0, most = 0;

    for (size_t i = 0; i < x->count; i++) {
        double bytes = (double)x->messages[i].bytes;
        sum += bytes;
        most = bytes > most ? bytes : most;
    }
    double mean = x->count > 0 ? sum / (double)x->count : 0;
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        if (density > 1 && density <= regions[i].density_max && mean >= regions[i].bytes_min)
            return links || most > UNEQUAL * mean ? COVEY_EXCHANGE_LONGEST : regions[i].algorithm;
    }
    return COVEY_EXCHANGE_AC;
}
