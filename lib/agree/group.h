/*
 * group.h - named groups of tasks.
 */
#ifndef COVEY_LIB_AGREE_GROUP_H
#define COVEY_LIB_AGREE_GROUP_H

#include "lib/member/vm.h"

struct covey_group;

/* The groups that a task has open. */
struct groups {
    struct covey_group *first;
};

static inline struct groups *groups_of(const struct covey *vm)
{
    return vm->part[PART_GROUPS];
}

void group_free_all(struct covey *vm);
struct covey *group_vm(const struct covey_group *group);
const char *group_name(const struct covey_group *group);

#endif
