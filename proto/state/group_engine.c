/*
 * group_engine.c - the group server (group.c) as a part of the agreed state.
 */
#include <stdlib.h>

#include "proto/state/group.h"
#include "proto/state/state_engine.h"
#include "proto/wire/names.h"

_Static_assert(GROUP_NAME_MAX == NAME_BYTES_MAX, "a group's name is a name");

struct groups {
    struct state *state;
    struct group_table *table;
};

static int32_t status_of(enum group_error error)
{
    switch (error) {
    case GROUP_OK:
        return ERROR_OK;
    case GROUP_EINVAL:
        return ERROR_EINVAL;
    case GROUP_EEXIST:
        return ERROR_EEXIST;
    case GROUP_ENOGROUP:
        return ERROR_ENOGROUP;
    case GROUP_ENOTASK:
        return ERROR_ENOTASK;
    case GROUP_ECANCELED:
        return ERROR_ECANCELED;
    case GROUP_ENOMEM:
    case GROUP_ETOOMANY:
        break;
    }
    return ERROR_ERESOURCE;
}

static void on_answer(void *context, uint32_t tid, uint32_t request, enum group_error result)
{
    const struct groups *g = context;
    const struct state_request to = {.task = tid, .request = request};
    state_answer(g->state, &to, status_of(result), NULL, 0);
}

static void *groups_create(struct state *state)
{
    struct groups *g = calloc(1, sizeof *g);
    if (g == NULL)
        return NULL;
    g->state = state;
    g->table = group_table_create(on_answer, g);
    if (g->table != NULL)
        return g;
    free(g);
    return NULL;
}

static void groups_destroy(void *engine)
{
    struct groups *g = engine;
    group_table_destroy(g->table);
    free(g);
}

static void groups_join(struct groups *g, const char *name, const struct state_request *r)
{
    uint8_t body[4];
    struct cursor c = cursor_writer(body, sizeof body);
    int32_t instance = group_join(g->table, name, r->task);
    if (instance == GROUP_ENOMEM) {
        state_exhausted(g->state);
    } else if (instance < 0) {
        on_answer(g, r->task, r->request, (enum group_error)instance);
    } else {
        cursor_put_u32(&c, (uint32_t)instance);
        state_answer(g->state, r, ERROR_OK, body, sizeof body);
    }
}

static bool groups_apply(void *engine, const struct state_request *r, struct cursor *body)
{
    struct groups *g = engine;
    char name[NAME_BYTES_MAX + 1];
    bool named = name_get(body, name);
    uint32_t count = r->kind == COMMAND_GROUP_BARRIER ? cursor_get_u32(body) : 0;
    if (!cursor_done(body))
        return false;
    if (!named)
        on_answer(g, r->task, r->request, GROUP_EINVAL);
    else if (r->kind == COMMAND_GROUP_JOIN)
        groups_join(g, name, r);
    else if (r->kind == COMMAND_GROUP_LEAVE)
        on_answer(g, r->task, r->request, group_leave(g->table, name, r->task));
    else {
        enum group_error error = group_barrier(g->table, name, r->task, r->request, count);
        if (error != GROUP_OK)
            on_answer(g, r->task, r->request, error);
    }
    return true;
}

static int32_t groups_query(const void *engine, const struct state_request *r, struct cursor *body,
                            struct cursor *out)
{
    const struct groups *g = engine;
    char name[NAME_BYTES_MAX + 1];
    (void)r;
    if (!name_get(body, name) || !cursor_done(body))
        return ERROR_EINVAL;
    return group_list(g->table, name, out) ? ERROR_OK : ERROR_ENOGROUP;
}

static void groups_cancel(void *engine, uint32_t task, uint32_t request)
{
    const struct groups *g = engine;
    group_cancel(g->table, task, request);
}

static void groups_gone(void *engine, const struct state_gone *gone)
{
    const struct groups *g = engine;
    if (gone->task != 0)
        group_task_gone(g->table, gone->task);
    else
        group_host_gone(g->table, gone->host);
}

static void groups_save(const void *engine, struct cursor *c)
{
    const struct groups *g = engine;
    group_table_save(g->table, c);
}

static bool groups_load(void *engine, struct cursor *c)
{
    const struct groups *g = engine;
    return group_table_load(g->table, c);
}

const struct state_engine group_engine = {
    .create = groups_create,
    .destroy = groups_destroy,
    .apply = groups_apply,
    .query = groups_query,
    .cancel = groups_cancel,
    .gone = groups_gone,
    .save = groups_save,
    .load = groups_load,
};
