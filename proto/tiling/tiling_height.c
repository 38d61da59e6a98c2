/*
 * tiling_height.c - the height of a tile with the least time.
 *
 * Low tiles cost messages and high ones make tasks wait for each other, so the time falls and then
 * rises with the height, but for steps where the number of tiles changes. A first look takes
 * heights each about an eighth below the one before; of those that give one number of tiles the
 * lowest, with which all tiles but the last are as low as can be. Second looks take those about the
 * best.
 */
#include "proto/tiling/tiling.h"

#include <math.h>

#define STEP 8          /* the first look goes on by an eighth */
#define NEAR_MAX 24     /* heights of a second look, to either side */
#define LESS (1 - 1e-9) /* what is less by rounding alone is none */

struct look {
    int64_t extent;
    tiling_height_fn *time_s;
    void *context;
    int64_t best;
    double least_s;
};

/* The least height that gives as many tiles as this one. */
static int64_t lowest(int64_t extent, int64_t z)
{
    int64_t tiles = (extent + z - 1) / z;
    return (extent + tiles - 1) / tiles;
}

static void look_at(struct look *l, int64_t z)
{
    double s = l->time_s(l->context, z, l->least_s);
    if (s < l->least_s * LESS) {
        l->least_s = s;
        l->best = z;
    }
}

int64_t tiling_height_best(int64_t extent, tiling_height_fn *time_s, void *context)
{
    struct look l = {extent, time_s, context, extent, time_s(context, extent, INFINITY)};
    for (int64_t z = extent; z > 1;) {
        z = lowest(extent, z - (z + STEP - 1) / STEP);
        look_at(&l, z);
    }
    int64_t around = l.best / (STEP - 1) + 1, step = around;
    while (step > 1) { /* nearer and nearer, to each height */
        step = around / NEAR_MAX + 1;
        int64_t first = l.best - around, end = l.best + around;
        for (int64_t z = end < extent ? end : extent; z >= first && z >= 1; z -= step)
            look_at(&l, z);
        around = step;
    }
    return l.best;
}
