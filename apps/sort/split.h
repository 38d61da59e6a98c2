/*
 * split.h - the task of sort.
 */
#ifndef SORT_SPLIT_H
#define SORT_SPLIT_H

#include "apps/crew.h"
#include "covey.h"

#include <stdint.h>

#define SPLIT_TAG_INPUT CREW_PROGRAM  /* the coordinator's keys for the root: chunks in order */
#define SPLIT_CHUNK ((size_t)1 << 20) /* keys in a message to or from the coordinator */
#define SPLIT_KEYS_MAX ((int64_t)1 << 36)

/* What all tasks must know. */
struct split_job {
    int64_t keys;
    uint64_t seed;
    int32_t fed;    /* 1: the coordinator sends the keys, 0: the root makes them from the seed */
    int32_t bag;    /* 1: runs and merges are the items of a bag, see runs.h */
    int32_t wanted; /* 1: the coordinator takes the sorted keys */
    char algorithm[32]; /* of the library, see team.h; "": the tree */
};

int split_pack(covey_msg_t *msg, const void *job);

/* Lives as a task; returns the exit status of the process. */
int split_worker(void);

#endif
