/*
 * fft_reshape.h - brings an array from one layout into another: each member sends each what is in
 * its own box before and in the other's behind.
 */
#ifndef COVEY_LIB_DOMAIN_FOURIER_FFT_RESHAPE_H
#define COVEY_LIB_DOMAIN_FOURIER_FFT_RESHAPE_H

#include <covey.h>
#include <fftw3.h>

#include "lib/domain/fourier/fft_path.h"

#define FFT_SLICES_MAX 8

/* One way of a slice: what goes to each member of the group, or comes from each. */
struct fft_pieces {
    fftw_plan *copies; /* [members] between the array and the buffer; NULL: no such piece */
    size_t *counts;    /* [members] doubles */
    size_t *starts;    /* [members] in the buffer */
    size_t *places;    /* [members] in the array */
};

struct fft_reshape {
    covey_team_t *team; /* the group; not this struct's */
    int members;
    int width;
    int slices;    /* of the sender's box, each of which is sent by itself */
    size_t padded; /* doubles of a piece if all are sent with one size; 0: each has its own */
    int out_as_is, in_as_is; /* 1: every piece is one stretch of the array, and is not copied */
    struct fft_pieces out[FFT_SLICES_MAX], in[FFT_SLICES_MAX];
    int self;      /* this member's place; what it keeps goes from array to array at once */
    size_t buffer; /* doubles that each of the buffers of a run has */
    fftw_plan kept[FFT_SLICES_MAX];
    size_t kept_counts[FFT_SLICES_MAX]; /* doubles */
};

/* The member of that place of the group to which `rank` belongs. */
int fft_reshape_rank(const struct fft_grid *grid, int group, int rank, int place);

/* Plans the way between two stages that follow each other, in slices along `axis`. padded: pieces
 * are sent with one size, and in one slice. Errors: ENOMEM. */
struct fft_way {
    int from, to, axis, slices, padded;
};
int fft_reshape_create(const struct fft_path *path, const struct fft_way *way, int rank,
                       covey_team_t *team, struct fft_reshape *reshape);
void fft_reshape_free(struct fft_reshape *reshape);

/* Doubles that each of the buffers of a run has. */
size_t fft_reshape_buffer(const struct fft_reshape *reshape);

/* Brings `array` to `result`, which do not overlap, or with result NULL to buffers[0], where the
 * array may be, too. The buffers [1] and [2] are used, and [0] and [2] exchanged where that saves a
 * copy. A collective call of the group. Errors: those of all collective calls. */
int fft_reshape_run(const struct fft_reshape *reshape, const double *array, double *result,
                    double *buffers[3]);

/* The same of slices: begin starts one, whose part of `array` is left alone until end, and sets
 * *request; end waits for all, frees their requests and sets them to NULL. */
int fft_reshape_begin(const struct fft_reshape *reshape, int slice, const double *array,
                      double *result, double *buffers[3], covey_req_t **request);
int fft_reshape_end(const struct fft_reshape *reshape, const double *array, double *result,
                    double *buffers[3], covey_req_t **requests);

#endif
