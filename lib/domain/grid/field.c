/*
 * field.c - copies boxes row by row, for rows are what is contiguous.
 */
#include "lib/domain/grid/field.h"

#include <string.h>

void field_make(struct grid_field *field, const struct grid_box *box, const int halo[GRID_AXES])
{
    int64_t full[GRID_AXES];
    *field = (struct grid_field){.box = *box};
    if (grid_box_count(box) == 0)
        return;
    for (int d = 0; d < GRID_AXES; d++)
        full[d] = box->size[d] + 2 * halo[d];
    field->stride[2] = 1;
    field->stride[1] = full[2];
    field->stride[0] = full[2] * full[1];
    field->start = halo[0] * field->stride[0] + halo[1] * field->stride[1] + halo[2];
    field->count = (size_t)(full[0] * field->stride[0]);
}

/* A row of one or two points is what faces across the fast axis consist of: no call for these. */
static void copy_row(const double *from, double *to, int64_t n)
{
    if (n > 4)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        for (int64_t k = 0; k < n; k++)
            to[k] = from[k];
}

void field_pack(const struct grid_field *f, const struct grid_box *box, const double *data,
                double *dense)
{
    const int64_t *low = box->low, *size = box->size;
    for (int64_t i = low[0]; i < low[0] + size[0]; i++)
        for (int64_t j = low[1]; j < low[1] + size[1]; j++, dense += size[2])
            copy_row(data + field_at(f, i, j, low[2]), dense, size[2]);
}

void field_unpack(const struct grid_field *f, const struct grid_box *box, const double *dense,
                  double *data)
{
    const int64_t *low = box->low, *size = box->size;
    for (int64_t i = low[0]; i < low[0] + size[0]; i++)
        for (int64_t j = low[1]; j < low[1] + size[1]; j++, dense += size[2])
            copy_row(dense, data + field_at(f, i, j, low[2]), size[2]);
}

void field_add(const struct grid_field *f, const struct grid_box *box, const double *dense,
               double *data)
{
    const int64_t *low = box->low, *size = box->size;
    for (int64_t i = low[0]; i < low[0] + size[0]; i++) {
        for (int64_t j = low[1]; j < low[1] + size[1]; j++, dense += size[2]) {
            double *to = data + field_at(f, i, j, low[2]);
            for (int64_t k = 0; k < size[2]; k++)
                to[k] += dense[k];
        }
    }
}
