/*
 * view.c - the sessions: each with its members in the order of joining, a ring of its last changes,
 * who listens for the next view, and the shared value. view.h says what they promise.
 *
 * Invariants: a session has at least one member, and its number is that of its present view. Only
 * members listen, each at most once, and they have seen the present view. The history holds the
 * changes that made the views number - kept + 1 .. number; change n lies at n % VIEW_HISTORY.
 */
#include "proto/view.h"

#include <stdlib.h>
#include <string.h>

#include "proto/listeners.h"
#include "proto/names.h"
#include "proto/state_engine.h"

#define MEMBERS_FIRST 8
#define VIEWS_HEAD_BYTES 13
#define VIEWS_BYTES_MAX (VIEWS_HEAD_BYTES + VIEW_MEMBERS_MAX * 4)

_Static_assert(VIEWS_BYTES_MAX <= EVENT_BODY_MAX, "a roster is an answer");
_Static_assert(VIEW_HISTORY * 5 <= VIEW_MEMBERS_MAX * 4, "so is the whole history");
_Static_assert(VIEW_MEMBERS_MAX <= LISTENERS_MAX, "every member may listen");

struct change {
    uint8_t kind; /* enum view_change */
    uint32_t task;
};

struct session {
    struct name name;  /* first: both have one address */
    uint64_t number;   /* of the present view */
    uint32_t *members; /* in the order of joining */
    size_t count, capacity;
    struct listeners listeners;
    size_t kept; /* changes in the history */
    struct change history[VIEW_HISTORY];
    struct {
        uint64_t version; /* 0: never put */
        uint64_t view;    /* in which it was put */
        uint32_t author;
        size_t size;
        uint8_t bytes[VIEW_VALUE_MAX];
    } value;
};

struct views {
    struct state *state;
    struct names sessions;
    uint64_t floor; /* of sessions that ended: no number up to this comes again */
};

/* ---- sessions ---- */

static struct session *first_of(const struct views *v)
{
    return (struct session *)v->sessions.first;
}

static struct session *next_of(const struct session *s)
{
    return (struct session *)s->name.next;
}

static struct session *session_find(const struct views *v, const char *name)
{
    return (struct session *)names_find(&v->sessions, name);
}

static size_t position_of(const struct session *s, uint32_t task)
{
    size_t i = 0;

    while (i < s->count && s->members[i] != task)
        i++;
    return i;
}

static bool is_member(const struct session *s, uint32_t task)
{
    return s != NULL && position_of(s, task) < s->count;
}

static void session_drop(struct views *v, struct session *s)
{
    /* whoever makes a session of that name again goes on with larger numbers */
    if (s->number > v->floor)
        v->floor = s->number;
    listeners_clear(&s->listeners);
    free(s->members);
    names_remove(&v->sessions, &s->name);
}

static void *views_create(struct state *state)
{
    struct views *v = calloc(1, sizeof *v);

    if (v != NULL)
        v->state = state;
    return v;
}

static void views_destroy(void *engine)
{
    struct views *v = engine;

    while (first_of(v) != NULL)
        session_drop(v, first_of(v));
    free(v);
}

/* ---- what members are told ---- */

static const struct change *change_of(const struct session *s, uint64_t number)
{
    return &s->history[number % VIEW_HISTORY];
}

static void put_head(struct cursor *c, uint64_t first, enum view_form form, size_t count)
{
    cursor_put_u64(c, first);
    cursor_put_u8(c, form);
    cursor_put_u32(c, (uint32_t)count);
}

static void put_roster(struct cursor *c, const struct session *s)
{
    put_head(c, s->number, VIEWS_ROSTER, s->count);
    for (size_t i = 0; i < s->count; i++)
        cursor_put_u32(c, s->members[i]);
}

static void put_changes(struct cursor *c, const struct session *s, uint64_t seen)
{
    put_head(c, seen + 1, VIEWS_CHANGES, (size_t)(s->number - seen));
    for (uint64_t number = seen + 1; number <= s->number; number++) {
        cursor_put_u8(c, change_of(s, number)->kind);
        cursor_put_u32(c, change_of(s, number)->task);
    }
}

static bool excludes(const struct change *change, uint32_t task)
{
    if (change->kind == VIEW_HOST_LOST)
        return tid_host(change->task) == tid_host(task);
    return change->kind != VIEW_JOINED && change->task == task;
}

/* By the last change that took the task out, if that is still known. */
static void put_excluded(struct cursor *c, const struct session *s, uint32_t task)
{
    uint64_t number = s == NULL ? 0 : s->number, oldest = s == NULL ? 0 : s->number - s->kept;

    while (number > oldest && !excludes(change_of(s, number), task))
        number--;
    put_head(c, number > oldest ? number : 0, VIEWS_EXCLUDED, 0);
    cursor_put_u8(c, number > oldest ? change_of(s, number)->kind : 0);
}

/* What came after the view `seen`; the whole when the history is too short, or such a view never
 * was. */
static void put_views(struct cursor *c, const struct session *s, uint32_t task, uint64_t seen)
{
    if (!is_member(s, task))
        put_excluded(c, s, task);
    else if (seen <= s->number && s->number - seen <= s->kept)
        put_changes(c, s, seen);
    else
        put_roster(c, s);
}

static void answer(struct views *v, const struct state_request *to, int32_t status)
{
    state_answer(v->state, to, status, NULL, 0);
}

static void answer_views(struct views *v, const struct state_request *to, const struct session *s,
                         uint64_t seen)
{
    uint8_t body[VIEWS_BYTES_MAX];
    struct cursor c = cursor_writer(body, sizeof body);

    put_views(&c, s, to->task, seen);
    state_answer(v->state, to, STATE_OK, body, (size_t)(c.at - body));
}

/* The membership has changed: that is the next view. */
static void session_record(struct session *s, uint8_t kind, uint32_t task)
{
    s->number++;
    s->kept += s->kept < VIEW_HISTORY;
    s->history[s->number % VIEW_HISTORY] = (struct change){.kind = kind, .task = task};
}

/* All that remain hear of it. */
static void session_settle(struct views *v, struct session *s)
{
    for (size_t i = 0; i < s->listeners.count; i++) {
        const struct listener *l = &s->listeners.list[i];

        answer_views(v, &(struct state_request){.task = l->task, .request = l->request}, s,
                     l->after);
    }
    s->listeners.count = 0;
    if (s->count == 0)
        session_drop(v, s);
}

/* ---- joining ---- */

static bool members_reserve(struct session *s)
{
    size_t capacity = s->capacity == 0 ? MEMBERS_FIRST : s->capacity * 2;
    uint32_t *members;

    if (s->count < s->capacity)
        return true;
    members = realloc(s->members, capacity * sizeof *members);
    if (members == NULL)
        return false;
    s->members = members;
    s->capacity = capacity;
    return true;
}

static bool member_add(struct session *s, uint32_t task)
{
    if (!members_reserve(s))
        return false;
    s->members[s->count++] = task;
    return true;
}

static struct session *session_get(struct views *v, const char *name)
{
    struct session *s = session_find(v, name);

    if (s != NULL)
        return s;
    s = names_add(&v->sessions, name, sizeof *s);
    if (s != NULL)
        s->number = v->floor > state_base(v->state) ? v->floor : state_base(v->state);
    return s;
}

static int32_t join_refusal(const struct views *v, const struct session *s, uint32_t task)
{
    if (s == NULL)
        return v->sessions.count >= VIEW_SESSIONS_MAX ? STATE_ERESOURCE : STATE_OK;
    if (is_member(s, task))
        return STATE_EEXIST;
    return s->count >= VIEW_MEMBERS_MAX ? STATE_ERESOURCE : STATE_OK;
}

static void join(struct views *v, const struct state_request *r, const char *name)
{
    int32_t refusal = join_refusal(v, session_find(v, name), r->task);
    struct session *s = refusal == STATE_OK ? session_get(v, name) : NULL;

    if (refusal != STATE_OK) {
        answer(v, r, refusal);
    } else if (s == NULL || !member_add(s, r->task)) {
        state_exhausted(v->state);
    } else {
        session_record(s, VIEW_JOINED, r->task);
        session_settle(v, s);
        answer_views(v, r, s, UINT64_MAX);
    }
}

/* ---- leaving ---- */

static void member_take_out(struct session *s, uint32_t task)
{
    size_t at = position_of(s, task);

    s->count--;
    memmove(&s->members[at], &s->members[at + 1], (s->count - at) * sizeof s->members[0]);
}

static void leave(struct views *v, const struct state_request *r, const char *name)
{
    struct session *s = session_find(v, name);

    if (!is_member(s, r->task)) {
        answer(v, r, STATE_ENOGROUP);
        return;
    }
    member_take_out(s, r->task);
    session_record(s, VIEW_LEFT, r->task);
    session_settle(v, s);
    answer(v, r, STATE_OK);
}

static int32_t expel_refusal(const struct session *s, const struct state_request *r, uint32_t task)
{
    if (!is_member(s, r->task))
        return STATE_ENOGROUP;
    if (task == r->task)
        return STATE_EINVAL;
    return is_member(s, task) ? STATE_OK : STATE_ENOTASK;
}

static void expel(struct views *v, const struct state_request *r, const char *name, uint32_t task)
{
    struct session *s = session_find(v, name);
    int32_t refusal = expel_refusal(s, r, task);
    uint8_t body[8];
    struct cursor c = cursor_writer(body, sizeof body);

    if (refusal != STATE_OK) {
        answer(v, r, refusal);
        return;
    }
    member_take_out(s, task);
    session_record(s, VIEW_EXPELLED, task);
    session_settle(v, s);
    cursor_put_u64(&c, s->number);
    state_answer(v->state, r, STATE_OK, body, sizeof body);
}

/* How many members went with the host, or are the task. */
static size_t take_out_gone(struct session *s, const struct state_gone *gone)
{
    size_t kept = 0, before = s->count;

    for (size_t i = 0; i < before; i++)
        if (!state_is_gone(gone, s->members[i]))
            s->members[kept++] = s->members[i];
    s->count = kept;
    return before - kept;
}

/* All members of a host leave in one view. */
static void views_gone(void *engine, const struct state_gone *gone)
{
    struct views *v = engine;

    for (struct session *s = first_of(v), *next; s != NULL; s = next) {
        next = next_of(s);
        listeners_drop_gone(&s->listeners, gone);
        if (take_out_gone(s, gone) == 0)
            continue;
        if (gone->task != 0)
            session_record(s, VIEW_ENDED, gone->task);
        else
            session_record(s, VIEW_HOST_LOST, tid_make(gone->host, 0));
        session_settle(v, s);
    }
}

/* ---- waiting ---- */

static void listen(struct views *v, const struct state_request *r, const char *name, uint64_t seen)
{
    struct session *s = session_find(v, name);
    struct listener listener = {.task = r->task, .request = r->request, .after = seen};

    if (s != NULL)
        listeners_drop_task(&s->listeners, r->task);
    if (!is_member(s, r->task) || seen != s->number)
        answer_views(v, r, s, seen);
    else if (!listeners_add(&s->listeners, &listener))
        state_exhausted(v->state);
}

static void views_cancel(void *engine, uint32_t task, uint32_t request)
{
    struct views *v = engine;

    for (struct session *s = first_of(v); s != NULL; s = next_of(s))
        if (listeners_cancel(&s->listeners, task, request))
            answer(v, &(struct state_request){.task = task, .request = request}, STATE_ECANCELED);
}

/* ---- the value ---- */

/* Versions are numbers of the whole VM: one that was read in a session that has ended is not that
 * of another one. */
static void value_replace(struct session *s, uint32_t author, uint64_t version,
                          struct cursor *bytes)
{
    s->value.version = version;
    s->value.author = author;
    s->value.view = s->number;
    s->value.size = cursor_left(bytes);
    cursor_get_bytes(bytes, s->value.bytes, s->value.size);
}

static void put(struct views *v, const struct state_request *r, const char *name,
                struct cursor *body)
{
    struct session *s = session_find(v, name);
    uint64_t version = cursor_get_u64(body);
    uint8_t bytes[9];
    struct cursor c = cursor_writer(bytes, sizeof bytes);

    if (!is_member(s, r->task) || cursor_left(body) > VIEW_VALUE_MAX) {
        answer(v, r, is_member(s, r->task) ? STATE_EINVAL : STATE_ENOGROUP);
        return;
    }
    cursor_put_u8(&c, version == s->value.version);
    if (version == s->value.version)
        value_replace(s, r->task, state_fence(v->state), body);
    cursor_put_u64(&c, s->value.version);
    state_answer(v->state, r, STATE_OK, bytes, sizeof bytes);
}

static int32_t get(const struct session *s, uint32_t task, struct cursor *out)
{
    if (!is_member(s, task))
        return STATE_ENOGROUP;
    cursor_put_u64(out, s->value.version);
    cursor_put_u32(out, s->value.author);
    cursor_put_u64(out, s->value.view);
    cursor_put_bytes(out, s->value.bytes, s->value.size);
    return STATE_OK;
}

/* ---- commands ---- */

/* What follows the name; false: makes no sense. */
static bool is_well_formed(const struct state_request *r, struct cursor rest, uint64_t *number)
{
    *number = 0;
    if (r->kind == COMMAND_VIEW_EXPEL)
        *number = cursor_get_u32(&rest);
    else if (r->kind != COMMAND_VIEW_JOIN && r->kind != COMMAND_VIEW_LEAVE)
        *number = cursor_get_u64(&rest);
    return r->kind == COMMAND_VIEW_PUT ? cursor_ok(&rest) : cursor_done(&rest);
}

static bool views_apply(void *engine, const struct state_request *r, struct cursor *body)
{
    char name[NAME_BYTES_MAX + 1];
    bool named = name_get(body, name);
    uint64_t number;

    if (!is_well_formed(r, *body, &number))
        return false;
    if (!named)
        answer(engine, r, STATE_EINVAL);
    else if (r->kind == COMMAND_VIEW_JOIN)
        join(engine, r, name);
    else if (r->kind == COMMAND_VIEW_LEAVE)
        leave(engine, r, name);
    else if (r->kind == COMMAND_VIEW_EXPEL)
        expel(engine, r, name, (uint32_t)number);
    else if (r->kind == COMMAND_VIEW_NEXT)
        listen(engine, r, name, number);
    else
        put(engine, r, name, body);
    return true;
}

static int32_t views_query(const void *engine, const struct state_request *r, struct cursor *body,
                           struct cursor *out)
{
    char name[NAME_BYTES_MAX + 1];
    bool named = name_get(body, name);
    uint64_t seen = r->kind == COMMAND_VIEW_LOOK ? cursor_get_u64(body) : 0;

    if (!named || !cursor_done(body))
        return STATE_EINVAL;
    if (r->kind == COMMAND_VIEW_GET)
        return get(session_find(engine, name), r->task, out);
    put_views(out, session_find(engine, name), r->task, seen);
    return STATE_OK;
}

/* ---- snapshots ----
 *   sessions = floor=u64 count=u32 count*session
 *   session  = name=text number=u64 members=u32 members*(task=u32) kept=u8 kept*change listeners
 *              version=u64 view=u64 author=u32 size=u16 size*u8
 *   change   = kind=u8 task=u32        ; of the views number - kept + 1 .. number
 */

static void history_put(struct cursor *c, const struct session *s)
{
    cursor_put_u8(c, (uint8_t)s->kept);
    for (uint64_t number = s->number - s->kept + 1; number <= s->number; number++) {
        cursor_put_u8(c, change_of(s, number)->kind);
        cursor_put_u32(c, change_of(s, number)->task);
    }
}

static bool history_get(struct cursor *c, struct session *s)
{
    s->kept = cursor_get_u8(c);
    if (s->kept > VIEW_HISTORY || s->kept > s->number)
        return false;
    for (uint64_t number = s->number - s->kept + 1; number <= s->number; number++) {
        struct change *change = &s->history[number % VIEW_HISTORY];

        change->kind = cursor_get_u8(c);
        change->task = cursor_get_u32(c);
    }
    return cursor_ok(c);
}

static void value_put(struct cursor *c, const struct session *s)
{
    cursor_put_u64(c, s->value.version);
    cursor_put_u64(c, s->value.view);
    cursor_put_u32(c, s->value.author);
    cursor_put_u16(c, (uint16_t)s->value.size);
    cursor_put_bytes(c, s->value.bytes, s->value.size);
}

static bool value_get(struct cursor *c, struct session *s)
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

static void views_save(const void *engine, struct cursor *c)
{
    const struct views *v = engine;

    cursor_put_u64(c, v->floor);
    cursor_put_u32(c, (uint32_t)v->sessions.count);
    for (const struct session *s = first_of(v); s != NULL; s = next_of(s)) {
        cursor_put_text(c, s->name.text);
        cursor_put_u64(c, s->number);
        cursor_put_u32(c, (uint32_t)s->count);
        for (size_t i = 0; i < s->count; i++)
            cursor_put_u32(c, s->members[i]);
        history_put(c, s);
        listeners_save(&s->listeners, c);
        value_put(c, s);
    }
}

static bool members_get(struct cursor *c, struct session *s)
{
    uint32_t count = cursor_get_u32(c);

    if (count == 0 || count > VIEW_MEMBERS_MAX)
        return false;
    for (uint32_t i = 0; i < count && cursor_ok(c); i++)
        if (!member_add(s, cursor_get_u32(c)))
            return false;
    return cursor_ok(c);
}

static bool session_load(struct views *v, struct cursor *c)
{
    char name[NAME_BYTES_MAX + 1];
    struct session *s;

    if (!name_get(c, name) || session_find(v, name) != NULL)
        return false;
    s = names_add(&v->sessions, name, sizeof *s);
    if (s == NULL)
        return false;
    s->number = cursor_get_u64(c);
    return members_get(c, s) && history_get(c, s) && listeners_load(&s->listeners, c) &&
           value_get(c, s);
}

static bool views_load(void *engine, struct cursor *c)
{
    struct views *v = engine;
    uint32_t count;

    v->floor = cursor_get_u64(c);
    count = cursor_get_u32(c);
    if (count > VIEW_SESSIONS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!session_load(v, c))
            return false;
    return cursor_ok(c);
}

const struct state_engine view_engine = {
    .create = views_create,
    .destroy = views_destroy,
    .apply = views_apply,
    .query = views_query,
    .cancel = views_cancel,
    .gone = views_gone,
    .save = views_save,
    .load = views_load,
};
