/*
 * leader.c - a group is the queue of its candidates; the first one leads. After every change of the
 * queue it is looked at once who is the first (group_settle): another one begins a term, and all
 * who listen are told. A group without candidates and without listeners is no more.
 *
 *   groups = count=u32 count*group
 *   group  = name=text term=u64 candidates=u32 candidates*(task=u32) listeners
 */
#include "proto/state/leader.h"

#include <stdlib.h>
#include <string.h>

#include "proto/state/listeners.h"
#include "proto/state/state_engine.h"
#include "proto/wire/grow.h"
#include "proto/wire/names.h"

#define CANDIDATES_FIRST 8
#define LEADER_BYTES 12

struct group {
    struct name name;     /* first: both have one address */
    uint64_t term;        /* of the leader; of the last one, when there is none */
    uint32_t leader;      /* of that term; 0: it has gone */
    uint32_t *candidates; /* in the order they stood */
    size_t count, capacity;
    struct listeners listeners;
};

struct leaders {
    struct state *state;
    struct names groups;
};

static struct group *group_first(const struct leaders *e)
{
    return (struct group *)e->groups.first;
}

static struct group *group_next(const struct group *g)
{
    return (struct group *)g->name.next;
}

static void group_drop(struct leaders *e, struct group *g)
{
    listeners_clear(&g->listeners);
    free(g->candidates);
    names_remove(&e->groups, &g->name);
}

static void *leaders_create(struct state *state)
{
    struct leaders *e = calloc(1, sizeof *e);

    if (e != NULL)
        e->state = state;
    return e;
}

static void leaders_destroy(void *engine)
{
    struct leaders *e = engine;

    while (group_first(e) != NULL)
        group_drop(e, group_first(e));
    free(e);
}

static struct group *group_find(const struct leaders *e, const char *name)
{
    return (struct group *)names_find(&e->groups, name);
}

static struct group *group_add(struct leaders *e, const char *name)
{
    struct group *g = names_add(&e->groups, name, sizeof *g);

    if (g == NULL)
        state_exhausted(e->state);
    return g;
}

static size_t candidate_position(const struct group *g, uint32_t task)
{
    size_t i = 0;

    while (i < g->count && g->candidates[i] != task)
        i++;
    return i;
}

static bool is_candidate(const struct group *g, uint32_t task)
{
    return g != NULL && candidate_position(g, task) < g->count;
}

/* ---- terms ---- */

static void leaders_answer(struct leaders *e, const struct state_request *to, int32_t status)
{
    state_answer(e->state, to, status, NULL, 0);
}

static void put_leader(struct cursor *c, const struct group *g)
{
    cursor_put_u32(c, g == NULL ? 0 : g->leader);
    cursor_put_u64(c, g == NULL ? 0 : g->term);
}

static void answer_leader(struct leaders *e, const struct state_request *to, const struct group *g)
{
    uint8_t body[LEADER_BYTES];
    struct cursor c = cursor_writer(body, sizeof body);

    put_leader(&c, g);
    state_answer(e->state, to, ERROR_OK, body, sizeof body);
}

static bool leads_after(const struct group *g, uint64_t term)
{
    return g != NULL && g->leader != 0 && g->term > term;
}

static void group_settle(struct leaders *e, struct group *g)
{
    uint32_t first = g->count > 0 ? g->candidates[0] : 0;

    if (first != g->leader && first != 0)
        g->term = state_fence(e->state);
    g->leader = first;
    size_t kept = 0;

    for (size_t i = 0; i < g->listeners.count; i++) {
        const struct listener l = g->listeners.list[i];

        if (leads_after(g, l.after))
            answer_leader(e, &(struct state_request){.task = l.task, .request = l.request}, g);
        else
            g->listeners.list[kept++] = l;
    }
    g->listeners.count = kept;
    if (g->count == 0 && g->listeners.count == 0)
        group_drop(e, g);
}

/* ---- candidates ---- */

static bool candidate_add(struct leaders *e, struct group *g, uint32_t task)
{
    if (!GROW(g->candidates, g->capacity, g->count + 1, CANDIDATES_FIRST)) {
        state_exhausted(e->state);
        return false;
    }
    g->candidates[g->count++] = task;
    return true;
}

static void stand(struct leaders *e, const struct state_request *r, const char *name)
{
    struct group *g = group_find(e, name);

    if (is_candidate(g, r->task)) {
        answer_leader(e, r, g);
    } else if (g == NULL ? e->groups.count >= LEADER_GROUPS_MAX
                         : g->count >= LEADER_CANDIDATES_MAX) {
        leaders_answer(e, r, ERROR_ERESOURCE);
    } else {
        g = g != NULL ? g : group_add(e, name);
        if (g == NULL || !candidate_add(e, g, r->task))
            return;
        group_settle(e, g);
        answer_leader(e, r, g);
    }
}

static void resign(struct leaders *e, const struct state_request *r, const char *name)
{
    struct group *g = group_find(e, name);

    if (!is_candidate(g, r->task)) {
        leaders_answer(e, r, ERROR_ENOGROUP);
        return;
    }
    size_t at = candidate_position(g, r->task);
    g->count--;
    memmove(&g->candidates[at], &g->candidates[at + 1], (g->count - at) * sizeof g->candidates[0]);
    group_settle(e, g);
    leaders_answer(e, r, ERROR_OK);
}

/* ---- waiting ---- */

static void listen(struct leaders *e, const struct state_request *r, const char *name,
                   uint64_t after)
{
    struct listener listener = {.task = r->task, .request = r->request, .after = after};
    struct group *g = group_find(e, name);

    if (leads_after(g, after)) {
        answer_leader(e, r, g);
    } else if (g == NULL ? e->groups.count >= LEADER_GROUPS_MAX
                         : g->listeners.count >= LISTENERS_MAX) {
        leaders_answer(e, r, ERROR_ERESOURCE);
    } else {
        g = g != NULL ? g : group_add(e, name);
        if (g != NULL && !listeners_add(&g->listeners, &listener))
            state_exhausted(e->state);
    }
}

static void leaders_cancel(void *engine, uint32_t task, uint32_t request)
{
    struct leaders *e = engine;

    for (struct group *g = group_first(e), *next; g != NULL; g = next) {
        next = group_next(g);
        if (!listeners_cancel(&g->listeners, task, request))
            continue;
        leaders_answer(e, &(struct state_request){.task = task, .request = request},
                       ERROR_ECANCELED);
        group_settle(e, g);
    }
}

/* ---- deaths ---- */

static void leaders_gone(void *engine, const struct state_gone *gone)
{
    struct leaders *e = engine;

    for (struct group *g = group_first(e), *next; g != NULL; g = next) {
        next = group_next(g);
        listeners_drop_gone(&g->listeners, gone);
        /* All of them first: none of those that went together leads for a moment. */
        size_t kept = 0;

        for (size_t i = 0; i < g->count; i++)
            if (!state_is_gone(gone, g->candidates[i]))
                g->candidates[kept++] = g->candidates[i];
        g->count = kept;
        group_settle(e, g);
    }
}

/* ---- commands ---- */

static bool leaders_apply(void *engine, const struct state_request *r, struct cursor *body)
{
    char name[NAME_BYTES_MAX + 1];
    bool named = name_get(body, name);
    uint64_t after = r->kind == COMMAND_LEADER_NEXT ? cursor_get_u64(body) : 0;

    if (!cursor_done(body))
        return false;
    if (!named)
        leaders_answer(engine, r, ERROR_EINVAL);
    else if (r->kind == COMMAND_LEADER_STAND)
        stand(engine, r, name);
    else if (r->kind == COMMAND_LEADER_RESIGN)
        resign(engine, r, name);
    else
        listen(engine, r, name, after);
    return true;
}

static int32_t leaders_query(const void *engine, const struct state_request *r, struct cursor *body,
                             struct cursor *out)
{
    char name[NAME_BYTES_MAX + 1];
    bool named = name_get(body, name);

    (void)r;
    if (!named || !cursor_done(body))
        return ERROR_EINVAL;
    put_leader(out, group_find(engine, name));
    return ERROR_OK;
}

/* ---- snapshots ---- */

static void leaders_save(const void *engine, struct cursor *c)
{
    const struct leaders *e = engine;

    cursor_put_u32(c, (uint32_t)e->groups.count);
    for (const struct group *g = group_first(e); g != NULL; g = group_next(g)) {
        cursor_put_text(c, g->name.text);
        cursor_put_u64(c, g->term);
        cursor_put_u32(c, (uint32_t)g->count);
        for (size_t i = 0; i < g->count; i++)
            cursor_put_u32(c, g->candidates[i]);
        listeners_save(&g->listeners, c);
    }
}

static bool candidates_load(struct leaders *e, struct group *g, struct cursor *c)
{
    uint32_t count = cursor_get_u32(c);

    if (count > LEADER_CANDIDATES_MAX)
        return false;
    for (uint32_t i = 0; i < count && cursor_ok(c); i++)
        if (!candidate_add(e, g, cursor_get_u32(c)))
            return false;
    g->leader = g->count > 0 ? g->candidates[0] : 0;
    return cursor_ok(c);
}

static bool leaders_load(void *engine, struct cursor *c)
{
    struct leaders *e = engine;
    uint32_t count = cursor_get_u32(c);

    if (count > LEADER_GROUPS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        char name[NAME_BYTES_MAX + 1];
        struct group *g;

        if (!name_get(c, name) || group_find(e, name) != NULL)
            return false;
        g = group_add(e, name);
        if (g == NULL)
            return false;
        g->term = cursor_get_u64(c);
        if (!candidates_load(e, g, c) || !listeners_load(&g->listeners, c))
            return false;
    }
    return cursor_ok(c);
}

const struct state_engine leader_engine = {
    .create = leaders_create,
    .destroy = leaders_destroy,
    .apply = leaders_apply,
    .query = leaders_query,
    .cancel = leaders_cancel,
    .gone = leaders_gone,
    .save = leaders_save,
    .load = leaders_load,
};
