/*
 * fft_cost.h - what a path is expected to take.
 */
#ifndef COVEY_LIB_DOMAIN_FOURIER_FFT_COST_H
#define COVEY_LIB_DOMAIN_FOURIER_FFT_COST_H

#include "lib/domain/base/figures.h"
#include "lib/domain/covey_domain/base.h"
#include "lib/domain/fourier/fft_path.h"

enum fft_work {
    FFT_FLOP,   /* of 5 n log2 n for n complex numbers, along the axis that runs fastest */
    FFT_STRIDE, /* the same along another axis */
    FFT_COPY,   /* a byte that is packed or unpacked */
    FFT_WORKS
};

/* Arrays of which speeds are measured: one that fits in caches, and one that does not. */
#define FFT_ARRAYS 2
#define FFT_ARRAY_BYTES(i) ((i) == 0 ? 2.0 * 1024 * 1024 : 8.0 * 1024 * 1024)

/* Seconds of the processor, of the slowest member; 0: not measured. */
struct fft_speed {
    double all[FFT_WORKS][FFT_ARRAYS];   /* while all members of a host work */
    double alone[FFT_WORKS][FFT_ARRAYS]; /* of rank 0 while the others wait */
};

/* The grid of a team whose hosts have as many members each, and ranks in their order. */
struct fft_grid fft_grid_usual(const struct covey_domain_network *network);

/* Takes the speeds for that effort of FFTW's planner from what this machine knows, or measures
 * them, and tells all: a collective call. Errors: those of all collective calls. */
int fft_speed_agree(covey_team_t *team, unsigned effort, const struct covey_domain_place *place,
                    struct fft_speed *speed);

/* Members that compute at once on a host. */
int fft_speed_together(const struct covey_domain_place *place);

/* The same out of figures, for the usual effort; returns whether there are any. */
int fft_speed_of_figures(const struct domain_figures *figures, int together,
                         struct fft_speed *speed);

/* Measures them in this process. Errors: ENOMEM. */
int fft_speed_measure_figures(struct domain_figures *figures);

/* Seconds: for each stage the flops of the largest part, and for each exchange alpha a message and
 * beta and the copies a byte, of rank 0, which never has less than another. */
double fft_cost(const struct fft_path *path, const struct covey_domain_place *place,
                const struct fft_speed *speed);

#endif
