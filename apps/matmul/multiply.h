/*
 * multiply.h - the task of matmul.
 */
#ifndef MATMUL_MULTIPLY_H
#define MATMUL_MULTIPLY_H

#include "covey.h"

#include <stdint.h>

/* What all tasks must know. */
struct multiply_job {
    int64_t n;
    uint64_t seed;
    int32_t q;
    int32_t bag;    /* 1: by sub-block products out of a bag, see subblock.h */
    int32_t fetch;  /* 1: and its tasks fetch blocks of the factors */
    int32_t groups; /* a side of the grid, a divisor of q: in two levels, or in phases when they are
                       q, see hierarchical.h; 0: panels sent ahead, see stream.h */
};

int multiply_pack(covey_msg_t *msg, const void *job);

/* Lives as a task; returns the exit status of the process. */
int multiply_worker(void);

#endif
