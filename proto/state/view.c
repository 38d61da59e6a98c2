/*
 * view.c - the sessions, and what tasks ask of them; one of them is view_session.c. view.h says
 * what they promise.
 *
 * Invariants: a session has at least one member. Only members listen, each at most once, and they
 * have seen the present view.
 */
#include "proto/state/view.h"

#include <stdlib.h>

#include "proto/state/listeners.h"
#include "proto/state/state_engine.h"
#include "proto/state/view_session.h"
#include "proto/wire/names.h"

#define VIEWS_BYTES_MAX (VIEW_SESSION_HEAD_BYTES + VIEW_MEMBERS_MAX * 4)

_Static_assert(VIEWS_BYTES_MAX <= EVENT_BODY_MAX, "a roster is an answer");
_Static_assert(VIEW_HISTORY * 5 <= VIEW_MEMBERS_MAX * 4, "so is the whole history");
_Static_assert(VIEW_MEMBERS_MAX <= LISTENERS_MAX, "every member may listen");

struct views {
    struct state *state;
    struct names sessions;
    uint64_t floor; /* of sessions that ended: no number up to this comes again */
};

/* ---- sessions ---- */

static struct view_session *session_first(const struct views *v)
{
    return (struct view_session *)v->sessions.first;
}

static struct view_session *session_next(const struct view_session *s)
{
    return (struct view_session *)s->name.next;
}

static struct view_session *session_find(const struct views *v, const char *name)
{
    return (struct view_session *)names_find(&v->sessions, name);
}

static void session_drop(struct views *v, struct view_session *s)
{
    /* whoever makes a session of that name again goes on with larger numbers */
    if (s->number > v->floor)
        v->floor = s->number;
    view_session_clear(s);
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

    while (session_first(v) != NULL)
        session_drop(v, session_first(v));
    free(v);
}

/* ---- answers ---- */

static void views_answer(struct views *v, const struct state_request *to, int32_t status)
{
    state_answer(v->state, to, status, NULL, 0);
}

static void answer_views(struct views *v, const struct state_request *to,
                         const struct view_session *s, uint64_t seen)
{
    uint8_t body[VIEWS_BYTES_MAX];
    struct cursor c = cursor_writer(body, sizeof body);

    view_session_tell(&c, s, to->task, seen);
    state_answer(v->state, to, ERROR_OK, body, (size_t)(c.at - body));
}

/* All that remain hear of it. */
static void session_settle(struct views *v, struct view_session *s)
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

static struct view_session *session_get(struct views *v, const char *name)
{
    struct view_session *s = session_find(v, name);

    if (s != NULL)
        return s;
    s = names_add(&v->sessions, name, sizeof *s);
    if (s != NULL)
        s->number = v->floor > state_base(v->state) ? v->floor : state_base(v->state);
    return s;
}

static int32_t join_refusal(const struct views *v, const struct view_session *s, uint32_t task)
{
    if (s == NULL)
        return v->sessions.count >= VIEW_SESSIONS_MAX ? ERROR_ERESOURCE : ERROR_OK;
    if (view_session_has(s, task))
        return ERROR_EEXIST;
    return s->count >= VIEW_MEMBERS_MAX ? ERROR_ERESOURCE : ERROR_OK;
}

static void views_join(struct views *v, const struct state_request *r, const char *name)
{
    int32_t refusal = join_refusal(v, session_find(v, name), r->task);
    struct view_session *s = refusal == ERROR_OK ? session_get(v, name) : NULL;

    if (refusal != ERROR_OK) {
        views_answer(v, r, refusal);
    } else if (s == NULL || !view_session_add(s, r->task)) {
        state_exhausted(v->state);
    } else {
        view_session_record(s, VIEW_JOINED, r->task);
        session_settle(v, s);
        answer_views(v, r, s, UINT64_MAX);
    }
}

/* ---- leaving ---- */

static void leave(struct views *v, const struct state_request *r, const char *name)
{
    struct view_session *s = session_find(v, name);

    if (!view_session_has(s, r->task)) {
        views_answer(v, r, ERROR_ENOGROUP);
        return;
    }
    view_session_take_out(s, r->task);
    view_session_record(s, VIEW_LEFT, r->task);
    session_settle(v, s);
    views_answer(v, r, ERROR_OK);
}

static int32_t expel_refusal(const struct view_session *s, const struct state_request *r,
                             uint32_t task)
{
    if (!view_session_has(s, r->task))
        return ERROR_ENOGROUP;
    if (task == r->task)
        return ERROR_EINVAL;
    return view_session_has(s, task) ? ERROR_OK : ERROR_ENOTASK;
}

static void expel(struct views *v, const struct state_request *r, const char *name, uint32_t task)
{
    struct view_session *s = session_find(v, name);
    int32_t refusal = expel_refusal(s, r, task);
    uint8_t body[8];
    struct cursor c = cursor_writer(body, sizeof body);

    if (refusal != ERROR_OK) {
        views_answer(v, r, refusal);
        return;
    }
    view_session_take_out(s, task);
    view_session_record(s, VIEW_EXPELLED, task);
    session_settle(v, s);
    cursor_put_u64(&c, s->number);
    state_answer(v->state, r, ERROR_OK, body, sizeof body);
}

/* All members of a host leave in one view. */
static void views_gone(void *engine, const struct state_gone *gone)
{
    struct views *v = engine;

    for (struct view_session *s = session_first(v), *next; s != NULL; s = next) {
        next = session_next(s);
        listeners_drop_gone(&s->listeners, gone);
        if (view_session_take_out_gone(s, gone) == 0)
            continue;
        if (gone->task != 0)
            view_session_record(s, VIEW_ENDED, gone->task);
        else
            view_session_record(s, VIEW_HOST_LOST, tid_make(gone->host, 0));
        session_settle(v, s);
    }
}

/* ---- waiting ---- */

static void listen(struct views *v, const struct state_request *r, const char *name, uint64_t seen)
{
    struct view_session *s = session_find(v, name);
    struct listener listener = {.task = r->task, .request = r->request, .after = seen};

    if (s != NULL)
        listeners_drop_task(&s->listeners, r->task);
    if (!view_session_has(s, r->task) || seen != s->number)
        answer_views(v, r, s, seen);
    else if (!listeners_add(&s->listeners, &listener))
        state_exhausted(v->state);
}

static void views_cancel(void *engine, uint32_t task, uint32_t request)
{
    struct views *v = engine;

    for (struct view_session *s = session_first(v); s != NULL; s = session_next(s))
        if (listeners_cancel(&s->listeners, task, request))
            views_answer(v, &(struct state_request){.task = task, .request = request},
                         ERROR_ECANCELED);
}

/* ---- the value ---- */

static void views_put(struct views *v, const struct state_request *r, const char *name,
                      struct cursor *body)
{
    struct view_session *s = session_find(v, name);
    uint64_t version = cursor_get_u64(body);
    uint8_t bytes[9];
    struct cursor c = cursor_writer(bytes, sizeof bytes);

    if (!view_session_has(s, r->task) || cursor_left(body) > VIEW_VALUE_MAX) {
        views_answer(v, r, view_session_has(s, r->task) ? ERROR_EINVAL : ERROR_ENOGROUP);
        return;
    }
    cursor_put_u8(&c, version == s->value.version);
    if (version == s->value.version)
        view_session_put(s, r->task, state_fence(v->state), body);
    cursor_put_u64(&c, s->value.version);
    state_answer(v->state, r, ERROR_OK, bytes, sizeof bytes);
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
        views_answer(engine, r, ERROR_EINVAL);
    else if (r->kind == COMMAND_VIEW_JOIN)
        views_join(engine, r, name);
    else if (r->kind == COMMAND_VIEW_LEAVE)
        leave(engine, r, name);
    else if (r->kind == COMMAND_VIEW_EXPEL)
        expel(engine, r, name, (uint32_t)number);
    else if (r->kind == COMMAND_VIEW_NEXT)
        listen(engine, r, name, number);
    else
        views_put(engine, r, name, body);
    return true;
}

static int32_t views_query(const void *engine, const struct state_request *r, struct cursor *body,
                           struct cursor *out)
{
    char name[NAME_BYTES_MAX + 1];
    bool named = name_get(body, name);
    uint64_t seen = r->kind == COMMAND_VIEW_LOOK ? cursor_get_u64(body) : 0;

    if (!named || !cursor_done(body))
        return ERROR_EINVAL;
    const struct view_session *s = session_find(engine, name);
    if (r->kind != COMMAND_VIEW_GET) {
        view_session_tell(out, s, r->task, seen);
        return ERROR_OK;
    }
    if (!view_session_has(s, r->task))
        return ERROR_ENOGROUP;
    cursor_put_u64(out, s->value.version);
    cursor_put_u32(out, s->value.author);
    cursor_put_u64(out, s->value.view);
    cursor_put_bytes(out, s->value.bytes, s->value.size);
    return ERROR_OK;
}

/* ---- snapshots ----
 *   sessions = floor=u64 count=u32 count*(name=text session) ; see view_session.c
 */

static void views_save(const void *engine, struct cursor *c)
{
    const struct views *v = engine;

    cursor_put_u64(c, v->floor);
    cursor_put_u32(c, (uint32_t)v->sessions.count);
    for (const struct view_session *s = session_first(v); s != NULL; s = session_next(s)) {
        cursor_put_text(c, s->name.text);
        view_session_save(s, c);
    }
}

static bool views_load(void *engine, struct cursor *c)
{
    struct views *v = engine;
    uint32_t count;

    v->floor = cursor_get_u64(c);
    count = cursor_get_u32(c);
    if (count > VIEW_SESSIONS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        char name[NAME_BYTES_MAX + 1];

        if (!name_get(c, name) || session_find(v, name) != NULL)
            return false;
        struct view_session *s = names_add(&v->sessions, name, sizeof *s);
        if (s == NULL || !view_session_load(s, c))
            return false;
    }
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
