/*
 * transform.h - the tasks of fft, and what they are told and tell.
 */
#ifndef FFT_TRANSFORM_H
#define FFT_TRANSFORM_H

#include "covey.h"
#include "lib/domain/covey_domain.h"

#include <stdint.h>

#define TRANSFORM_SIDE_MAX ((int64_t)1 << 30)
#define TRANSFORM_RUNS_MAX 100000
#define TRANSFORM_OPTIONS 128 /* bytes of a text of options */

struct transform_job {
    int32_t dims, is_real;
    int32_t runs; /* forward and back */
    int32_t check;
    uint64_t seed;
    int64_t n[COVEY_FFT_DIMS_MAX];
    char options[TRANSFORM_OPTIONS]; /* of covey_fft_plan() */
};

/* What task 0 sends in a crew_solution, of the slowest task. */
enum transform_figure {
    TRANSFORM_TOTAL_S,   /* of all runs */
    TRANSFORM_FORWARD_S, /* of one, the mean */
    TRANSFORM_BACK_S,
    TRANSFORM_ERROR, /* forward: the length of the difference to that of what it should be */
    TRANSFORM_ERROR_BACK
};

/* As crew_pack. */
int transform_pack(covey_msg_t *msg, const void *context);

/* Operations of one transform, by the usual count. */
double transform_flops(const struct transform_job *job);

/* A task, from its beginning to its end; and the time of FFTW's arithmetic. Both return the exit
 * status of the process. */
int transform_worker(void);
int transform_kernel(void);

#endif
