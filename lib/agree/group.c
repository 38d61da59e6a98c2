/*
 * group.c - named groups. Who is a member is agreed on by the VM's daemons, which are asked each
 * time: an answer that is not old is worth a round trip.
 */
#include "lib/agree/group.h"
#include "lib/agree/service.h"
#include "lib/drive/call.h"
#include "lib/msg/error.h"
#include "proto/wire/command.h"
#include "proto/wire/list.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMBER_BYTES 8

struct covey_group {
    struct covey *vm;
    struct covey_group *next;
    char name[CONTROL_NAME_MAX + 1];
    int instance;
};

void group_free_all(struct covey *vm)
{
    while (groups_of(vm)->first != NULL) {
        struct covey_group *group = groups_of(vm)->first;
        groups_of(vm)->first = group->next;
        free(group);
    }
}

struct covey *group_vm(const struct covey_group *group)
{
    return group->vm;
}

const char *group_name(const struct covey_group *group)
{
    return group->name;
}

/* The caller's instance, from the answer to GROUP_JOIN. */
static int group_join_ask(struct covey *vm, const char *name)
{
    struct service s;
    service_begin(&s, vm, COMMAND_GROUP_JOIN, "group", name);
    int error = service_call(&s, COVEY_POLL);
    if (error != COVEY_OK)
        return error;
    uint32_t instance = cursor_get_u32(&s.answer);
    error = service_done(&s);
    return error == COVEY_OK ? (int)instance : error;
}

int covey_group_join(covey_t *vm, const char *name, covey_group_t **group)
{
    if (group == NULL || service_name_check(vm, "group", name) != COVEY_OK)
        return group == NULL ? error_set(COVEY_EINVAL, "group: NULL") : COVEY_EINVAL;
    struct covey_group *joined = calloc(1, sizeof *joined);
    if (joined == NULL)
        return error_code(COVEY_ENOMEM);
    joined->vm = vm;
    snprintf(joined->name, sizeof joined->name, "%s", name);
    joined->instance = group_join_ask(vm, name);
    if (joined->instance < 0) {
        int error = joined->instance;
        free(joined);
        return error;
    }
    struct call call = call_begin(joined->vm);
    joined->next = groups_of(joined->vm)->first;
    groups_of(joined->vm)->first = joined;
    call_end(joined->vm, &call, COVEY_OK);
    *group = joined;
    return joined->instance;
}

int covey_group_leave(covey_group_t **group)
{
    if (group == NULL || *group == NULL)
        return COVEY_OK;
    struct covey_group *left = *group;
    struct service s;
    *group = NULL;
    service_begin(&s, left->vm, COMMAND_GROUP_LEAVE, "group", left->name);
    int error = service_order(&s, COVEY_POLL);
    struct call call = call_begin(left->vm);
    UNLINK(groups_of(left->vm)->first, left, next);
    call_end(left->vm, &call, COVEY_OK);
    free(left);
    return error;
}

int covey_group_instance(const covey_group_t *group)
{
    return group == NULL ? error_set(COVEY_EINVAL, "group: NULL") : group->instance;
}

/* The members of the named group, by instance: *members is freed by the caller; their number or an
 * error. */
static int members_of(struct covey *vm, const char *name, struct covey_member **members)
{
    struct service s;
    service_begin(&s, vm, COMMAND_GROUP_MEMBERS, "group", name);
    int error = service_ask(&s);
    if (error != COVEY_OK)
        return error;
    size_t count = cursor_left(&s.answer) / MEMBER_BYTES;
    struct covey_member *list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list != NULL && i < count; i++) {
        list[i].instance = (int32_t)cursor_get_u32(&s.answer);
        list[i].tid = (covey_tid_t)cursor_get_u32(&s.answer);
    }
    service_drop(&s);
    if (list == NULL)
        return error_code(COVEY_ENOMEM);
    *members = list;
    return (int)count;
}

static int members_ask(struct covey_group *group, struct covey_member **members)
{
    return members_of(group->vm, group->name, members);
}

int covey_group_members(covey_t *vm, const char *name, struct covey_member **list)
{
    if (list == NULL || service_name_check(vm, "group", name) != COVEY_OK)
        return list == NULL ? error_set(COVEY_EINVAL, "group: NULL") : COVEY_EINVAL;
    return members_of(vm, name, list);
}

static int group_check(const covey_group_t *group)
{
    return group == NULL ? error_set(COVEY_EINVAL, "group: NULL") : COVEY_OK;
}

int covey_group_size(covey_group_t *group)
{
    struct covey_member *members = NULL;
    if (group_check(group) != COVEY_OK)
        return COVEY_EINVAL;
    int count = members_ask(group, &members);
    if (count >= 0)
        free(members);
    return count;
}

/* The member that fits the key; ENOTASK: none. */
static int member_find(struct covey_group *group,
                       bool (*fits)(const struct covey_member *, uint32_t), uint32_t key,
                       struct covey_member *found)
{
    struct covey_member *members = NULL;
    if (group_check(group) != COVEY_OK)
        return COVEY_EINVAL;
    int count = members_ask(group, &members);
    int result = count < 0 ? count : COVEY_ENOTASK;
    for (int i = 0; i < count; i++) {
        if (fits(&members[i], key)) {
            *found = members[i];
            result = COVEY_OK;
        }
    }
    if (count >= 0)
        free(members);
    return result;
}

static bool has_instance(const struct covey_member *member, uint32_t instance)
{
    return member->instance == (int32_t)instance;
}

static bool has_tid(const struct covey_member *member, uint32_t tid)
{
    return member->tid == (covey_tid_t)tid;
}

covey_tid_t covey_group_tid(covey_group_t *group, int instance)
{
    struct covey_member found;
    int result = member_find(group, has_instance, (uint32_t)instance, &found);
    if (result == COVEY_ENOTASK)
        return error_set(result, "group %s has no instance %d", group->name, instance);
    return result == COVEY_OK ? found.tid : result;
}

int covey_group_instance_of(covey_group_t *group, covey_tid_t tid)
{
    struct covey_member found;
    int result = member_find(group, has_tid, (uint32_t)tid, &found);
    if (result == COVEY_ENOTASK)
        return error_set(result, "t%x is not in group %s", (unsigned)tid, group->name);
    return result == COVEY_OK ? found.instance : result;
}

int covey_group_barrier(covey_group_t *group, int count, int64_t timeout_us)
{
    struct service s;
    if (group_check(group) != COVEY_OK || count < 0)
        return error_set(COVEY_EINVAL, "barrier: NULL or negative count");
    service_begin(&s, group->vm, COMMAND_GROUP_BARRIER, "barrier of group", group->name);
    cursor_put_u32(&s.body, (uint32_t)count);
    return service_order(&s, timeout_us == COVEY_POLL ? 1 : timeout_us);
}

/* The tids of the members: *tids is freed by the caller; their number or an error. */
static int members_tids(covey_group_t *group, covey_tid_t **tids)
{
    struct covey_member *members = NULL;
    int count = members_ask(group, &members);
    if (count < 0)
        return count;
    *tids = calloc((size_t)count + 1, sizeof **tids);
    for (int i = 0; *tids != NULL && i < count; i++)
        (*tids)[i] = members[i].tid;
    free(members);
    return *tids == NULL ? error_code(COVEY_ENOMEM) : count;
}

int covey_group_cast(covey_group_t *group, int order, int tag, const covey_msg_t *msg)
{
    covey_tid_t *tids = NULL;
    if (group_check(group) != COVEY_OK || msg == NULL)
        return error_set(COVEY_EINVAL, "group cast: NULL");
    int count = members_tids(group, &tids);
    if (count < 0)
        return count;
    int error = covey_cast(group->vm, tids, (size_t)count, order, tag, msg);
    free(tids);
    return error;
}

/* To more members than a cast can name it goes one by one. */
int covey_group_bcast(covey_group_t *group, int tag, const covey_msg_t *msg)
{
    covey_tid_t *tids = NULL;
    if (group_check(group) != COVEY_OK || msg == NULL)
        return error_set(COVEY_EINVAL, "group bcast: NULL");
    int count = members_tids(group, &tids);
    if (count < 0)
        return count;
    int error = count <= COVEY_CAST_TASKS_MAX
                    ? covey_cast(group->vm, tids, (size_t)count, COVEY_ORDER_FIFO, tag, msg)
                    : covey_mcast(group->vm, tids, (size_t)count, tag, msg);
    free(tids);
    return error;
}
