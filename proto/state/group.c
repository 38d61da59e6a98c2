/*
 * group.c - groups, instances and barriers. A group is an array of members ordered by instance;
 * a member that waits at the barrier is marked with its request, so that a barrier needs no list
 * of its own and its waiters end with the membership.
 *
 * After every change of a group the barrier is looked at once (barrier_check): it opens when enough
 * wait; it fails when a member has gone and its count can no longer be reached.
 */
#include "proto/state/group.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/frame.h"
#include "proto/wire/grow.h"
#include "proto/wire/list.h"

#define MEMBERS_FIRST 8

struct member {
    uint32_t tid;
    uint32_t instance;
    bool waiting;
    uint32_t request;
};

struct group {
    struct group *next;
    char name[GROUP_NAME_MAX + 1];
    struct member *members; /* by instance, ascending */
    size_t count, capacity;
    size_t waiting;
    uint32_t barrier_count; /* as the first waiter asked */
};

struct group_table {
    struct group *first;
    group_answer *answer;
    void *context;
};

struct group_table *group_table_create(group_answer *answer, void *context)
{
    struct group_table *table = calloc(1, sizeof *table);
    if (table != NULL)
        *table = (struct group_table){.answer = answer, .context = context};
    return table;
}

static void group_free(struct group *group)
{
    free(group->members);
    free(group);
}

void group_table_destroy(struct group_table *table)
{
    while (table != NULL && table->first != NULL) {
        struct group *next = table->first->next;
        group_free(table->first);
        table->first = next;
    }
    free(table);
}

static struct group *group_find(const struct group_table *table, const char *name)
{
    struct group *group = table->first;
    while (group != NULL && strcmp(group->name, name) != 0)
        group = group->next;
    return group;
}

static struct member *member_find(struct group *group, uint32_t tid)
{
    for (size_t i = 0; group != NULL && i < group->count; i++)
        if (group->members[i].tid == tid)
            return &group->members[i];
    return NULL;
}

size_t group_count(const struct group_table *table)
{
    size_t count = 0;
    for (const struct group *group = table->first; group != NULL; group = group->next)
        count++;
    return count;
}

/* ---- barriers ---- */

/* Answers all that wait; the barrier is then free for its next use. */
static void barrier_end(struct group_table *table, struct group *group, enum group_error result)
{
    for (size_t i = 0; i < group->count; i++) {
        struct member *m = &group->members[i];
        if (!m->waiting)
            continue;
        m->waiting = false;
        table->answer(table->context, m->tid, m->request, result);
    }
    group->waiting = 0;
}

static void barrier_check(struct group_table *table, struct group *group, bool member_went)
{
    size_t wanted = group->barrier_count == 0 ? group->count : group->barrier_count;
    if (group->waiting == 0)
        return;
    if (group->waiting >= wanted)
        barrier_end(table, group, GROUP_OK);
    else if (member_went && wanted > group->count)
        barrier_end(table, group, GROUP_ENOTASK);
}

static void member_unwait(struct group_table *table, struct group *group, struct member *m,
                          bool answer)
{
    if (!m->waiting)
        return;
    assert(group->waiting > 0);
    m->waiting = false;
    group->waiting--;
    if (answer)
        table->answer(table->context, m->tid, m->request, GROUP_ECANCELED);
}

enum group_error group_barrier(struct group_table *table, const char *name, uint32_t tid,
                               uint32_t request, uint32_t count)
{
    struct group *group = group_find(table, name);
    struct member *m = member_find(group, tid);
    if (m == NULL)
        return GROUP_ENOGROUP;
    if (m->waiting)
        return GROUP_EEXIST;
    if (count > GROUP_MEMBERS_MAX || (group->waiting > 0 && group->barrier_count != count))
        return GROUP_EINVAL;
    group->barrier_count = count;
    m->waiting = true;
    m->request = request;
    group->waiting++;
    barrier_check(table, group, false);
    return GROUP_OK;
}

void group_cancel(struct group_table *table, uint32_t tid, uint32_t request)
{
    for (struct group *group = table->first; group != NULL; group = group->next) {
        struct member *m = member_find(group, tid);
        if (m != NULL && m->waiting && m->request == request)
            member_unwait(table, group, m, true);
    }
}

/* ---- members ---- */

static struct group *group_new(const char *name)
{
    struct group *group = calloc(1, sizeof *group);
    if (group != NULL)
        memcpy(group->name, name, strlen(name) + 1);
    return group;
}

static void group_remove(struct group_table *table, struct group *group)
{
    UNLINK(table->first, group, next);
    group_free(group);
}

static int32_t member_add(struct group_table *table, struct group *group, uint32_t tid)
{
    if (!GROW(group->members, group->capacity, group->count + 1, MEMBERS_FIRST)) {
        if (group->count == 0)
            group_remove(table, group);
        return GROUP_ENOMEM;
    }
    /* Members are ordered by instance, so the first gap is where place and instance differ. */
    size_t i = 0;
    while (i < group->count && group->members[i].instance == i)
        i++;
    size_t at = i;
    memmove(&group->members[at + 1], &group->members[at],
            (group->count - at) * sizeof group->members[0]);
    group->members[at] = (struct member){.tid = tid, .instance = (uint32_t)at};
    group->count++;
    return (int32_t)at;
}

int32_t group_join(struct group_table *table, const char *name, uint32_t tid)
{
    size_t size = strlen(name);
    if (size == 0 || size > GROUP_NAME_MAX)
        return GROUP_EINVAL;
    struct group *group = group_find(table, name);
    if (member_find(group, tid) != NULL)
        return GROUP_EEXIST;
    if (group != NULL && group->count >= GROUP_MEMBERS_MAX)
        return GROUP_ETOOMANY;
    if (group == NULL) {
        group = group_new(name);
        if (group == NULL)
            return GROUP_ENOMEM;
        group->next = table->first;
        table->first = group;
    }
    return member_add(table, group, tid);
}

/* Takes the i-th member out; the group may be gone afterwards. */
static void member_remove(struct group_table *table, struct group *group, size_t i, bool answer)
{
    assert(i < group->count && group->waiting <= group->count);
    member_unwait(table, group, &group->members[i], answer);
    group->count--;
    memmove(&group->members[i], &group->members[i + 1],
            (group->count - i) * sizeof group->members[0]);
    barrier_check(table, group, true);
    if (group->count == 0)
        group_remove(table, group);
}

enum group_error group_leave(struct group_table *table, const char *name, uint32_t tid)
{
    struct group *group = group_find(table, name);
    struct member *m = member_find(group, tid);
    if (m == NULL)
        return GROUP_ENOGROUP;
    member_remove(table, group, (size_t)(m - group->members), true);
    return GROUP_OK;
}

size_t group_members(const struct group_table *table, const char *name,
                     struct group_member *members, size_t capacity)
{
    const struct group *group = group_find(table, name);
    if (group == NULL)
        return 0;
    for (size_t i = 0; i < group->count && i < capacity; i++)
        members[i] = (struct group_member){.tid = group->members[i].tid,
                                           .instance = group->members[i].instance};
    return group->count;
}

void group_task_gone(struct group_table *table, uint32_t tid)
{
    for (struct group *group = table->first, *next; group != NULL; group = next) {
        next = group->next;
        struct member *m = member_find(group, tid);
        if (m != NULL)
            member_remove(table, group, (size_t)(m - group->members), false);
    }
}

void group_host_gone(struct group_table *table, uint32_t host)
{
    for (struct group *group = table->first, *next; group != NULL; group = next) {
        next = group->next;
        /* Takes out every member of the host before the barrier is looked at, so that a barrier of
         * those that remain does not fail one by one. */
        size_t kept = 0;
        for (size_t i = 0; i < group->count; i++) {
            struct member *m = &group->members[i];
            if (tid_host(m->tid) == host)
                member_unwait(table, group, m, false);
            else
                group->members[kept++] = *m;
        }
        bool went = kept < group->count;
        group->count = kept;
        barrier_check(table, group, went);
        if (group->count == 0)
            group_remove(table, group);
    }
}

/* ---- bytes ----
 *   groups = count=u32 *(name=text barrier-count=u32 count=u32 *member)  ; in the order of the list
 *   member = tid=u32 instance=u32 waiting=u8 request=u32
 */

bool group_list(const struct group_table *table, const char *name, struct cursor *c)
{
    const struct group *group = group_find(table, name);
    for (size_t i = 0; group != NULL && i < group->count; i++) {
        cursor_put_u32(c, group->members[i].instance);
        cursor_put_u32(c, group->members[i].tid);
    }
    return group != NULL;
}

void group_table_save(const struct group_table *table, struct cursor *c)
{
    cursor_put_u32(c, (uint32_t)group_count(table));
    for (const struct group *group = table->first; group != NULL; group = group->next) {
        cursor_put_text(c, group->name);
        cursor_put_u32(c, group->barrier_count);
        cursor_put_u32(c, (uint32_t)group->count);
        for (size_t i = 0; i < group->count; i++) {
            cursor_put_u32(c, group->members[i].tid);
            cursor_put_u32(c, group->members[i].instance);
            cursor_put_u8(c, group->members[i].waiting);
            cursor_put_u32(c, group->members[i].request);
        }
    }
}

/* The next member by instance. */
static bool member_load(struct group *group, struct cursor *c)
{
    struct member m = {.tid = cursor_get_u32(c), .instance = cursor_get_u32(c)};
    uint8_t waiting = cursor_get_u8(c);
    m.waiting = waiting == 1;
    m.request = cursor_get_u32(c);
    bool in_order = group->count == 0 || group->members[group->count - 1].instance < m.instance;
    if (!cursor_ok(c) || waiting > 1 || !in_order || m.instance > INT32_MAX ||
        !GROW(group->members, group->capacity, group->count + 1, MEMBERS_FIRST))
        return false;
    group->members[group->count++] = m;
    group->waiting += m.waiting;
    return true;
}

bool group_table_load(struct group_table *table, struct cursor *c)
{
    struct group **end = &table->first;
    uint32_t count = cursor_get_u32(c);
    for (uint32_t i = 0; i < count; i++) {
        char name[GROUP_NAME_MAX + 1];
        cursor_get_text(c, name, sizeof name);
        struct group *group =
            name[0] == '\0' || group_find(table, name) != NULL ? NULL : group_new(name);
        if (group == NULL)
            return false;
        *end = group;
        end = &group->next;
        group->barrier_count = cursor_get_u32(c);
        uint32_t members = cursor_get_u32(c);
        if (members == 0 || members > GROUP_MEMBERS_MAX)
            return false;
        while (group->count < members)
            if (!member_load(group, c))
                return false;
    }
    return cursor_ok(c);
}
