/*
 * covey/group.h - named groups, which tasks join and leave.
 */
#ifndef COVEY_GROUP_H
#define COVEY_GROUP_H

#include "message.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_group covey_group_t; /* membership of one named group */

/* Joins the named group and returns the instance, the lowest number >= 0 that is free in it. Sets
 * *group, which covey_group_leave() ends. Names have 1 .. 63 bytes.
 * Errors: EINVAL, EEXIST (already a member), EDAEMON. */
int covey_group_join(covey_t *vm, const char *name, covey_group_t **group);

/* Leaves the group and sets *group to NULL. A task's end leaves all its groups. */
int covey_group_leave(covey_group_t **group);

int covey_group_instance(const covey_group_t *group); /* the caller's own instance */
int covey_group_size(covey_group_t *group);           /* number of members now */

struct covey_member {
    int32_t instance;
    covey_tid_t tid;
};

/* The members of the named group by instance, for any task, which need not be one of them: sets
 * *list (free with covey_free()) and returns their number, at least 1. Errors: EINVAL, ENOGROUP
 * (there is no such group), ENOMEM, EDAEMON. */
int covey_group_members(covey_t *vm, const char *name, struct covey_member **list);

/* The tid of an instance, and the instance of a tid. Errors: ENOTASK, EDAEMON. */
covey_tid_t covey_group_tid(covey_group_t *group, int instance);
int covey_group_instance_of(covey_group_t *group, covey_tid_t tid);

/* Waits until `count` members called it (0: all members there are). A member that ends while
 * others wait makes those waits fail with ENOTASK when the count can no longer be reached.
 * Errors: ETIMEOUT, ENOTASK, EDAEMON. */
int covey_group_barrier(covey_group_t *group, int count, int64_t timeout_us);

/* Sends a message to every other member: as covey_cast() does in the order of its sender, where
 * there are no more than COVEY_CAST_TASKS_MAX, and otherwise as covey_mcast(). Errors: as
 * covey_mcast(). */
int covey_group_bcast(covey_group_t *group, int tag, const covey_msg_t *msg);

/* covey_cast() to the members that the group has now: FIFO to all but the caller, in total order to
 * the caller, too, if it is one. Errors: as covey_cast(). */
int covey_group_cast(covey_group_t *group, int order, int tag, const covey_msg_t *msg);

#ifdef __cplusplus
}
#endif
#endif
