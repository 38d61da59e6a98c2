/*
 * tiling_time.c - time hyperplanes and completion times (sections 3, 4 and 6.2 of Koziris,
 * Sotiropoulos & Goumas).
 */
#include "proto/tiling/tiling.h"

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

/* ---- a pipe of tiles of some height ---------------------------------------------------------- */

static int64_t tiles_of(int64_t extent, int64_t z)
{
    return (extent + z - 1) / z;
}

int64_t tiling_pipe_steps(const struct tiling_pipe *p, int64_t z, bool overlap)
{
    int64_t first = INT64_MAX, last = INT64_MIN, weight = overlap ? 2 : 1;
    for (int i = 0; i < p->count; i++) {
        const struct tiling_column *c = &p->columns[i];
        if (c->first == c->end)
            continue;
        int64_t from = weight * c->hops + c->first / z;
        int64_t to = weight * c->hops + tiles_of(c->end, z) - 1;
        first = from < first ? from : first;
        last = to > last ? to : last;
    }
    return last - first + 1;
}

static double cost_at(const struct tiling_cost *cost, int64_t z)
{
    return cost->base_s + cost->unit_s * (double)z;
}

double tiling_pipe_time(const struct tiling_pipe *p, int64_t z, bool overlap)
{
    const struct tiling_step *s = &p->step;
    int64_t steps = tiling_pipe_steps(p, z, overlap);
    double comp_s = cost_at(&s->comp, z);
    return overlap ? tiling_time_started(steps, cost_at(&s->start, z), comp_s, cost_at(&s->comm, z))
                   : tiling_time_block(steps, comp_s, cost_at(&s->turn, z));
}
