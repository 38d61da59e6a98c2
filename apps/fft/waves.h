/*
 * waves.h - an array whose transform is known: a wave, and a point that stands out.
 *
 * The spectrum of a wave is one number, and that of a point a wave, so each element on either side
 * has a value of its own, and what is at the wrong place differs. Both have the same length. No
 * second transform is needed to check the first one, whatever the size.
 */
#ifndef FFT_WAVES_H
#define FFT_WAVES_H

#include "lib/domain/covey_domain.h"

#include <stdint.h>

struct waves {
    int dims;
    int is_real;
    int64_t n[COVEY_FFT_DIMS_MAX];
    int64_t wave[COVEY_FFT_DIMS_MAX];  /* how often it turns along each axis */
    int64_t point[COVEY_FFT_DIMS_MAX]; /* where the point is */
};

/* dims, is_real and n are set: chooses the rest by the seed. */
void waves_choose(struct waves *waves, uint64_t seed);

/* The number of elements. */
double waves_count(const struct waves *waves);

/* Fills a part of the array. Errors: ENOMEM. */
int waves_fill(const struct waves *waves, const struct covey_fft_part *part, double *array);

/* Adds to sums[0] the squares of how far a part is from what it should be, to sums[1] those of the
 * latter: of the array times the scale, or (is_spectral) of its transform. Errors: ENOMEM. */
int waves_compare(const struct waves *waves, const struct covey_fft_part *part, int is_spectral,
                  double scale, const double *array, double sums[2]);

#endif
