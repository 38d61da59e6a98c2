/*
 * rendezvous.c - tasks that meet under a name: when as many came as each of them wanted, all are
 * told who came, in the order of their coming, and the small value that each brought. The name is
 * then free for another meeting. A task that ends while it waits ends the meeting for all who wait:
 * they count on it. One that gives up only goes away again.
 *
 *   meetings = count=u32 *(name=text wanted=u32 count=u32 *(task=u32 request=u32 value))
 *   value    = size=u8 *u8
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/state/state_engine.h"
#include "proto/wire/names.h"

struct comer {
    uint32_t task, request;
    uint8_t size;
    uint8_t value[RENDEZVOUS_VALUE_MAX];
};

struct meeting {
    struct name name;
    uint32_t wanted, count;
    struct comer *comers; /* room for the next power of two */
};

struct meetings {
    struct state *state;
    struct names names;
};

static struct meeting *meeting_first(const struct meetings *m)
{
    return (struct meeting *)m->names.first;
}

static struct meeting *meeting_next(const struct meeting *meeting)
{
    return (struct meeting *)meeting->name.next;
}

static void *meetings_create(struct state *state)
{
    struct meetings *m = calloc(1, sizeof *m);
    if (m != NULL)
        m->state = state;
    return m;
}

static void meeting_remove(struct meetings *m, struct meeting *meeting)
{
    free(meeting->comers);
    names_remove(&m->names, &meeting->name);
}

static void meetings_destroy(void *engine)
{
    struct meetings *m = engine;
    while (meeting_first(m) != NULL)
        meeting_remove(m, meeting_first(m));
    free(m);
}

static struct meeting *meeting_add(struct meetings *m, const char *name, uint32_t wanted)
{
    struct meeting *meeting = names_add(&m->names, name, sizeof *meeting);
    if (meeting == NULL)
        return NULL;
    meeting->wanted = wanted;
    return meeting;
}

/* Not for all who are wanted from the first on: somebody may open many meetings to which nobody
 * comes. */
static struct comer *comer_add(struct meeting *meeting)
{
    uint32_t count = meeting->count;
    if ((count & (count - 1)) == 0) {
        struct comer *comers =
            realloc(meeting->comers, (count == 0 ? 1 : 2 * count) * sizeof *comers);
        if (comers == NULL)
            return NULL;
        meeting->comers = comers;
    }
    meeting->count++;
    return &meeting->comers[count];
}

/* ---- who comes ---- */

static void comer_put(const struct comer *comer, struct cursor *c)
{
    cursor_put_u8(c, comer->size);
    cursor_put_bytes(c, comer->value, comer->size);
}

static bool comer_get(struct comer *comer, struct cursor *c)
{
    comer->size = cursor_get_u8(c);
    if (comer->size > RENDEZVOUS_VALUE_MAX)
        return false;
    cursor_get_bytes(c, comer->value, comer->size);
    return cursor_ok(c);
}

static struct comer *comer_find(const struct meeting *meeting, uint32_t task)
{
    for (uint32_t i = 0; i < meeting->count; i++)
        if (meeting->comers[i].task == task)
            return &meeting->comers[i];
    return NULL;
}

/* Answers all who came, and the meeting is over. */
static void meeting_end(struct meetings *m, struct meeting *meeting, int32_t status)
{
    uint8_t body[RENDEZVOUS_MAX * (4 + 1 + RENDEZVOUS_VALUE_MAX)];
    struct cursor c = cursor_writer(body, sizeof body);
    for (uint32_t i = 0; i < meeting->count && status == ERROR_OK; i++) {
        cursor_put_u32(&c, meeting->comers[i].task);
        comer_put(&meeting->comers[i], &c);
    }
    assert(meeting->count <= meeting->wanted && cursor_ok(&c));
    for (uint32_t i = 0; i < meeting->count; i++) {
        const struct comer *comer = &meeting->comers[i];
        const struct state_request to = {.task = comer->task, .request = comer->request};
        state_answer(m->state, &to, status, body, (size_t)(c.at - body));
    }
    meeting_remove(m, meeting);
}

static void come(struct meetings *m, const char *name, uint32_t wanted, const struct comer *comer)
{
    const struct state_request r = {.task = comer->task, .request = comer->request};
    struct meeting *meeting = (struct meeting *)names_find(&m->names, name);
    int32_t refused = ERROR_OK;
    if (meeting == NULL && m->names.count >= NAMES_MAX)
        refused = ERROR_ERESOURCE;
    else if (meeting != NULL && meeting->wanted != wanted)
        refused = ERROR_EINVAL;
    else if (meeting != NULL && comer_find(meeting, comer->task) != NULL)
        refused = ERROR_EEXIST;
    if (refused != ERROR_OK) {
        state_answer(m->state, &r, refused, NULL, 0);
        return;
    }
    if (meeting == NULL)
        meeting = meeting_add(m, name, wanted);
    struct comer *place = meeting == NULL ? NULL : comer_add(meeting);
    if (place == NULL) {
        state_exhausted(m->state);
        return;
    }
    *place = *comer;
    if (meeting->count == meeting->wanted)
        meeting_end(m, meeting, ERROR_OK);
}

static bool rendezvous_apply(void *engine, const struct state_request *r, struct cursor *body)
{
    struct meetings *m = engine;
    char name[NAME_BYTES_MAX + 1];
    struct comer comer = {.task = r->task, .request = r->request};
    bool named = name_get(body, name);
    uint32_t wanted = cursor_get_u32(body);
    if (!comer_get(&comer, body) || !cursor_done(body))
        return false;
    if (!named || wanted == 0 || wanted > RENDEZVOUS_MAX)
        state_answer(m->state, r, ERROR_EINVAL, NULL, 0);
    else
        come(m, name, wanted, &comer);
    return true;
}

/* The list of those that others wait for. */
static int32_t rendezvous_query(const void *engine, const struct state_request *r,
                                struct cursor *body, struct cursor *out)
{
    const struct meetings *m = engine;
    (void)r;
    (void)body;
    for (const struct meeting *meeting = meeting_first(m); meeting != NULL;
         meeting = meeting_next(meeting)) {
        cursor_put_text(out, meeting->name.text);
        cursor_put_u32(out, 0);
        cursor_put_u64(out, meeting->wanted);
        cursor_put_u32(out, meeting->count);
        for (uint32_t i = 0; i < meeting->count; i++)
            cursor_put_u32(out, meeting->comers[i].task);
    }
    return ERROR_OK;
}

/* ---- ends ---- */

static void rendezvous_cancel(void *engine, uint32_t task, uint32_t request)
{
    struct meetings *m = engine;
    const struct state_request r = {.task = task, .request = request};
    for (struct meeting *meeting = meeting_first(m), *next; meeting != NULL; meeting = next) {
        struct comer *comer = comer_find(meeting, task);
        next = meeting_next(meeting);
        if (comer == NULL || comer->request != request)
            continue;
        size_t behind = (size_t)(&meeting->comers[meeting->count] - comer) - 1;
        memmove(comer, comer + 1, behind * sizeof *comer);
        meeting->count--;
        state_answer(m->state, &r, ERROR_ECANCELED, NULL, 0);
        if (meeting->count == 0)
            meeting_remove(m, meeting);
    }
}

static void rendezvous_gone(void *engine, const struct state_gone *gone)
{
    struct meetings *m = engine;
    for (struct meeting *meeting = meeting_first(m), *next; meeting != NULL; meeting = next) {
        uint32_t kept = 0, before = meeting->count;
        next = meeting_next(meeting);
        for (uint32_t i = 0; i < before; i++)
            if (!state_is_gone(gone, meeting->comers[i].task))
                meeting->comers[kept++] = meeting->comers[i];
        meeting->count = kept;
        if (kept < before)
            meeting_end(m, meeting, ERROR_ENOTASK);
    }
}

/* ---- snapshots ---- */

static void rendezvous_save(const void *engine, struct cursor *c)
{
    const struct meetings *m = engine;
    cursor_put_u32(c, (uint32_t)m->names.count);
    for (const struct meeting *meeting = meeting_first(m); meeting != NULL;
         meeting = meeting_next(meeting)) {
        cursor_put_text(c, meeting->name.text);
        cursor_put_u32(c, meeting->wanted);
        cursor_put_u32(c, meeting->count);
        for (uint32_t i = 0; i < meeting->count; i++) {
            cursor_put_u32(c, meeting->comers[i].task);
            cursor_put_u32(c, meeting->comers[i].request);
            comer_put(&meeting->comers[i], c);
        }
    }
}

static bool comers_load(struct meeting *meeting, uint32_t count, struct cursor *c)
{
    while (meeting->count < count) {
        struct comer comer = {.task = cursor_get_u32(c)}, *place;
        comer.request = cursor_get_u32(c);
        if (!comer_get(&comer, c) || comer_find(meeting, comer.task) != NULL)
            return false;
        place = comer_add(meeting);
        if (place == NULL)
            return false;
        *place = comer;
    }
    return true;
}

static bool rendezvous_load(void *engine, struct cursor *c)
{
    struct meetings *m = engine;
    uint32_t all = cursor_get_u32(c);
    for (uint32_t i = 0; i < all; i++) {
        char name[NAME_BYTES_MAX + 1];
        if (!name_get(c, name) || names_find(&m->names, name) != NULL)
            return false;
        uint32_t wanted = cursor_get_u32(c), count = cursor_get_u32(c);
        if (wanted > RENDEZVOUS_MAX || count == 0 || count >= wanted)
            return false;
        struct meeting *meeting = meeting_add(m, name, wanted);
        if (meeting == NULL || !comers_load(meeting, count, c))
            return false;
    }
    return cursor_ok(c);
}

const struct state_engine rendezvous_engine = {
    .create = meetings_create,
    .destroy = meetings_destroy,
    .apply = rendezvous_apply,
    .query = rendezvous_query,
    .cancel = rendezvous_cancel,
    .gone = rendezvous_gone,
    .save = rendezvous_save,
    .load = rendezvous_load,
};
