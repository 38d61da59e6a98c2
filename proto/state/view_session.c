/*
 * view_session.c - one session: its members in the order of joining, a ring of its last changes,
 * who listens for the next view, and the shared value.
 *
 * Invariants: its number is that of its present view. The history holds the changes that made the
 * views number - kept + 1 .. number; change n lies at n % VIEW_HISTORY.
 */
#include "proto/state/view_session.h"

#include <stdlib.h>
#include <string.h>

#include "proto/wire/grow.h"

#define MEMBERS_FIRST 8

/* ---- members ---- */

static size_t member_position(const struct view_session *s, uint32_t task)
{
    size_t i = 0;

    while (i < s->count && s->members[i] != task)
        i++;
    return i;
}

bool view_session_has(const struct view_session *s, uint32_t task)
{
    return s != NULL && member_position(s, task) < s->count;
}

bool view_session_add(struct view_session *s, uint32_t task)
{
    if (!GROW(s->members, s->capacity, s->count + 1, MEMBERS_FIRST))
        return false;
    s->members[s->count++] = task;
    return true;
}

void view_session_take_out(struct view_session *s, uint32_t task)
{
    size_t at = member_position(s, task);

    s->count--;
    memmove(&s->members[at], &s->members[at + 1], (s->count - at) * sizeof s->members[0]);
}

size_t view_session_take_out_gone(struct view_session *s, const struct state_gone *gone)
{
    size_t kept = 0, before = s->count;

    for (size_t i = 0; i < before; i++)
        if (!state_is_gone(gone, s->members[i]))
            s->members[kept++] = s->members[i];
    s->count = kept;
    return before - kept;
}

void view_session_record(struct view_session *s, uint8_t kind, uint32_t task)
{
    s->number++;
    s->kept += s->kept < VIEW_HISTORY;
    s->history[s->number % VIEW_HISTORY] = (struct view_session_change){.kind = kind, .task = task};
}

void view_session_clear(struct view_session *s)
{
    listeners_clear(&s->listeners);
    free(s->members);
}

/* ---- what members are told ---- */

static const struct view_session_change *change_of(const struct view_session *s, uint64_t number)
{
    return &s->history[number % VIEW_HISTORY];
}

static void put_view_head(struct cursor *c, uint64_t first, enum view_form form, size_t count)
{
    cursor_put_u64(c, first);
    cursor_put_u8(c, (uint8_t)form);
    cursor_put_u32(c, (uint32_t)count);
}

static void put_roster(struct cursor *c, const struct view_session *s)
{
    put_view_head(c, s->number, VIEWS_ROSTER, s->count);
    for (size_t i = 0; i < s->count; i++)
        cursor_put_u32(c, s->members[i]);
}

static void put_changes(struct cursor *c, const struct view_session *s, uint64_t seen)
{
    put_view_head(c, seen + 1, VIEWS_CHANGES, (size_t)(s->number - seen));
    for (uint64_t number = seen + 1; number <= s->number; number++) {
        cursor_put_u8(c, change_of(s, number)->kind);
        cursor_put_u32(c, change_of(s, number)->task);
    }
}

static bool excludes(const struct view_session_change *change, uint32_t task)
{
    if (change->kind == VIEW_HOST_LOST)
        return tid_host(change->task) == tid_host(task);
    return change->kind != VIEW_JOINED && change->task == task;
}

/* By the last change that took the task out, if that is still known. */
static void put_excluded(struct cursor *c, const struct view_session *s, uint32_t task)
{
    uint64_t number = s == NULL ? 0 : s->number, oldest = s == NULL ? 0 : s->number - s->kept;

    while (number > oldest && !excludes(change_of(s, number), task))
        number--;
    put_view_head(c, number > oldest ? number : 0, VIEWS_EXCLUDED, 0);
    cursor_put_u8(c, number > oldest ? change_of(s, number)->kind : 0);
}

void view_session_tell(struct cursor *c, const struct view_session *s, uint32_t task, uint64_t seen)
{
    if (!view_session_has(s, task))
        put_excluded(c, s, task);
    else if (seen <= s->number && s->number - seen <= s->kept)
        put_changes(c, s, seen);
    else
        put_roster(c, s);
}

/* ---- the value ---- */

void view_session_put(struct view_session *s, uint32_t author, uint64_t version,
                      struct cursor *bytes)
{
    s->value.version = version;
    s->value.author = author;
    s->value.view = s->number;
    s->value.size = cursor_left(bytes);
    cursor_get_bytes(bytes, s->value.bytes, s->value.size);
}

/* ---- snapshots ----
 *   session  = number=u64 members=u32 members*(task=u32) kept=u8 kept*change listeners
 *              version=u64 view=u64 author=u32 size=u16 size*u8
 *   change   = kind=u8 task=u32        ; of the views number - kept + 1 .. number
 */

static bool history_get(struct cursor *c, struct view_session *s)
{
    s->kept = cursor_get_u8(c);
    if (s->kept > VIEW_HISTORY || s->kept > s->number)
        return false;
    for (uint64_t number = s->number - s->kept + 1; number <= s->number; number++) {
        struct view_session_change *change = &s->history[number % VIEW_HISTORY];

        change->kind = cursor_get_u8(c);
        change->task = cursor_get_u32(c);
    }
    return cursor_ok(c);
}

static bool value_get(struct cursor *c, struct view_session *s)
{
    size_t size;

    s->value.version = cursor_get_u64(c);
    s->value.view = cursor_get_u64(c);
    s->value.author = cursor_get_u32(c);
    size = cursor_get_u16(c);
    if (size > VIEW_VALUE_MAX)
        return false;
    s->value.size = size;
    cursor_get_bytes(c, s->value.bytes, size);
    return cursor_ok(c);
}

void view_session_save(const struct view_session *s, struct cursor *c)
{
    cursor_put_u64(c, s->number);
    cursor_put_u32(c, (uint32_t)s->count);
    for (size_t i = 0; i < s->count; i++)
        cursor_put_u32(c, s->members[i]);
    cursor_put_u8(c, (uint8_t)s->kept);
    for (uint64_t number = s->number - s->kept + 1; number <= s->number; number++) {
        cursor_put_u8(c, change_of(s, number)->kind);
        cursor_put_u32(c, change_of(s, number)->task);
    }
    listeners_save(&s->listeners, c);
    cursor_put_u64(c, s->value.version);
    cursor_put_u64(c, s->value.view);
    cursor_put_u32(c, s->value.author);
    cursor_put_u16(c, (uint16_t)s->value.size);
    cursor_put_bytes(c, s->value.bytes, s->value.size);
}

static bool members_get(struct cursor *c, struct view_session *s)
{
    uint32_t count = cursor_get_u32(c);

    if (count == 0 || count > VIEW_MEMBERS_MAX)
        return false;
    for (uint32_t i = 0; i < count && cursor_ok(c); i++)
        if (!view_session_add(s, cursor_get_u32(c)))
            return false;
    return cursor_ok(c);
}

bool view_session_load(struct view_session *s, struct cursor *c)
{
    s->number = cursor_get_u64(c);
    return members_get(c, s) && history_get(c, s) && listeners_load(&s->listeners, c) &&
           value_get(c, s);
}
