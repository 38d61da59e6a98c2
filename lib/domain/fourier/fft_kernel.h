/*
 * fft_kernel.h - FFTW's part: what one member computes and copies. Plans are executed on other
 * arrays than they were made for; all begin at a multiple of 16 bytes, but those of copies.
 */
#ifndef COVEY_LIB_DOMAIN_FOURIER_FFT_KERNEL_H
#define COVEY_LIB_DOMAIN_FOURIER_FFT_KERNEL_H

#include <fftw3.h>

#include "lib/domain/fourier/fft_path.h"

/* What is transformed at once: a slice of a stage at a member, of `slices` along the axis. */
struct fft_slice {
    int stage, axis, slices, at;
};

/* The boxes of a slice on the physical (0) or spectral (1) side, and of the stage as a whole. */
void fft_kernel_box(const struct fft_path *path, const struct fft_slice *slice, int spectral,
                    int rank, struct fft_box *box, struct fft_box *whole);

/* What all transforms of a member have in common. */
struct fft_kernel_how {
    const struct fft_path *path;
    const struct fft_problem *problem;
    int rank;
    unsigned effort; /* flags of FFTW's planner */
};

/* The transform of a slice, whose first elements `in` and `out` point to; they may be one array
 * where both sides have numbers of one kind. Sets *plan; NULL: there is nothing to do. Errors:
 * ENOMEM (FFTW has no plan). */
int fft_kernel_transform(const struct fft_kernel_how *how, const struct fft_slice *slice,
                         double *in, double *out, fftw_plan *plan);

/* Executes it; NULL is nothing to do. */
void fft_kernel_run(fftw_plan kernel, int numbers, int is_backward, double *in, double *out);

/* Copies elements of `width` doubles from their places of one box to those of another. */
fftw_plan fft_kernel_copy(const struct fft_box *part, const struct fft_box *from,
                          const struct fft_box *to, int width, double *in, double *out);

#endif
