/*
 * siblings.h - who was spawned together.
 */
#ifndef COVEY_LIB_SPAWN_SIBLINGS_H
#define COVEY_LIB_SPAWN_SIBLINGS_H

#include "lib/covey.h"
#include "lib/member/vm.h"
#include <stdint.h>

struct frame;

/* Who was spawned together. */
struct family {
    struct family_batch *batches; /* of this task's own calls, the last one first */
    struct family_ask *asks;      /* who waits for the end of a call */
    int spawning;                 /* calls that go on */
    covey_tid_t *tids;            /* this task's siblings, as far as they came */
    uint32_t total, got;
    bool told; /* all of them have come */
};

static inline struct family *family_of(const struct covey *vm)
{
    return vm->part[PART_SIBLINGS];
}

/* A covey_spawn() begins, and ends with these results. */
void siblings_spawning(struct covey *vm);
void siblings_spawned(struct covey *vm, const covey_tid_t *tids, int n);
void siblings_on_family(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void siblings_free(struct covey *vm);

#endif
