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
};

int multiply_pack(covey_msg_t *msg, const void *job);

/* Lives as a task; returns the exit status of the process. */
int multiply_worker(void);

#endif
