/*
 * group.h - the group server as a pure engine: named groups of tasks, instance numbers, barriers.
 * It is a part of the agreed state (state.h, group_engine.c).
 *
 * Instances are as in PVM 3: a new member gets the lowest number >= 0 that is free in the group.
 * A barrier opens when as many members wait as its first waiter asked for (0: as many as there are
 * members at that moment).
 */
#ifndef COVEY_PROTO_GROUP_H
#define COVEY_PROTO_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "proto/wire/cursor.h"

#define GROUP_NAME_MAX 63
#define GROUP_MEMBERS_MAX 65536

enum group_error {
    GROUP_OK = 0,
    GROUP_EINVAL = -1, /* name empty, or another count than the others wait with */
    GROUP_ENOMEM = -2,
    GROUP_EEXIST = -3,    /* a member already, or waiting already */
    GROUP_ENOGROUP = -4,  /* no such group, or not a member of it */
    GROUP_ENOTASK = -5,   /* a member ended: the barrier's count cannot be reached */
    GROUP_ECANCELED = -6, /* the waiter gave up, or left the group */
    GROUP_ETOOMANY = -7   /* the group has GROUP_MEMBERS_MAX members */
};

struct group_table;

/* Called for each waiter whose barrier ended: GROUP_OK, GROUP_ENOTASK or GROUP_ECANCELED. It must
 * not call back into the engine. */
typedef void group_answer(void *context, uint32_t tid, uint32_t request, enum group_error result);

struct group_table *group_table_create(group_answer *answer, void *context); /* NULL: no memory */
void group_table_destroy(struct group_table *table); /* NULL is fine; nobody is answered */

/* Makes the task a member, and the group if it is new. Returns its instance or GROUP_EINVAL,
 * ENOMEM, EEXIST, ETOOMANY. */
int32_t group_join(struct group_table *table, const char *name, uint32_t tid);

/* Ends the membership; a group without members is no more. GROUP_OK or ENOGROUP. */
enum group_error group_leave(struct group_table *table, const char *name, uint32_t tid);

/* The members by instance: fills at most `capacity` entries (instances and tids, one each) and
 * returns how many there are, 0 when there is no such group. */
struct group_member {
    uint32_t tid;
    uint32_t instance;
};
size_t group_members(const struct group_table *table, const char *name,
                     struct group_member *members, size_t capacity);

/* The task waits at the group's barrier; `request` comes back in the answer, which may come before
 * this returns. GROUP_OK: it waits or was answered. Otherwise it does not wait and gets no answer:
 * ENOGROUP, EINVAL, EEXIST. */
enum group_error group_barrier(struct group_table *table, const char *name, uint32_t tid,
                               uint32_t request, uint32_t count);

/* Gives up the wait that has that request number; it is answered GROUP_ECANCELED, if it is still
 * there. */
void group_cancel(struct group_table *table, uint32_t tid, uint32_t request);

/* The task, or all tasks of a host (tid >> 18), ended: they leave all groups. */
void group_task_gone(struct group_table *table, uint32_t tid);
void group_host_gone(struct group_table *table, uint32_t host);

/* Writes the members by instance, *(instance=u32 tid=u32); false: there is no such group. */
bool group_list(const struct group_table *table, const char *name, struct cursor *c);

/* All groups as bytes, see group.c, and back into an empty table; false: they make no sense, or
 * memory is exhausted. */
void group_table_save(const struct group_table *table, struct cursor *c);
bool group_table_load(struct group_table *table, struct cursor *c);

/* The number of groups. */
size_t group_count(const struct group_table *table);

#endif
