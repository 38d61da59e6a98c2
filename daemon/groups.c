/*
 * Groups. The coordinator's daemon watches every member, so that a task's end leaves its groups.
 * Another daemon refuses these requests and names the coordinator.
 */
#include "daemon/groups.h"

#include <stdlib.h>

#include "daemon/hosts.h"
#include "daemon/reply.h"
#include "daemon/watch.h"
#include "lib/covey.h"
#include "proto/group.h"

#define MEMBER_BYTES 8

static int32_t error_of(enum group_error error)
{
    switch (error) {
    case GROUP_OK:
        return COVEY_OK;
    case GROUP_EINVAL:
        return COVEY_EINVAL;
    case GROUP_ENOMEM:
        return COVEY_ENOMEM;
    case GROUP_EEXIST:
        return COVEY_EEXIST;
    case GROUP_ENOGROUP:
        return COVEY_ENOGROUP;
    case GROUP_ENOTASK:
        return COVEY_ENOTASK;
    case GROUP_ECANCELED:
        return COVEY_ECANCELED;
    case GROUP_ETOOMANY:
        break;
    }
    return COVEY_ERESOURCE;
}

static const char *text_of(enum group_error error)
{
    switch (error) {
    case GROUP_EINVAL:
        return "a bad name, or others wait at this barrier with another count";
    case GROUP_EEXIST:
        return "the task is a member, or waits at the barrier, already";
    case GROUP_ENOGROUP:
        return "the task is not a member of that group";
    case GROUP_ENOTASK:
        return "a member ended, the barrier's count cannot be reached any more";
    case GROUP_ECANCELED:
        return "the wait was given up";
    case GROUP_ETOOMANY:
        return "the group has too many members";
    case GROUP_ENOMEM:
        return "the coordinator's memory is exhausted";
    case GROUP_OK:
        break;
    }
    return "";
}

static void on_answer(void *context, uint32_t tid, uint32_t request, enum group_error result)
{
    struct daemon *d = context;
    if (result == GROUP_OK)
        reply_done(d, tid, request);
    else
        reply_error(d, tid, request, error_of(result), "%s", text_of(result));
}

struct group_table *groups_create(struct daemon *d)
{
    return group_table_create(on_answer, d);
}

/* Reads a request; NULL when it is to be carried out here, otherwise why not ("": answered). */
static const char *request_refused(struct daemon *d, uint32_t source, struct cursor *payload,
                                   struct control_group *group, bool with_count)
{
    control_get_group(payload, group, with_count);
    if (!cursor_done(payload))
        return "bad payload";
    return hosts_not_coordinator(d, source, group->request) ? "" : NULL;
}

static const char *refused_or_answered(const char *refused)
{
    return refused[0] == '\0' ? NULL : refused;
}

const char *groups_on_join(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct control_group group;
    const char *refused = request_refused(d, source, payload, &group, false);
    if (refused != NULL)
        return refused_or_answered(refused);
    int32_t instance = group_join(d->groups, group.name, source);
    if (instance < 0) {
        on_answer(d, source, group.request, (enum group_error)instance);
        return NULL;
    }
    watch_start(d, source);
    struct reply reply;
    reply_begin(&reply, d, source, group.request);
    struct cursor c = reply_room(&reply, sizeof(uint32_t));
    cursor_put_u32(&c, (uint32_t)instance);
    reply_add(&reply, &c);
    reply_send(&reply, 0);
    return NULL;
}

const char *groups_on_leave(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct control_group group;
    const char *refused = request_refused(d, source, payload, &group, false);
    if (refused != NULL)
        return refused_or_answered(refused);
    on_answer(d, source, group.request, group_leave(d->groups, group.name, source));
    return NULL;
}

static void members_reply(struct daemon *d, uint32_t source, const struct control_group *group,
                          size_t count)
{
    struct group_member *members = calloc(count, sizeof *members);
    if (members == NULL) {
        on_answer(d, source, group->request, GROUP_ENOMEM);
        return;
    }
    struct reply reply;
    reply_begin(&reply, d, source, group->request);
    count = group_members(d->groups, group->name, members, count);
    for (size_t i = 0; i < count; i++) {
        struct cursor c = reply_room(&reply, MEMBER_BYTES);
        cursor_put_u32(&c, members[i].instance);
        cursor_put_u32(&c, members[i].tid);
        reply_add(&reply, &c);
    }
    reply_send(&reply, 0);
    free(members);
}

const char *groups_on_members(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct control_group group;
    const char *refused = request_refused(d, source, payload, &group, false);
    if (refused != NULL)
        return refused_or_answered(refused);
    size_t count = group_members(d->groups, group.name, NULL, 0);
    if (count == 0)
        on_answer(d, source, group.request, GROUP_ENOGROUP);
    else
        members_reply(d, source, &group, count);
    return NULL;
}

const char *groups_on_barrier(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct control_group group;
    const char *refused = request_refused(d, source, payload, &group, true);
    if (refused != NULL)
        return refused_or_answered(refused);
    enum group_error error =
        group_barrier(d->groups, group.name, source, group.request, group.count);
    if (error != GROUP_OK)
        on_answer(d, source, group.request, error);
    return NULL;
}

const char *groups_on_cancel(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    if (!cursor_done(payload))
        return "bad payload";
    group_cancel(d->groups, source, request);
    return NULL;
}

void groups_task_gone(struct daemon *d, uint32_t tid)
{
    group_task_gone(d->groups, tid);
}

void groups_host_gone(struct daemon *d, uint32_t host)
{
    group_host_gone(d->groups, host);
}
