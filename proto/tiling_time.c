/*
 * tiling_time.c - time hyperplanes and completion times (sections 3, 4 and 6.2 of Koziris,
 * Sotiropoulos & Goumas), and the height of a tile with the least of them.
 */
#include "proto/tiling.h"

int64_t tiling_steps_block(int dims, const int64_t *x)
{
    int64_t sum = 0;
    for (int i = 0; i < dims; i++)
        sum += x[i];
    return sum + 1;
}

int64_t tiling_steps_overlap(int dims, int along, const int64_t *x)
{
    return 2 * (tiling_steps_block(dims, x) - 1) - x[along] + 1;
}

double tiling_time_block(int64_t steps, double comp_s, double comm_s)
{
    return (double)steps * (comp_s + comm_s);
}

double tiling_time_overlap(int64_t steps, double comp_s, double comm_s)
{
    return (double)steps * (comp_s > comm_s ? comp_s : comm_s);
}

double tiling_time_started(int64_t steps, double start_s, double comp_s, double comm_s)
{
    double busy_s = start_s + comp_s;
    return (double)steps * (busy_s > comm_s ? busy_s : comm_s);
}

/* ---- a pipe of tiles of some height -----------------------------------------------------------
 */

static int64_t tiles_of(int64_t extent, int64_t z)
{
    return (extent + z - 1) / z;
}

static void last_tile(const struct tiling_pipe *p, int64_t z, int64_t *x)
{
    for (int i = 0; i < p->dims; i++)
        x[i] = i == p->along ? tiles_of(p->extent, z) - 1 : p->last[i];
}

double tiling_pipe_block(const struct tiling_pipe *p, int64_t z)
{
    int64_t x[TILING_DIMS_MAX];
    const struct tiling_step *s = &p->step;
    double height = (double)z;
    last_tile(p, z, x);
    return tiling_time_block(tiling_steps_block(p->dims, x), s->comp_unit_s * height,
                             s->both_ways * (s->comm_s + s->comm_unit_s * height));
}

double tiling_pipe_overlap(const struct tiling_pipe *p, int64_t z)
{
    int64_t x[TILING_DIMS_MAX];
    const struct tiling_step *s = &p->step;
    double height = (double)z;
    last_tile(p, z, x);
    return tiling_time_started(tiling_steps_overlap(p->dims, p->along, x),
                               s->start_s + s->start_unit_s * height, s->comp_unit_s * height,
                               s->comm_s + s->comm_unit_s * height);
}

/* Of the heights with one number of tiles the least is the best: so twice the root of the extent
 * of them are looked at. */
int64_t tiling_pipe_best(const struct tiling_pipe *p, bool overlap)
{
    int64_t best = p->extent;
    double least = overlap ? tiling_pipe_overlap(p, best) : tiling_pipe_block(p, best);
    for (int64_t z = p->extent; z > 1;) {
        int64_t tiles = tiles_of(p->extent, z - 1); /* the next number that some height gives */
        z = tiles_of(p->extent, tiles);
        double time = overlap ? tiling_pipe_overlap(p, z) : tiling_pipe_block(p, z);
        if (time < least) {
            least = time;
            best = z;
        }
    }
    return best;
}
