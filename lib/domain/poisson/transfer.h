/*
 * transfer.h - between a level and the next coarser one.
 *
 * An axis of n cells has (n + 1) / 2 of them on the coarser level, or as many as before. A value of
 * the finer level is interpolated between the two nearest of the coarser one, ghosts included; the
 * other way is the transpose of this, times the ratio of the cells. So any n will do, and multigrid
 * is symmetric.
 */
#ifndef COVEY_LIB_DOMAIN_POISSON_TRANSFER_H
#define COVEY_LIB_DOMAIN_POISSON_TRANSFER_H

#include "lib/domain/grid/move.h"
#include "lib/domain/poisson/level.h"

/* The points of an axis of a part, from its first one on. */
struct transfer_axis {
    int32_t *near;      /* the lower of two coarse points, relative to the box below */
    double *low, *high; /* the weights of that one and of the next one */
    double ratio;
};

struct transfer {
    struct level *fine, *coarse;
    struct transfer_axis axes[GRID_AXES];
    struct grid_field box; /* coarse points that this member's fine ones need: dense memory */
    double *values;        /* of these, with one point more along each axis that has no weight */
    double *planes[2];     /* scratch: coarse rows of fine length */
    struct move move;      /* between these boxes and the coarse level */
};

/* Returns 0 or ENOMEM; transfer_free() follows in each case. */
int transfer_make(struct transfer *transfer, struct level *fine, struct level *coarse, int tag);
void transfer_free(struct transfer *transfer);

/* Sets b of the coarse level to what remains of the fine one: b - A x there. */
int transfer_restrict(struct transfer *transfer, double *x, const double *b, double *coarse_b);

/* Adds the coarse level's x, interpolated. */
int transfer_prolong(struct transfer *transfer, double *coarse_x, double *x);

/* The pair of coarse points, and their weights, of point i of an axis of n cells that has `coarse`
 * of them on the coarser level; factors of the ghosts, 0 of a periodic axis, where the points may
 * be -1 or `coarse`. */
struct transfer_pair {
    int64_t near;
    double low, high;
};
struct transfer_pair transfer_pair(int64_t n, int64_t coarse, int64_t i, const int ghosts[2]);

#endif
