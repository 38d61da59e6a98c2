/*
 * fft_path.h - an algorithm as a path: layouts of the array, and the axes that are transformed in
 * each.
 */
#ifndef COVEY_LIB_DOMAIN_FOURIER_FFT_PATH_H
#define COVEY_LIB_DOMAIN_FOURIER_FFT_PATH_H

#include "lib/domain/fourier/fft_layout.h"

#define FFT_STAGES_MAX 6

enum fft_algorithm { FFT_LOCAL, FFT_SLAB, FFT_PENCIL, FFT_SIX_STEP, FFT_ALGORITHMS };

enum fft_numbers { FFT_COMPLEX, FFT_REAL, FFT_HALVED }; /* REAL to the end: sines and cosines */

/* Who exchange data to come to the next layout: all, those of a row or those of a column. */
enum fft_group { FFT_ALL, FFT_OF_ROW, FFT_OF_COLUMN, FFT_GROUPS };

/* Forward: the data come in this layout, are transformed along the axes, and go on. */
struct fft_stage {
    struct fft_layout layout; /* of complex numbers; of real ones with the last axis as it is */
    unsigned axes;            /* bit i: axis i; whole at each member */
    int twiddle;              /* 1: six-step's factors come behind the transform */
    int numbers;              /* enum fft_numbers; HALVED: real before, complex behind */
    int group;                /* enum fft_group, to the next stage */
    int mirror;               /* 1: behind the transform, rows get their images (fft_mirror.h) */
    int flat;                 /* 1: behind, rows and images are one line: the last stage */
};

struct fft_path {
    int dims;         /* axes of the stages: 2 in six-step */
    int axis;         /* of real numbers: the one that is halved */
    int64_t last;     /* and its size before */
    int64_t rows;     /* of a spectrum with images: columns of the array that it has */
    int64_t elements; /* of the array */
    struct fft_grid grid;
    int count;
    struct fft_stage stages[FFT_STAGES_MAX];
};

struct fft_problem {
    int dims;
    int64_t n[FFT_AXES];
    int is_real;
    int is_backward;
    int is_r2r;          /* sines and cosines: real numbers on both sides */
    int kinds[FFT_AXES]; /* then: enum covey_fft_trig, along each axis */
};

/* What a program may say of the layouts at both ends. */
struct fft_ends {
    int transposed; /* the spectral side lies as the algorithm leaves it */
    int at_root;    /* both sides are at rank 0 */
};

/* Why the algorithm cannot do this; NULL: it can. */
const char *fft_path_refusal(int algorithm, const struct fft_problem *problem);

void fft_path_make(int algorithm, const struct fft_problem *problem, const struct fft_ends *ends,
                   const struct fft_grid *grid, struct fft_path *path);

/* What a member has in a stage: before its transform (spectral 0) or behind it (1), forward. */
void fft_path_box(const struct fft_path *path, int stage, int spectral, int rank,
                  struct fft_box *box);

/* The axis along which a stage can be transformed and sent in slices; -1: it has none. */
int fft_path_slice_axis(const struct fft_path *path, int stage);

/* Doubles of an element there. */
int fft_path_width(const struct fft_path *path, int stage, int spectral);

#endif
