/*
 * field.h - the tasks of poisson: a solution that is known, and what is found of it.
 */
#ifndef POISSON_FIELD_H
#define POISSON_FIELD_H

#include "covey.h"

#include <stdint.h>

#define FIELD_N_MAX 100000
#define FIELD_OPTIONS 192

/* A square or cube of n cells along each axis, with the same borders at all sides. */
struct field_job {
    int32_t dims, border;
    int64_t n;
    double tolerance;
    uint64_t seed;
    char options[FIELD_OPTIONS]; /* of covey_poisson_plan() */
};

/* What rank 0 tells. */
enum field_figure {
    FIELD_ITERATIONS,
    FIELD_CONVERGED,
    FIELD_RESIDUAL, /* as the library tells it */
    FIELD_SECONDS,  /* of the slowest task; of all tasks the mean of: */
    FIELD_EXCHANGE_S,
    FIELD_REDUCE_S,
    FIELD_TRUE_RESIDUAL, /* computed here */
    FIELD_ERROR,         /* |u - the solution|, */
    FIELD_BOUND, /* and what it may be at this tolerance: |f| tolerance / least eigenvalue */
};

int field_pack(covey_msg_t *msg, const void *job);

/* Runs a task; returns the exit status of the process. Rank 0, and a task alone, sends a
 * crew_solution. */
int field_worker(void);

/* Measures a pass of the method for `covey calibrate`; returns the exit status. */
int field_kernel(void);

#endif
