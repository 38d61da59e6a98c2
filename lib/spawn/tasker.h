/*
 * tasker.h - tasks that start others for the daemon.
 */
#ifndef COVEY_LIB_SPAWN_TASKER_H
#define COVEY_LIB_SPAWN_TASKER_H

#include "lib/member/vm.h"
#include <stdint.h>

struct frame;

/* What a task that starts others has said. */
struct tasker {
    int tag; /* of orders; 0: the task starts none */
};

static inline struct tasker *tasker_of(const struct covey *vm)
{
    return vm->part[PART_TASKER];
}

void tasker_on_order(struct covey *vm, const struct frame *frame, const uint8_t *payload);

#endif
