/*
 * fft_twiddle.h - the factors between the two transforms of the six-step algorithm.
 */
#ifndef COVEY_LIB_DOMAIN_FOURIER_FFT_TWIDDLE_H
#define COVEY_LIB_DOMAIN_FOURIER_FFT_TWIDDLE_H

#include "lib/domain/fourier/fft_layout.h"

struct fft_twiddle; /* the roots of unity of one n */

/* NULL: memory is exhausted. */
struct fft_twiddle *fft_twiddle_create(int64_t n);
void fft_twiddle_free(struct fft_twiddle *twiddle);

/* Multiplies element (k1, j2) of the box by exp(-2 pi i k1 j2 / n), or by its conjugate. */
void fft_twiddle_apply(const struct fft_twiddle *twiddle, const struct fft_box *box,
                       int is_backward, double *data);

#endif
