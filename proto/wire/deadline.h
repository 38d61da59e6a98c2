/*
 * deadline.h - times at which something is due; UINT64_MAX is never.
 */
#ifndef COVEY_PROTO_DEADLINE_H
#define COVEY_PROTO_DEADLINE_H

#include <stdint.h>

static inline uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif
