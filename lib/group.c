/*
 * group.c - named groups. Who is a member is kept by the coordinator's daemon, which is asked each
 * time: an answer that is not old is worth a round trip.
 */
#include "lib/task.h"

#include "lib/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_US 30000000u

struct covey_group {
    struct covey *vm;
    struct covey_group *next;
    char name[CONTROL_NAME_MAX + 1];
    int instance;
};

struct member {
    uint32_t instance, tid;
};

static size_t body_make(const char *name, bool with_count, uint32_t count, uint8_t *body,
                        size_t size)
{
    struct control_group g = {.count = count};
    struct cursor c = cursor_writer(body, size);
    snprintf(g.name, sizeof g.name, "%s", name);
    control_put_group(&c, &g, with_count);
    return (size_t)(c.at - body) - 4; /* without the request number */
}

static int group_ask(struct covey *vm, uint8_t kind, const char *name, uint8_t **content,
                     size_t *size)
{
    uint8_t body[128];
    size_t used = body_make(name, false, 0, body, sizeof body);
    return request_call(vm, kind, vm->coordinator, body + 4, used, clock_us() + GROUP_US, content,
                        size);
}

static void group_unlink(struct covey_group *group)
{
    for (struct covey_group **at = &group->vm->groups; *at != NULL; at = &(*at)->next) {
        if (*at == group) {
            *at = group->next;
            return;
        }
    }
}

void group_free_all(struct covey *vm)
{
    while (vm->groups != NULL) {
        struct covey_group *group = vm->groups;
        vm->groups = group->next;
        free(group);
    }
}

static int join(struct covey *vm, struct covey_group *group)
{
    uint8_t *content;
    size_t size;
    int error = group_ask(vm, FRAME_GROUP_JOIN, group->name, &content, &size);
    if (error != COVEY_OK)
        return error;
    struct cursor c = cursor_reader(content, size);
    uint32_t instance = cursor_get_u32(&c);
    free(content);
    if (!cursor_ok(&c))
        return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    group->instance = (int)instance;
    group->next = vm->groups;
    vm->groups = group;
    return (int)instance;
}

int covey_group_join(covey_t *vm, const char *name, covey_group_t **group)
{
    if (vm == NULL || group == NULL || name == NULL || name[0] == '\0' ||
        strlen(name) > CONTROL_NAME_MAX)
        return error_set(COVEY_EINVAL, "group: a name has 1 .. %d bytes", CONTROL_NAME_MAX);
    struct covey_group *joined = calloc(1, sizeof *joined);
    if (joined == NULL)
        return error_code(COVEY_ENOMEM);
    joined->vm = vm;
    snprintf(joined->name, sizeof joined->name, "%s", name);
    struct call call = call_begin(vm);
    int instance = join(vm, joined);
    if (instance < 0)
        free(joined);
    else
        *group = joined;
    return call_end(vm, &call, instance);
}

int covey_group_leave(covey_group_t **group)
{
    if (group == NULL || *group == NULL)
        return COVEY_OK;
    struct covey_group *left = *group;
    *group = NULL;
    struct covey *vm = left->vm;
    struct call call = call_begin(vm);
    int error = group_ask(vm, FRAME_GROUP_LEAVE, left->name, NULL, NULL);
    group_unlink(left);
    free(left);
    return call_end(vm, &call, error);
}

int covey_group_instance(const covey_group_t *group)
{
    return group == NULL ? error_set(COVEY_EINVAL, "group: NULL") : group->instance;
}

/* The members: *members is freed by the caller; their number or an error. */
static int members_ask(struct covey_group *group, struct member **members)
{
    uint8_t *content = NULL;
    size_t size = 0;
    int error = group_ask(group->vm, FRAME_GROUP_MEMBERS, group->name, &content, &size);
    if (error != COVEY_OK)
        return error;
    size_t count = size / 8;
    struct member *list = calloc(count + 1, sizeof *list);
    struct cursor c = cursor_reader(content, size);
    for (size_t i = 0; list != NULL && i < count; i++) {
        list[i].instance = cursor_get_u32(&c);
        list[i].tid = cursor_get_u32(&c);
    }
    free(content);
    if (list == NULL)
        return error_code(COVEY_ENOMEM);
    *members = list;
    return (int)count;
}

static int group_check(const covey_group_t *group)
{
    return group == NULL ? error_set(COVEY_EINVAL, "group: NULL") : COVEY_OK;
}

int covey_group_size(covey_group_t *group)
{
    struct member *members = NULL;
    if (group_check(group) != COVEY_OK)
        return COVEY_EINVAL;
    struct call call = call_begin(group->vm);
    int count = members_ask(group, &members);
    if (count >= 0)
        free(members);
    return call_end(group->vm, &call, count);
}

/* The member that fits the key; ENOTASK: none. */
static int member_find(struct covey_group *group, bool (*fits)(const struct member *, uint32_t),
                       uint32_t key, struct member *found)
{
    struct member *members = NULL;
    if (group_check(group) != COVEY_OK)
        return COVEY_EINVAL;
    struct call call = call_begin(group->vm);
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
    return call_end(group->vm, &call, result);
}

static bool has_instance(const struct member *member, uint32_t instance)
{
    return member->instance == instance;
}

static bool has_tid(const struct member *member, uint32_t tid)
{
    return member->tid == tid;
}

covey_tid_t covey_group_tid(covey_group_t *group, int instance)
{
    struct member found;
    int result = member_find(group, has_instance, (uint32_t)instance, &found);
    if (result == COVEY_ENOTASK)
        return error_set(result, "group %s has no instance %d", group->name, instance);
    return result == COVEY_OK ? (covey_tid_t)found.tid : result;
}

int covey_group_instance_of(covey_group_t *group, covey_tid_t tid)
{
    struct member found;
    int result = member_find(group, has_tid, (uint32_t)tid, &found);
    if (result == COVEY_ENOTASK)
        return error_set(result, "t%x is not in group %s", (unsigned)tid, group->name);
    return result == COVEY_OK ? (int)found.instance : result;
}

static void barrier_cancel(struct covey *vm, uint32_t number)
{
    uint8_t payload[4];
    struct cursor c = cursor_writer(payload, sizeof payload);
    uint32_t to = vm->coordinator == vm->host ? 0 : tid_make(vm->coordinator, 0);
    cursor_put_u32(&c, number);
    home_send(vm, FRAME_GROUP_CANCEL, to, payload, sizeof payload);
}

int covey_group_barrier(covey_group_t *group, int count, int64_t timeout_us)
{
    uint8_t body[128];
    if (group_check(group) != COVEY_OK || count < 0)
        return error_set(COVEY_EINVAL, "barrier: NULL or negative count");
    struct covey *vm = group->vm;
    size_t used = body_make(group->name, true, (uint32_t)count, body, sizeof body);
    struct call call = call_begin(vm);
    struct request *r = request_begin(vm, FRAME_GROUP_BARRIER, vm->coordinator, body + 4, used);
    if (r == NULL)
        return call_end(vm, &call, vm->lost != 0 ? vm->lost : COVEY_ENOMEM);
    uint32_t number = r->number;
    uint64_t start_us = clock_us();
    int error = request_end(vm, &r, clock_deadline(timeout_us), NULL, NULL);
    vm->idle_us += clock_us() - start_us;
    if (error == COVEY_ETIMEOUT) {
        barrier_cancel(vm, number);
        error_set(error, "barrier: not all members came in time");
    }
    return call_end(vm, &call, error);
}

int covey_group_bcast(covey_group_t *group, int tag, const covey_msg_t *msg)
{
    struct member *members = NULL;
    if (group_check(group) != COVEY_OK || msg == NULL)
        return error_set(COVEY_EINVAL, "group bcast: NULL");
    struct call call = call_begin(group->vm);
    int count = members_ask(group, &members);
    call_end(group->vm, &call, 0);
    if (count < 0)
        return count;
    covey_tid_t *tids = calloc((size_t)count + 1, sizeof *tids);
    for (int i = 0; tids != NULL && i < count; i++)
        tids[i] = (covey_tid_t)members[i].tid;
    free(members);
    int error = tids == NULL ? error_code(COVEY_ENOMEM)
                             : covey_mcast(group->vm, tids, (size_t)count, tag, msg);
    free(tids);
    return error;
}
