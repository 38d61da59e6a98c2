/*
 * fft_mirror.h - the other half of a real spectrum in one dimension, which is the image of this
 * one.
 *
 * Coefficients k1 + n1 k2 of n real numbers are rows k1 of n1 / 2 + 1, with all k2. Coefficient
 * n - k is the conjugate of k. So a row k1 has an image, row n1 - k1 read from its end, and both
 * together are the spectrum up to n / 2: at the columns k2 of 0 .. n / 2 / n1. A member makes the
 * images of its rows by itself: in memory the two are the third axis, which runs fastest.
 */
#ifndef COVEY_LIB_DOMAIN_FOURIER_FFT_MIRROR_H
#define COVEY_LIB_DOMAIN_FOURIER_FFT_MIRROR_H

#include "lib/domain/fourier/fft_path.h"

/* Rows to rows with images, and back, of a stage with mirror = 1. Complex numbers; the arrays do
 * not overlap. */
void fft_mirror_add(const struct fft_path *path, int stage, int rank, const double *rows,
                    double *both);
void fft_mirror_remove(const struct fft_path *path, int stage, int rank, const double *both,
                       double *rows);

/* Rows with images, columns by columns, to coefficients in their order, and back, of a stage with
 * flat = 1. */
void fft_mirror_flatten(const struct fft_path *path, int stage, int rank, const double *both,
                        double *flat);
void fft_mirror_unflatten(const struct fft_path *path, int stage, int rank, const double *flat,
                          double *both);

#endif
