/*
 * session.c - membership of sessions. What they promise is described in proto/state/view.h.
 *
 * A handle follows its session by a request for the views after the last one it took, which stays
 * with the VM until there is one and is answered in the background (session_settle). The answer may
 * hold several changes: they are given out one by one, and only when all are taken the next request
 * goes out. So a task that does not look holds at most one answer, and the VM's history does the
 * rest. What lies here:
 *
 *   request under way --answer--> content with `left` changes --covey_session_next()--> view
 *
 * ended: why nothing more comes; it is told when all views before it were taken.
 */
#include "lib/agree/session.h"
#include "lib/agree/service.h"
#include "lib/calls/notify.h"
#include "lib/drive/call.h"
#include "lib/drive/request.h"
#include "lib/member/part.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/state/view.h"
#include "proto/wire/command.h"
#include "proto/wire/grow.h"
#include "proto/wire/list.h"

#include <stdio.h>
#include <stdlib.h>

_Static_assert(COVEY_SESSION_VALUE_MAX == VIEW_VALUE_MAX, "the value of a session");
_Static_assert((int)COVEY_VIEW_EXPELLED == (int)VIEW_EXPELLED &&
                   (int)COVEY_VIEW_HOST == (int)VIEW_HOST_LOST,
               "kinds of changes");

struct covey_session {
    struct covey *vm;
    struct covey_session *next;
    char name[CONTROL_NAME_MAX + 1];
    struct covey_view view; /* the last one taken */
    covey_tid_t *members;
    size_t capacity;
    struct request *request; /* for the views after the last of the content */
    uint8_t *content;
    struct cursor changes; /* in the content */
    uint32_t left;         /* changes not yet taken; a roster is one */
    uint64_t first;        /* the number of the first of them */
    bool roster;
    int ended;
    char why[256];
    bool notifies;
    int tag;
};

/* ---- what comes in the background ---- */

static void views_end(struct covey_session *s, int error, const char *why)
{
    s->ended = error;
    snprintf(s->why, sizeof s->why, "session %s: %s", s->name, why);
}

static void end_excluded(struct covey_session *s, uint64_t number, uint8_t cause)
{
    static const char *const causes[] = {[0] = "excluded, too long ago to know why",
                                         [VIEW_LEFT] = "it was left",
                                         [VIEW_ENDED] = "excluded: the task was said to have ended",
                                         [VIEW_HOST_LOST] = "excluded: this host was lost",
                                         [VIEW_EXPELLED] = "excluded by another member"};
    size_t known = sizeof causes / sizeof causes[0];
    const char *why = cause < known && causes[cause] != NULL ? causes[cause] : causes[0];
    char text[128];

    snprintf(text, sizeof text, "%s, since view %llu", why, (unsigned long long)number);
    views_end(s, COVEY_ENOGROUP, number == 0 ? why : text);
}

/* The views that an answer holds, or the end. */
static void answer_read(struct covey_session *s, struct cursor c)
{
    uint64_t first = cursor_get_u64(&c);
    uint8_t form = cursor_get_u8(&c);
    uint32_t count = cursor_get_u32(&c);

    s->changes = c;
    s->roster = form == VIEWS_ROSTER;
    if (form == VIEWS_EXCLUDED && cursor_ok(&c))
        end_excluded(s, first, cursor_get_u8(&c));
    else if (form == VIEWS_CHANGES && first == s->view.number + 1 && cursor_left(&c) / 5 == count)
        s->left = count;
    else if (form == VIEWS_ROSTER && first > s->view.number && cursor_left(&c) / 4 == count)
        s->left = 1;
    else
        views_end(s, COVEY_EPROTO, "the daemon's answer makes no sense");
    s->first = first;
}

static void session_tell(struct covey_session *s, uint64_t number)
{
    struct covey_msg *msg = covey_msg_new();

    if (msg != NULL && covey_pack_uint64(msg, &number, 1, 1) == COVEY_OK)
        notify_deliver(s->vm, msg, 0, s->tag);
    else
        covey_msg_free(msg);
}

static void tell_all(struct covey_session *s)
{
    for (uint32_t i = 0; i < s->left; i++)
        session_tell(s, s->first + i);
    if (s->ended != 0)
        session_tell(s, 0);
}

void session_settle(struct covey *vm)
{
    for (struct covey_session *s = sessions_of(vm)->first; s != NULL; s = s->next)
        if (s->request != NULL && s->request->done) {
            struct request *r = s->request;

            if (r->status < 0) {
                views_end(s, request_status(r), covey_strerror(r->status));
            } else {
                s->content = r->content;
                r->content = NULL;
                answer_read(s, cursor_reader(s->content, r->size));
            }
            request_forget(s->vm, &s->request);
            if (s->notifies)
                tell_all(s);
            wait_changed(s->vm);
        }
}

/* Asks for what comes after the views that are here, once. */
static int follow(struct covey_session *s)
{
    struct service next;

    if (s->request != NULL || s->left > 0 || s->ended != 0)
        return COVEY_OK;
    service_begin(&next, s->vm, COMMAND_VIEW_NEXT, "session", s->name);
    cursor_put_u64(&next.body, s->view.number);
    s->request = service_request(&next);
    if (s->request == NULL)
        return request_refused(s->vm);
    s->request->due = part_bit(PART_SESSIONS);
    return COVEY_OK;
}

/* ---- views ---- */

static int members_reserve(struct covey_session *s, size_t count)
{
    return GROW(s->members, s->capacity, count, 8) ? COVEY_OK : error_code(COVEY_ENOMEM);
}

static int take_roster(struct covey_session *s)
{
    size_t count = cursor_left(&s->changes) / 4;

    if (members_reserve(s, count) != COVEY_OK)
        return COVEY_ENOMEM;
    s->view = (struct covey_view){.number = s->view.number, .change = COVEY_VIEW_ROSTER};
    for (size_t i = 0; i < count; i++)
        s->members[i] = (covey_tid_t)cursor_get_u32(&s->changes);
    s->view.count = (int32_t)count;
    return COVEY_OK;
}

static bool goes(const struct covey_session *s, covey_tid_t member)
{
    return s->view.change == COVEY_VIEW_HOST ? covey_tid_host(member) == s->view.host
                                             : member == s->view.tid;
}

static void members_change(struct covey_session *s)
{
    int32_t kept = 0;

    if (s->view.change == COVEY_VIEW_JOINED) {
        s->members[s->view.count++] = s->view.tid;
        return;
    }
    for (int32_t i = 0; i < s->view.count; i++)
        if (!goes(s, s->members[i]))
            s->members[kept++] = s->members[i];
    s->view.count = kept;
}

static int take_change(struct covey_session *s)
{
    if (members_reserve(s, (size_t)s->view.count + 1) != COVEY_OK)
        return COVEY_ENOMEM;
    uint8_t kind = cursor_get_u8(&s->changes);
    uint32_t task = cursor_get_u32(&s->changes);
    s->view.change = kind;
    s->view.tid = tid_local(task) == 0 ? 0 : (covey_tid_t)task;
    s->view.host = (int32_t)tid_host(task);
    members_change(s);
    return COVEY_OK;
}

/* The next one of those that are here. */
static int view_take(struct covey_session *s)
{
    int error = s->roster ? take_roster(s) : take_change(s);

    if (error != COVEY_OK)
        return error;
    s->view.number = s->first++;
    s->left--;
    if (s->left > 0)
        return COVEY_OK;
    free(s->content);
    s->content = NULL;
    return s->notifies ? follow(s) : COVEY_OK;
}

static void view_give(const struct covey_session *s, struct covey_view *view)
{
    *view = s->view;
    view->members = s->members;
}

static bool has_news(void *context)
{
    const struct covey_session *s = context;
    return s->left > 0 || s->ended != 0;
}

static int next_take(struct covey_session *s, uint64_t deadline_us)
{
    int error = follow(s);

    if (error == COVEY_OK)
        error = call_idle(s->vm, has_news, s, deadline_us);
    if (error == COVEY_ETIMEOUT)
        return error_set(error, "session %s: no further view in time", s->name);
    if (error != COVEY_OK)
        return error;
    return s->left > 0 ? view_take(s) : error_set(s->ended, "%s", s->why);
}

int covey_session_next(covey_session_t *session, int64_t timeout_us, struct covey_view *view)
{
    if (session == NULL || view == NULL)
        return error_set(COVEY_EINVAL, "session: NULL");
    struct call call = call_begin(session->vm);
    int error = next_take(session, clock_deadline(timeout_us));
    if (error == COVEY_OK)
        view_give(session, view);
    return call_end(session->vm, &call, error);
}

int covey_session_view(const covey_session_t *session, struct covey_view *view)
{
    if (session == NULL || view == NULL)
        return error_set(COVEY_EINVAL, "session: NULL");
    view_give(session, view);
    return COVEY_OK;
}

int covey_session_notify(covey_session_t *session, int tag)
{
    if (session == NULL || tag < 0 || tag > COVEY_TAG_MAX)
        return error_set(COVEY_EINVAL, "session: NULL, or bad tag %d", tag);
    struct call call = call_begin(session->vm);
    session->notifies = true;
    session->tag = tag;
    tell_all(session);
    return call_end(session->vm, &call, follow(session));
}

/* ---- membership ---- */

static void session_free(struct covey_session *s)
{
    request_forget(s->vm, &s->request);
    free(s->content);
    free(s->members);
    free(s);
}

void session_free_all(struct covey *vm)
{
    while (sessions_of(vm)->first != NULL) {
        struct covey_session *s = sessions_of(vm)->first;
        sessions_of(vm)->first = s->next;
        session_free(s);
    }
}

/* Joins; a join whose answer did not come in time is undone, whenever it is carried out. */
static int session_join(struct covey_session *s)
{
    struct service service;
    service_begin(&service, s->vm, COMMAND_VIEW_JOIN, "session", s->name);
    int error = service_call(&service, COVEY_POLL);
    if (error == COVEY_ETIMEOUT)
        service_undo(s->vm, COMMAND_VIEW_LEAVE, "session", s->name);
    if (error != COVEY_OK)
        return error;
    s->content = service.content;
    answer_read(s, service.answer);
    if (s->left == 0)
        return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    error = view_take(s);
    s->view.change = COVEY_VIEW_JOINED;
    s->view.tid = covey_mytid(s->vm);
    s->view.host = covey_tid_host(s->view.tid);
    return error;
}

int covey_session_join(covey_t *vm, const char *name, covey_session_t **session)
{
    if (service_name_check(vm, "session", name) != COVEY_OK || session == NULL)
        return COVEY_EINVAL;
    struct covey_session *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_code(COVEY_ENOMEM);
    s->vm = vm;
    snprintf(s->name, sizeof s->name, "%s", name);
    int error = session_join(s);
    struct call call = call_begin(vm);
    if (error != COVEY_OK) {
        session_free(s);
        return call_end(vm, &call, error);
    }
    s->next = sessions_of(vm)->first;
    sessions_of(vm)->first = s;
    *session = s;
    return call_end(vm, &call, COVEY_OK);
}

int covey_session_leave(covey_session_t **session)
{
    if (session == NULL || *session == NULL)
        return COVEY_OK;
    struct covey_session *s = *session;
    struct covey *vm = s->vm;
    *session = NULL;
    struct call call = call_begin(vm);
    s->notifies = false; /* of one's own leaving */
    call_end(vm, &call, COVEY_OK);
    struct service service;
    service_begin(&service, vm, COMMAND_VIEW_LEAVE, "session", s->name);
    int error = service_order(&service, COVEY_POLL);
    call = call_begin(vm);
    UNLINK(sessions_of(s->vm)->first, s, next);
    session_free(s);
    /* who was excluded has left already */
    return call_end(vm, &call, error == COVEY_ENOGROUP ? COVEY_OK : error);
}

int covey_session_expel(covey_session_t *session, covey_tid_t tid)
{
    struct service s;

    if (session == NULL || tid <= 0)
        return error_set(COVEY_EINVAL, "session: NULL, or bad tid %d", (int)tid);
    service_begin(&s, session->vm, COMMAND_VIEW_EXPEL, "session", session->name);
    cursor_put_u32(&s.body, (uint32_t)tid);
    return service_number(&s, COVEY_POLL, NULL);
}

/* ---- the value ---- */

int covey_session_get(covey_session_t *session, struct covey_value *value)
{
    struct service s;

    if (session == NULL || value == NULL)
        return error_set(COVEY_EINVAL, "session: NULL");
    service_begin(&s, session->vm, COMMAND_VIEW_GET, "session", session->name);
    int error = service_ask(&s);
    if (error != COVEY_OK)
        return error;
    struct covey_value v = {.version = cursor_get_u64(&s.answer)};
    v.author = (covey_tid_t)cursor_get_u32(&s.answer);
    v.view = cursor_get_u64(&s.answer);
    v.bytes = (int32_t)cursor_left(&s.answer);
    if (cursor_left(&s.answer) <= sizeof v.value)
        cursor_get_bytes(&s.answer, v.value, (size_t)v.bytes);
    error = service_done(&s);
    if (error == COVEY_OK)
        *value = v;
    return error;
}

int covey_session_put(covey_session_t *session, struct covey_value *value)
{
    struct service s;

    if (session == NULL || value == NULL || value->bytes < 0 ||
        value->bytes > COVEY_SESSION_VALUE_MAX)
        return error_set(COVEY_EINVAL, "session: NULL, or a value not of 0 .. %d bytes",
                         COVEY_SESSION_VALUE_MAX);
    service_begin(&s, session->vm, COMMAND_VIEW_PUT, "session", session->name);
    cursor_put_u64(&s.body, value->version);
    cursor_put_bytes(&s.body, value->value, (size_t)value->bytes);
    int error = service_call(&s, COVEY_POLL);
    if (error != COVEY_OK)
        return error;
    bool taken = cursor_get_u8(&s.answer) == 1;
    uint64_t present = cursor_get_u64(&s.answer); /* the version that there is now */
    error = service_done(&s);
    if (error != COVEY_OK)
        return error;
    value->version = present;
    return taken;
}
