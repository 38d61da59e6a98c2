/*
 * fft_layout.h - how an array is divided among the members, and what each of them has.
 *
 * Members form a grid: rank = row * columns + column. Each axis is whole at each member, or divided
 * into blocks by rank, by row or by column. Blocks differ by at most one; the first ones are the
 * larger ones, so that rank 0 has never less than another.
 */
#ifndef COVEY_LIB_DOMAIN_FOURIER_FFT_LAYOUT_H
#define COVEY_LIB_DOMAIN_FOURIER_FFT_LAYOUT_H

#include <stdint.h>

#define FFT_AXES 3 /* arrays of fewer have further axes of size 1 */

struct fft_grid {
    int rows, columns;
};

enum fft_split { FFT_WHOLE, FFT_BY_RANK, FFT_BY_ROW, FFT_BY_COLUMN };

struct fft_layout {
    int64_t n[FFT_AXES];
    int split[FFT_AXES]; /* enum fft_split */
    int at_root;         /* 1: rank 0 has all */
    int swapped;         /* 1: in memory the first axis runs fastest, before the second */
};

/* What one member has; strides are in elements. */
struct fft_box {
    int64_t offset[FFT_AXES], size[FFT_AXES], stride[FFT_AXES];
    int64_t count;
};

void fft_layout_box(const struct fft_layout *layout, const struct fft_grid *grid, int rank,
                    struct fft_box *box);

/* Makes of the box slice `at` of `slices` along the axis; strides stay. */
void fft_box_cut(struct fft_box *box, int axis, int slices, int at);

/* What two boxes have in common, dense in the order of `a`; returns the number of elements. */
int64_t fft_box_common(const struct fft_box *a, const struct fft_box *b, struct fft_box *common);

/* Where an element that both have stands in `box`: that with the least indices in `part`. */
int64_t fft_box_place(const struct fft_box *box, const struct fft_box *part);

/* Whether the elements of `part` stand in `box` one after the other, as they do in `part`. */
int fft_box_is_dense(const struct fft_box *box, const struct fft_box *part);

#endif
