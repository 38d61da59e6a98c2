/*
 * bag_place.c - the engine of the agreed state that knows which daemon holds which bag; see
 * bag_place.h.
 *
 *   bags = count=u32 *notice
 */
#include "proto/state/bag_place.h"

#include <stdlib.h>
#include <string.h>

#include "proto/state/state_engine.h"
#include "proto/wire/names.h"

_Static_assert(BAG_NAME_MAX == NAME_BYTES_MAX, "a bag's name is a name");

struct entry {
    struct name name;
    struct bag_place place;
};

struct places {
    struct state *state;
    struct names names;
};

/* ---- bytes ---- */

static void where_put(struct cursor *c, const struct bag_place *p)
{
    cursor_put_u64(c, p->bag);
    cursor_put_u32(c, p->epoch);
    cursor_put_u32(c, p->holder);
    cursor_put_u8(c, p->count);
    for (size_t i = 0; i < p->count; i++)
        cursor_put_u32(c, p->backups[i]);
}

static void bag_place_put(struct cursor *c, const struct bag_place *p)
{
    where_put(c, p);
    bag_params_put(c, &p->params);
}

static void hosts_get(struct cursor *c, struct bag_place *p)
{
    p->count = cursor_get_u8(c);
    if (p->count > BAG_BACKUPS_MAX)
        c->bad = true;
    for (size_t i = 0; cursor_ok(c) && i < p->count; i++) {
        p->backups[i] = cursor_get_u32(c);
        if (p->backups[i] == 0 || p->backups[i] > HOST_INDEX_MAX)
            c->bad = true;
    }
}

void bag_place_get(struct cursor *c, struct bag_place *place)
{
    struct bag_place p = {.bag = cursor_get_u64(c)};
    p.epoch = cursor_get_u32(c);
    p.holder = cursor_get_u32(c);
    if (p.holder > HOST_INDEX_MAX)
        c->bad = true;
    hosts_get(c, &p);
    bag_params_get(c, &p.params);
    if (cursor_ok(c))
        *place = p;
}

/* ---- entries ---- */

static struct entry *entry_first(const struct places *all)
{
    return (struct entry *)all->names.first;
}

static struct entry *entry_next(const struct entry *e)
{
    return (struct entry *)e->name.next;
}

static struct entry *entry_find(const struct places *all, const char *name)
{
    return (struct entry *)names_find(&all->names, name);
}

static struct entry *entry_of(const struct places *all, uint64_t bag)
{
    struct entry *e = entry_first(all);
    while (e != NULL && e->place.bag != bag)
        e = entry_next(e);
    return e;
}

static void *places_create(struct state *state)
{
    struct places *all = calloc(1, sizeof *all);
    if (all != NULL)
        all->state = state;
    return all;
}

static void places_destroy(void *engine)
{
    struct places *all = engine;
    while (all->names.first != NULL)
        names_remove(&all->names, all->names.first);
    free(all);
}

static void places_tell(const struct places *all, uint32_t host, const struct bag_place *p)
{
    uint8_t body[BAG_PLACE_BYTES_MAX];
    struct cursor c = cursor_writer(body, sizeof body);
    bag_place_put(&c, p);
    if (host != 0)
        state_notice(all->state, tid_make(host, 0), NOTICE_BAG, body, (size_t)(c.at - body));
}

static void tell_all(const struct places *all, const struct bag_place *p)
{
    places_tell(all, p->holder, p);
    for (size_t i = 0; i < p->count; i++)
        places_tell(all, p->backups[i], p);
}

/* ---- commands ---- */

static struct entry *entry_add(struct places *all, const struct bag_place *p)
{
    struct entry *e = names_add(&all->names, p->params.name, sizeof *e);
    if (e == NULL)
        state_exhausted(all->state);
    else
        e->place = *p;
    return e;
}

/* One that is lost makes room. */
static bool name_is_free(struct places *all, const char *name)
{
    struct entry *e = entry_find(all, name);
    if (e == NULL)
        return true;
    if (e->place.holder != 0)
        return false;
    names_remove(&all->names, &e->name);
    return true;
}

static void create_granted(struct places *all, const struct state_request *r,
                           const struct bag_params *params)
{
    uint8_t body[12];
    struct cursor c = cursor_writer(body, sizeof body);
    const struct entry *e = entry_add(all, &(struct bag_place){.bag = state_fence(all->state),
                                                               .epoch = 1,
                                                               .holder = tid_host(r->task),
                                                               .params = *params});
    if (e == NULL)
        return;
    tell_all(all, &e->place);
    cursor_put_u64(&c, e->place.bag);
    cursor_put_u32(&c, e->place.holder);
    state_answer(all->state, r, ERROR_OK, body, sizeof body);
}

static bool create_bag(struct places *all, const struct state_request *r, struct cursor *body)
{
    struct bag_params params;
    bag_params_get(body, &params);
    if (!cursor_done(body))
        return false;
    if (!name_is_free(all, params.name))
        state_answer(all->state, r, ERROR_EEXIST, NULL, 0);
    else if (all->names.count >= NAMES_MAX)
        state_answer(all->state, r, ERROR_ERESOURCE, NULL, 0);
    else
        create_granted(all, r, &params);
    return true;
}

static bool is_backup(const struct bag_place *p, uint32_t host)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->backups[i] == host)
            return true;
    return false;
}

static bool backups(struct places *all, const struct state_request *r, struct cursor *body)
{
    struct bag_place wanted = {.bag = cursor_get_u64(body)};
    hosts_get(body, &wanted);
    if (!cursor_done(body))
        return false;
    struct entry *e = entry_of(all, wanted.bag);
    if (e == NULL || e->place.holder != r->host)
        return true;
    struct bag_place *p = &e->place;
    p->count = 0;
    /* Those whose end would be told, and no others: a dead one could not be replaced. */
    for (size_t i = 0; i < wanted.count; i++)
        if (state_reaches_host(all->state, wanted.backups[i]) && wanted.backups[i] != p->holder &&
            !is_backup(p, wanted.backups[i]))
            p->backups[p->count++] = wanted.backups[i];
    e->place.epoch++;
    tell_all(all, &e->place);
    return true;
}

static bool remove_bag(struct places *all, const struct state_request *r, struct cursor *body)
{
    uint64_t bag = cursor_get_u64(body);
    if (!cursor_done(body))
        return false;
    struct entry *e = entry_of(all, bag);
    if (e == NULL || e->place.holder != r->host)
        return true;
    struct bag_place none = e->place;
    none.holder = 0;
    none.epoch++;
    places_tell(all, e->place.holder, &none);
    tell_all(all, &none);
    names_remove(&all->names, &e->name);
    return true;
}

static bool adopt(struct places *all, const struct state_request *r, struct cursor *body)
{
    struct bag_place p = {.bag = cursor_get_u64(body)};
    p.epoch = cursor_get_u32(body) + 1;
    p.holder = r->host;
    bag_params_get(body, &p.params);
    if (!cursor_done(body))
        return false;
    const struct entry *e = entry_find(all, p.params.name);
    if (e == NULL)
        e = entry_add(all, &p);
    if (e != NULL)
        places_tell(all, r->host, &e->place);
    return true;
}

static bool places_apply(void *engine, const struct state_request *r, struct cursor *body)
{
    switch (r->kind) {
    case COMMAND_BAG_CREATE:
        return create_bag(engine, r, body);
    case COMMAND_BAG_BACKUPS:
        return backups(engine, r, body);
    case COMMAND_BAG_REMOVE:
        return remove_bag(engine, r, body);
    case COMMAND_BAG_ADOPT:
        return adopt(engine, r, body);
    default:
        return false;
    }
}

/* ---- questions ---- */

static int32_t places_query(const void *engine, const struct state_request *r, struct cursor *body,
                            struct cursor *out)
{
    char name[NAME_BYTES_MAX + 1];
    if (r->kind == COMMAND_BAG_LIST) {
        for (const struct entry *e = entry_first(engine); e != NULL; e = entry_next(e)) {
            cursor_put_text(out, e->name.text);
            where_put(out, &e->place);
        }
        return ERROR_OK;
    }
    if (!name_get(body, name) || !cursor_done(body))
        return ERROR_EINVAL;
    const struct entry *e = entry_find(engine, name);
    if (e == NULL)
        return ERROR_ENOENT;
    cursor_put_u64(out, e->place.bag);
    cursor_put_u32(out, e->place.holder);
    return ERROR_OK;
}

/* ---- ends ---- */

static void places_cancel(void *engine, uint32_t task, uint32_t request)
{
    (void)engine, (void)task, (void)request; /* nothing waits */
}

static bool drop_host(struct bag_place *p, uint32_t host)
{
    uint8_t kept = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->backups[i] != host)
            p->backups[kept++] = p->backups[i];
    bool changed = kept < p->count || p->holder == host;
    p->count = kept;
    if (p->holder != host)
        return changed;
    p->holder = kept > 0 ? p->backups[0] : 0;
    p->count = kept > 0 ? (uint8_t)(kept - 1) : 0;
    memmove(p->backups, p->backups + 1, sizeof p->backups - sizeof p->backups[0]);
    return true;
}

static void places_gone(void *engine, const struct state_gone *gone)
{
    struct places *all = engine;
    if (gone->task != 0)
        return;
    for (struct entry *e = entry_first(all); e != NULL; e = entry_next(e)) {
        if (!drop_host(&e->place, gone->host))
            continue;
        e->place.epoch++;
        tell_all(all, &e->place);
    }
}

/* ---- snapshots ---- */

static void places_save(const void *engine, struct cursor *c)
{
    const struct places *all = engine;
    cursor_put_u32(c, (uint32_t)all->names.count);
    for (const struct entry *e = entry_first(all); e != NULL; e = entry_next(e))
        bag_place_put(c, &e->place);
}

static bool places_load(void *engine, struct cursor *c)
{
    struct places *all = engine;
    uint32_t count = cursor_get_u32(c);
    for (uint32_t i = 0; i < count; i++) {
        struct bag_place p = {.bag = 0};
        bag_place_get(c, &p);
        if (!cursor_ok(c) || entry_find(all, p.params.name) != NULL || entry_add(all, &p) == NULL)
            return false;
    }
    return cursor_ok(c);
}

const struct state_engine bag_engine = {
    .create = places_create,
    .destroy = places_destroy,
    .apply = places_apply,
    .query = places_query,
    .cancel = places_cancel,
    .gone = places_gone,
    .save = places_save,
    .load = places_load,
};
