/*
 * system.h - the tasks of linpack: a system of equations of random numbers, and its solution.
 */
#ifndef LINPACK_SYSTEM_H
#define LINPACK_SYSTEM_H

#include "covey.h"

#include <stdint.h>

#define SYSTEM_N_MAX 1000000
#define SYSTEM_OPTIONS 192

/* n equations with one right side. */
struct system_job {
    int64_t n;
    uint64_t seed;
    char options[SYSTEM_OPTIONS]; /* of covey_dense_plan() */
};

/* What rank 0 tells. */
enum system_figure {
    SYSTEM_SECONDS,        /* of the slowest task: */
    SYSTEM_FACTOR_SECONDS, /* LU alone */
    SYSTEM_RESIDUAL,       /* |Ax - b| / (eps (|A| |x| + |b|) n), norms by rows */
    SYSTEM_BLOCK,
    SYSTEM_ROWS, /* of the grid */
    SYSTEM_COLUMNS
};

int system_pack(covey_msg_t *msg, const void *job);

/* Runs a task; returns the exit status of the process. Rank 0, and a task alone, sends a
 * crew_solution. */
int system_worker(void);

/* Measures a rank-1 update for `covey calibrate`; returns the exit status. */
int system_kernel(void);

#endif
