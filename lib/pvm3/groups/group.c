/*
 * libgpvm3: groups of PVM on those of Covey.
 *
 *   group.c      joining and leaving, members, barriers
 *   bcast.c, gather.c, reduce.c: what members send each other
 *   operation.c  PvmSum() and the like
 *
 * Who is in a group is agreed on by the VM's daemons: there is no group server among the tasks, and
 * no single daemon whose death would end the groups.
 */
#include <pvm3.h>
#include <pvmproto.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/groups/membership.h"

covey_t *pvm_covey(void);

/* A group that this task is in. */
struct membership {
    struct membership *next;
    char *name;
    int tid; /* by which it joined: it ended with pvm_exit() if the task has another */
    covey_group_t *group;
    struct covey_member *frozen; /* pvm_freezegroup() */
    int frozen_count;
};

static struct membership *memberships;

int group_context(void)
{
    return SYSCTX_SG;
}

static int group_error(int error)
{
    switch (error) {
    case COVEY_EINVAL:
        return PvmBadParam;
    case COVEY_EEXIST:
        return PvmDupGroup;
    case COVEY_ENOGROUP:
        return PvmNotInGroup;
    case COVEY_ENOTASK:
        return PvmNoTask;
    case COVEY_EHOSTFAIL:
        return PvmHostFail;
    case COVEY_ENOMEM:
        return PvmNoMem;
    case COVEY_ERESOURCE:
        return PvmOutOfRes;
    default:
        return PvmSysErr;
    }
}

static int name_check(const char *group)
{
    return group == NULL || group[0] == '\0' ? PvmNullGroup : PvmOk;
}

/* ---- the list of memberships ----------------------------------------------------------------- */

static void membership_free(struct membership *m)
{
    covey_free(m->frozen);
    free(m->name);
    free(m);
}

/* Those of a membership of the VM that has ended are forgotten. */
static struct membership **membership_find(const char *name)
{
    int tid = pvm_mytid();
    struct membership **at = &memberships;
    while (*at != NULL) {
        struct membership *m = *at;
        if (m->tid != tid) {
            *at = m->next;
            membership_free(m);
        } else if (strcmp(m->name, name) == 0) {
            break;
        } else {
            at = &m->next;
        }
    }
    return at;
}

static int membership_add(const char *name, covey_group_t *group)
{
    struct membership *m = calloc(1, sizeof *m);
    char *copy = strdup(name);
    if (m == NULL || copy == NULL) {
        free(m);
        free(copy);
        return PvmNoMem;
    }
    *m = (struct membership){.next = memberships, .name = copy, .tid = pvm_mytid(), .group = group};
    memberships = m;
    return PvmOk;
}

int pvm_joingroup(char *name)
{
    covey_group_t *group = NULL;
    if (name_check(name) != PvmOk)
        return PvmNullGroup;
    covey_t *vm = pvm_covey();
    if (vm == NULL)
        return PvmSysErr;
    if (*membership_find(name) != NULL)
        return PvmDupGroup;
    int instance = covey_group_join(vm, name, &group);
    if (instance < 0)
        return group_error(instance);
    int error = membership_add(name, group);
    if (error != PvmOk)
        covey_group_leave(&group);
    return error != PvmOk ? error : instance;
}

/* Why the caller is not in it. */
static int outside(const char *name)
{
    struct members members;
    int error = members_get(name, &members);
    if (error != PvmOk)
        return error;
    members_free(&members);
    return PvmNotInGroup;
}

int pvm_lvgroup(char *name)
{
    if (name_check(name) != PvmOk)
        return PvmNullGroup;
    struct membership **at = membership_find(name), *m = *at;
    if (m == NULL)
        return outside(name);
    int error = covey_group_leave(&m->group);
    *at = m->next;
    membership_free(m);
    return error == COVEY_OK ? PvmOk : group_error(error);
}

/* ---- members -------------------------------------------------------------------------------- */

int members_get(const char *name, struct members *members)
{
    if (name_check(name) != PvmOk)
        return PvmNullGroup;
    covey_t *vm = pvm_covey();
    if (vm == NULL)
        return PvmSysErr;
    struct membership *m = *membership_find(name);
    *members = (struct members){0};
    if (m != NULL && m->frozen != NULL) {
        *members = (struct members){m->frozen, m->frozen_count, 1};
        return PvmOk;
    }
    members->count = covey_group_members(vm, name, &members->list);
    if (members->count > 0)
        return PvmOk;
    return members->count == COVEY_ENOGROUP ? PvmNoGroup : group_error(members->count);
}

void members_free(struct members *members)
{
    if (!members->frozen)
        covey_free(members->list);
}

int members_tid(const struct members *members, int instance)
{
    for (int i = 0; i < members->count; i++) {
        if (members->list[i].instance == instance)
            return members->list[i].tid;
    }
    return PvmNoInst;
}

/* The instance of a tid, or PvmNotInGroup. */
static int members_instance(const struct members *members, int tid)
{
    if (tid == -1) {
        /* As PVM's group server has it, whose list marks a free number by -1; programs that ask by
         * the result of a call that failed get it. PVM has none when members fill a list of ten,
         * twenty... */
        int number = 0;
        while (members_tid(members, number) != PvmNoInst)
            number++;
        return number;
    }
    for (int i = 0; i < members->count; i++) {
        if (members->list[i].tid == tid)
            return members->list[i].instance;
    }
    return PvmNotInGroup;
}

typedef int member_find(const struct members *members, int what);

/* What is found of a group, without a function: its size. */
static int look_up(const char *name, member_find *find, int what)
{
    struct members members;
    int error = members_get(name, &members);
    if (error != PvmOk)
        return error;
    int found = find == NULL ? members.count : find(&members, what);
    members_free(&members);
    return found;
}

int pvm_gsize(char *name)
{
    return look_up(name, NULL, 0);
}

int pvm_gettid(char *name, int instance)
{
    return look_up(name, members_tid, instance);
}

int pvm_getinst(char *name, int tid)
{
    return look_up(name, members_instance, tid);
}

/* ---- together -------------------------------------------------------------------------------- */

/* -1: all members that there are. */
static int barrier(struct membership *m, int count)
{
    int error = covey_group_barrier(m->group, count == -1 ? 0 : count, COVEY_FOREVER);
    if (error == COVEY_EINVAL)
        return PvmMismatch; /* others wait for another number */
    return error == COVEY_OK ? PvmOk : group_error(error);
}

/* The caller's membership, or why it has none. */
static int membership_own(const char *name, struct membership **m)
{
    if (name_check(name) != PvmOk)
        return PvmNullGroup;
    if (pvm_covey() == NULL)
        return PvmSysErr;
    *m = *membership_find(name);
    return *m != NULL ? PvmOk : outside(name);
}

int pvm_barrier(char *name, int count)
{
    struct membership *m;
    int error = membership_own(name, &m);
    if (error != PvmOk)
        return error;
    return count < -1 || count == 0 ? PvmMismatch : barrier(m, count);
}

static int freeze(struct membership *m, int size)
{
    struct members members;
    int error = barrier(m, size);
    if (error == PvmOk)
        error = members_get(m->name, &members);
    if (error != PvmOk)
        return error;
    m->frozen = members.list;
    m->frozen_count = members.count;
    /* nobody goes on, and leaves, before all have the list */
    error = barrier(m, members.count);
    return error == PvmOk ? members.count : error;
}

int pvm_freezegroup(char *name, int size)
{
    struct membership *m;
    int error = membership_own(name, &m);
    if (error != PvmOk)
        return error;
    if (m->frozen != NULL)
        return m->frozen_count;
    return size < -1 || size == 0 ? PvmBadParam : freeze(m, size);
}
