/*
 * fft_layout.c - boxes: what a member has of a divided array, and what two of them have in common.
 * All communication of the transforms follows from these: a member sends another one what is both
 * in its own box before a step and in the other's box after it.
 */
#include "lib/domain/fourier/fft_layout.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The block of part `at` of `parts`. */
static void divide(int64_t n, int parts, int at, int64_t *offset, int64_t *size)
{
    int64_t each = n / parts, more = n % parts;
    *offset = each * at + least(at, more);
    *size = each + (at < more);
}

/* Strides of a box without gaps; swapped: axis 0 runs faster than axis 1. */
static void set_strides(struct fft_box *box, int swapped)
{
    int slow = swapped ? 1 : 0;
    box->stride[2] = 1;
    box->stride[1 - slow] = box->size[2];
    box->stride[slow] = box->size[2] * box->size[1 - slow];
    box->count = box->size[0] * box->size[1] * box->size[2];
}

void fft_layout_box(const struct fft_layout *layout, const struct fft_grid *grid, int rank,
                    struct fft_box *box)
{
    for (int i = 0; i < FFT_AXES; i++) {
        int parts = 1, at = 0;
        if (layout->split[i] == FFT_BY_RANK)
            parts = grid->rows * grid->columns, at = rank;
        else if (layout->split[i] == FFT_BY_ROW)
            parts = grid->rows, at = rank / grid->columns;
        else if (layout->split[i] == FFT_BY_COLUMN)
            parts = grid->columns, at = rank % grid->columns;
        divide(layout->n[i], parts, at, &box->offset[i], &box->size[i]);
        if (layout->at_root && rank > 0)
            box->size[i] = 0;
    }
    set_strides(box, layout->swapped);
}

void fft_box_cut(struct fft_box *box, int axis, int slices, int at)
{
    int64_t offset, size;
    divide(box->size[axis], slices, at, &offset, &size);
    box->offset[axis] += offset;
    box->size[axis] = size;
    box->count = box->size[0] * box->size[1] * box->size[2];
}

int64_t fft_box_common(const struct fft_box *a, const struct fft_box *b, struct fft_box *common)
{
    for (int i = 0; i < FFT_AXES; i++) {
        int64_t begin = a->offset[i] > b->offset[i] ? a->offset[i] : b->offset[i];
        int64_t end = least(a->offset[i] + a->size[i], b->offset[i] + b->size[i]);
        common->offset[i] = begin;
        common->size[i] = end > begin ? end - begin : 0;
    }
    set_strides(common, a->stride[0] < a->stride[1]);
    return common->count;
}

int64_t fft_box_place(const struct fft_box *box, const struct fft_box *part)
{
    int64_t place = 0;
    for (int i = 0; i < FFT_AXES; i++)
        place += (part->offset[i] - box->offset[i]) * box->stride[i];
    return place;
}

int fft_box_is_dense(const struct fft_box *box, const struct fft_box *part)
{
    for (int i = 0; i < FFT_AXES; i++)
        if (part->size[i] > 1 && box->stride[i] != part->stride[i])
            return 0;
    return 1;
}
