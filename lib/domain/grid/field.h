/*
 * field.h - where the points of a box stand in memory, and copying stretches of them.
 */
#ifndef COVEY_LIB_DOMAIN_GRID_FIELD_H
#define COVEY_LIB_DOMAIN_GRID_FIELD_H

#include <stddef.h>

#include "lib/domain/grid/split.h"

/* A box in memory with a halo: point (i, j, k) of the whole grid is element
 * start + (i - low[0]) * stride[0] + (j - low[1]) * stride[1] + k - low[2]. */
struct grid_field {
    struct grid_box box;
    int64_t stride[GRID_AXES];
    int64_t start;
    size_t count; /* doubles, halo included */
};

/* The halo has halo[d] points on both sides of axis d; an empty box has no elements. */
void field_make(struct grid_field *field, const struct grid_box *box, const int halo[GRID_AXES]);

static inline int64_t field_at(const struct grid_field *f, int64_t i, int64_t j, int64_t k)
{
    return f->start + (i - f->box.low[0]) * f->stride[0] + (j - f->box.low[1]) * f->stride[1] + k -
           f->box.low[2];
}

/* Copies the points of a box, which may lie in the halo, to dense memory in row-major order. */
void field_pack(const struct grid_field *f, const struct grid_box *box, const double *data,
                double *dense);
void field_unpack(const struct grid_field *f, const struct grid_box *box, const double *dense,
                  double *data);

/* Adds them. */
void field_add(const struct grid_field *f, const struct grid_box *box, const double *dense,
               double *data);

#endif
