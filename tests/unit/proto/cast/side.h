/*
 * side.h - one host of a test in which hosts cast to each other: what of a cast's owner is the same
 * in all of them. Messages are counted, and lines of the log are dropped.
 */
#ifndef COVEY_TESTS_UNIT_CAST_SIDE_H
#define COVEY_TESTS_UNIT_CAST_SIDE_H

#include <string.h>

#include "proto/cast/cast.h"

struct story; /* the test's own */

struct side {
    struct story *story;
    uint32_t host;
    unsigned given; /* messages */
};

static inline bool on_deliver(void *context, const struct cast_message *message)
{
    struct side *side = context;
    (void)message;
    side->given++;
    return true;
}

static inline struct host host_of(uint32_t index)
{
    struct host host = {.index = index, .incarnation = index};
    memset(host.id, (int)index, sizeof host.id);
    return host;
}

#endif
