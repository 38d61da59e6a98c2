/*
 * fft_options.h - what is transformed and how, as all members agree on it.
 */
#ifndef COVEY_LIB_DOMAIN_FOURIER_FFT_OPTIONS_H
#define COVEY_LIB_DOMAIN_FOURIER_FFT_OPTIONS_H

#include <covey.h>

#include "lib/domain/fourier/fft_path.h"

#define FFT_WHAT "the plan of a transform" /* begins texts */

/* Checks what the caller gave, and that all gave the same: a collective call. Errors: EINVAL at all
 * members, those of all collective calls. */
struct fft_request {
    int dims;
    const int64_t *n;
    int kind; /* enum covey_fft_kind */
    int is_r2r;
    const int32_t *kinds; /* then: enum covey_fft_trig, of each axis */
};
int fft_problem_agree(covey_team_t *team, const struct fft_request *request,
                      struct fft_problem *problem);

struct fft_options {
    int forced;            /* enum fft_algorithm or DOMAIN_CHOSEN */
    const char *transpose; /* the algorithm of the exchanges; NULL: chosen by each call */
    int padded;            /* 1: that one needs pieces of one size */
    int slices;            /* in which a stage is transformed and sent, up to FFT_SLICES_MAX
                            */
    unsigned effort;       /* flags of FFTW's planner */
    struct fft_ends ends;
    struct fft_grid grid;
};

extern const char *const fft_algorithm_names[]; /* NULL behind the last */

/* Reads options and environment: a collective call. Errors: EINVAL at all members, and those of all
 * collective calls. */
int fft_options_agree(covey_team_t *team, const char *text, struct fft_options *options);

#endif
