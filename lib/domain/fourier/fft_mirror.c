/*
 * fft_mirror.c - images of rows. A coefficient beyond n / 2 is in no spectrum: where it would stand
 * with the others of its column there is 0, which nobody reads.
 */
#include "lib/domain/fourier/fft_mirror.h"

static void copy(const double *from, int is_conjugate, double *to)
{
    to[0] = from[0];
    to[1] = is_conjugate ? -from[1] : from[1];
}

void fft_mirror_add(const struct fft_path *path, int stage, int rank, const double *rows,
                    double *both)
{
    struct fft_box in, out;
    fft_path_box(path, stage, 0, rank, &in);
    fft_path_box(path, stage, 1, rank, &out);
    for (int64_t i = 0; i < out.size[0]; i++) {
        const double *row = rows + 2 * i * in.stride[0];
        double *to = both + 2 * i * out.stride[0];
        for (int64_t k2 = 0; k2 < out.size[1]; k2++) {
            copy(row + 2 * k2, 0, to + 4 * k2);
            copy(row + 2 * (in.size[1] - 1 - k2), 1, to + 4 * k2 + 2);
        }
    }
}

/* Row k1 ends behind n / 2, and goes on with its image from the end: rows 0 and n1 / 2 are their
 * own.
 */
void fft_mirror_remove(const struct fft_path *path, int stage, int rank, const double *both,
                       double *rows)
{
    struct fft_box in, out;
    fft_path_box(path, stage, 1, rank, &in);
    fft_path_box(path, stage, 0, rank, &out);
    for (int64_t i = 0; i < out.size[0]; i++) {
        const double *row = both + 2 * i * in.stride[0];
        double *to = rows + 2 * i * out.stride[0];
        int64_t k1 = out.offset[0] + i, n2 = out.size[1];
        for (int64_t k2 = 0; k2 < n2; k2++) {
            int is_here = k1 + path->last * k2 <= path->elements / 2;
            int64_t image = k1 == 0                ? 4 * (n2 - k2)
                            : 2 * k1 == path->last ? 4 * (n2 - 1 - k2)
                                                   : 4 * (n2 - 1 - k2) + 2;
            copy(row + (is_here ? 4 * k2 : image), !is_here, to + 2 * k2);
        }
    }
}

/* Where coefficient k1 of a column is among the rows and their images. */
static int64_t place(const struct fft_path *path, int64_t k1)
{
    return k1 <= path->last / 2 ? 2 * k1 : 2 * (path->last - k1) + 1;
}

void fft_mirror_flatten(const struct fft_path *path, int stage, int rank, const double *both,
                        double *flat)
{
    struct fft_box in, out;
    fft_path_box(path, stage, 0, rank, &in);
    fft_path_box(path, stage, 1, rank, &out);
    for (int64_t i = 0; i < out.count; i++)
        copy(both + 2 * (i / path->last * in.stride[1] + place(path, i % path->last)), 0,
             flat + 2 * i);
}

void fft_mirror_unflatten(const struct fft_path *path, int stage, int rank, const double *flat,
                          double *both)
{
    struct fft_box in, out;
    fft_path_box(path, stage, 1, rank, &in);
    fft_path_box(path, stage, 0, rank, &out);
    for (int64_t i = 0; i < 2 * out.count; i++)
        both[i] = 0;
    for (int64_t i = 0; i < in.count; i++) {
        int64_t k1 = i % path->last;
        double *to = both + 2 * (i / path->last) * out.stride[1];
        copy(flat + 2 * i, 0, to + 2 * place(path, k1));
    }
}
