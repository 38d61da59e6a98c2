/*
 * covey_domain/fourier.h - Fourier transforms of arrays that are spread over the members of a team.
 */
#ifndef COVEY_DOMAIN_FOURIER_H
#define COVEY_DOMAIN_FOURIER_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Transforms of double precision in 1, 2 or 3 dimensions, of any sizes, as FFTW defines them: not
 * normalised, so that forward and backward together multiply by the product of the sizes. FFTW3
 * computes what lies at one member; the library moves the data between. See covey_fft(3). */

#define COVEY_FFT_DIMS_MAX 3

typedef struct covey_fft covey_fft_t; /* a transform that is planned, of one team */

/* The physical side has n[0] x ... x n[dims-1] elements. The spectral side has as many, and where
 * the physical one is real n[dims-1] / 2 + 1 along the last axis: the others are the conjugates of
 * these. Complex numbers are pairs of doubles, as C's double complex. */
enum covey_fft_kind {
    COVEY_FFT_FORWARD = 1,  /* complex to complex, exponent -1: physical to spectral */
    COVEY_FFT_BACKWARD = 2, /* complex to complex, exponent +1: spectral to physical */
    COVEY_FFT_REAL = 3,     /* real to complex, exponent -1: physical to spectral */
    COVEY_FFT_REAL_BACK = 4 /* complex to real, exponent +1: spectral to physical */
};

/* Plans a transform for many executions, and takes an algorithm unless the options, or the
 * environment variable COVEY_FFT, name one. A collective call: all members give the same dims, n
 * and kind, and those of rank 0 count for the options. Sets *plan. Algorithms divide the array
 * among members in different ways: where a plan of the other direction is there, of the same array,
 * members, order, layout and grid, its algorithm is taken, and each goes on where the other ended.
 *
 * Errors: EINVAL (dims is not 1 to 3, a size is below 1, the array has more than 2^56 elements, no
 * such kind or option, an algorithm that cannot do this, the members differ), ENOMEM, and those of
 * all collective calls. What is wrong at one member is an error at all, but a team or plan NULL. */
int covey_fft_plan(covey_team_t *team, int dims, const int64_t *n, int kind, const char *options,
                   covey_fft_t **plan);

/* Sums of cosines or sines along an axis, as FFTW's REDFT00, REDFT10, REDFT01, REDFT11 (even at
 * both ends) and RODFT00, RODFT10, RODFT01, RODFT11 (odd at the first one). DCT2 and DCT3 are the
 * inverse of each other, as are DST2 and DST3; the other kinds are their own. Both together
 * multiply by 2 (n - 1) for DCT1, 2 (n + 1) for DST1, and 2 n for the others. */
enum covey_fft_trig {
    COVEY_FFT_DCT1 = 1,
    COVEY_FFT_DCT2 = 2,
    COVEY_FFT_DCT3 = 3,
    COVEY_FFT_DCT4 = 4,
    COVEY_FFT_DST1 = 5,
    COVEY_FFT_DST2 = 6,
    COVEY_FFT_DST3 = 7,
    COVEY_FFT_DST4 = 8
};

/* The same for transforms of real numbers to as many, one of these kinds along each axis. Errors
 * besides: EINVAL (kinds is NULL, DCT1 along an axis of 1 number). */
int covey_fft_plan_r2r(covey_team_t *team, int dims, const int64_t *n, const int32_t *kinds,
                       const char *options, covey_fft_t **plan);

enum covey_fft_side { COVEY_FFT_IN = 1, COVEY_FFT_OUT = 2 };

/* What lies at the caller: of each axis the elements offset .. offset + size - 1. Element (i, j, k)
 * of the array stands at (i - offset[0]) * stride[0] + (j - offset[1]) * stride[1] + ... elements
 * from the beginning. A size is 0 at a member that has nothing.
 *
 * A long transform in one dimension, of N numbers, in transposed order, has two axes on its
 * spectral side: its element (k1, k2) is coefficient k1 + N / n[1] * k2. Of real numbers it has
 * those with k1 up to N / n[1] / 2: coefficient N - k is the conjugate of k. */
struct covey_fft_part {
    int32_t dims;
    int32_t is_real; /* elements are doubles, otherwise pairs of doubles */
    int64_t n[COVEY_FFT_DIMS_MAX];
    int64_t offset[COVEY_FFT_DIMS_MAX];
    int64_t size[COVEY_FFT_DIMS_MAX];
    int64_t stride[COVEY_FFT_DIMS_MAX]; /* elements */
    size_t count;                       /* elements: the product of the sizes */
};

/* The caller's part on that side of the plan. Errors: EINVAL. */
int covey_fft_local(const covey_fft_t *plan, int side, struct covey_fft_part *part);

/* The same of the member of that rank. */
int covey_fft_local_of(const covey_fft_t *plan, int side, int rank, struct covey_fft_part *part);

/* Transforms `in` to `out`, arrays of covey_fft_local(): a collective call. Both begin at a
 * multiple of 16 bytes, as what malloc() gives does. They are one array, and then large enough for
 * both, or do not overlap, and then `in` is kept. NULL is fine for one of no elements. Errors:
 * EINVAL (an array is NULL or begins elsewhere: the team is broken then), and those of all
 * collective calls. */
int covey_fft_execute(covey_fft_t *plan, const void *in, void *out);

/* The periodic convolution of a and b, arrays of the forward plan: result[i] is the sum over j of
 * a[j] b[i - j], an array of the backward plan. Both plans are of the same array and kind of
 * numbers, by the same algorithm, as they are where no option names one; order=transposed spares an
 * exchange each way. A collective call.
 * Errors: EINVAL (such plans they are not), ENOMEM (the team is broken then), and those of
 * covey_fft_execute(). */
int covey_fft_convolve(covey_fft_t *forward, covey_fft_t *backward, const void *a, const void *b,
                       void *result);

/* Writes a table of the algorithms: what each was expected to take, or why it cannot be taken, and
 * which one was. Returns the length of the whole; text is cut at `size`. Errors: EINVAL. */
int covey_fft_explain(const covey_fft_t *plan, char *text, size_t size);

/* The name of the algorithm that was taken; NULL: no plan. */
const char *covey_fft_algorithm(const covey_fft_t *plan);

/* Frees the plan and sets *plan to NULL; not collective. NULL is fine. */
void covey_fft_free(covey_fft_t **plan);

#ifdef __cplusplus
}
#endif
#endif
