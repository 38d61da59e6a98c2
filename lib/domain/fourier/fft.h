/*
 * fft.h - a planned transform: what covey_fft_plan() makes and the other calls read.
 */
#ifndef COVEY_LIB_DOMAIN_FOURIER_FFT_H
#define COVEY_LIB_DOMAIN_FOURIER_FFT_H

#include "lib/domain/base/chooser.h"
#include "lib/domain/base/living.h"
#include "lib/domain/covey_domain/fourier.h"
#include "lib/domain/fourier/fft_kernel.h"
#include "lib/domain/fourier/fft_options.h"
#include "lib/domain/fourier/fft_reshape.h"
#include "lib/domain/fourier/fft_twiddle.h"

struct covey_fft {
    struct fft_problem problem;
    struct fft_options options;
    struct domain_algorithm table[FFT_ALGORITHMS];
    int taken;     /* of the table */
    char name[48]; /* of the problem, as the history has it */
    int executions;
    int rank;
    struct fft_path path;
    covey_team_t *teams[FFT_GROUPS]; /* the plan's own; NULL: not needed */
    int slices[FFT_STAGES_MAX];      /* in which a stage is transformed and sent on */
    fftw_plan kernels[FFT_STAGES_MAX][FFT_SLICES_MAX]; /* NULL: nothing to transform there */
    struct fft_reshape reshapes[FFT_STAGES_MAX];       /* [s]: between stages s and s + 1 */
    struct fft_twiddle *twiddle;                       /* of six-step */
    double *buffers[3];   /* the array, what goes, what comes; they change places */
    double *spectra[2];   /* of covey_fft_convolve(), from its first call on */
    struct living living; /* of the list in fft_pairs.c */
};

/* The i-th stage on the way: backward it is the i-th one from the end. */
int fft_stage_at(const struct covey_fft *plan, int i);

/* Whether a stage's transform has the array of the caller at its beginning or end, or changes the
 * size of the array: then it is not done in place. */
int fft_stage_moves(const struct covey_fft *plan, int i);

/* This member cannot go on: nobody waits for it. Returns the error. */
int fft_break(struct covey_fft *plan, int error);

struct fft_slice fft_slice_of(const struct covey_fft *plan, int stage, int at);

#endif
