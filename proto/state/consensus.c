/*
 * consensus.c - a series is its instances by number, in a list that is searched from its end, where
 * new numbers come; those below the floor are forgotten. An instance is decided, or it is there
 * because somebody waits for its decision. A series without instances whose floor is 0 is no more.
 *
 *   table    = count=u32 count*series
 *   series   = name=text floor=u64 count=u32 count*instance       ; by number, ascending
 *   instance = number=u64 proposer=u32 size=u16 size*u8 listeners ; proposer 0: not decided
 */
#include "proto/state/consensus.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "proto/state/listeners.h"
#include "proto/state/state_engine.h"
#include "proto/wire/names.h"

struct instance {
    TAILQ_ENTRY(instance) link; /* by number */
    uint64_t number;
    uint32_t proposer; /* 0: not decided */
    uint8_t *value;
    size_t size;
    struct listeners listeners;
};

struct series {
    struct name name;
    uint64_t floor;
    TAILQ_HEAD(instance_list, instance) instances;
};

/* A number of a series. */
struct key {
    const char *name;
    uint64_t number;
};

struct value {
    const uint8_t *bytes;
    size_t size;
};

struct decisions {
    struct state *state;
    struct names series;
    size_t bytes; /* as consensus.h counts them */
};

static struct series *series_first(const struct decisions *d)
{
    return (struct series *)d->series.first;
}

static struct series *series_next(const struct series *s)
{
    return (struct series *)s->name.next;
}

static void instance_drop(struct decisions *d, struct series *s, struct instance *i)
{
    TAILQ_REMOVE(&s->instances, i, link);
    d->bytes -= CONSENSUS_INSTANCE_BYTES + i->size;
    listeners_clear(&i->listeners);
    free(i->value);
    free(i);
}

static void series_drop(struct decisions *d, struct series *s)
{
    while (!TAILQ_EMPTY(&s->instances))
        instance_drop(d, s, TAILQ_FIRST(&s->instances));
    d->bytes -= CONSENSUS_SERIES_BYTES;
    names_remove(&d->series, &s->name);
}

static void *decisions_create(struct state *state)
{
    struct decisions *d = calloc(1, sizeof *d);

    if (d != NULL)
        d->state = state;
    return d;
}

static void decisions_destroy(void *engine)
{
    struct decisions *d = engine;

    while (series_first(d) != NULL)
        series_drop(d, series_first(d));
    free(d);
}

/* ---- answers ---- */

static void decisions_answer(struct decisions *d, const struct state_request *to, int32_t status)
{
    state_answer(d->state, to, status, NULL, 0);
}

static void put_decision(struct cursor *c, const struct instance *i)
{
    cursor_put_u32(c, i->proposer);
    cursor_put_bytes(c, i->value, i->size);
}

static void answer_decision(struct decisions *d, const struct state_request *to,
                            const struct instance *i)
{
    uint8_t body[4 + CONSENSUS_VALUE_MAX];
    struct cursor c = cursor_writer(body, sizeof body);

    put_decision(&c, i);
    state_answer(d->state, to, ERROR_OK, body, (size_t)(c.at - body));
}

static void answer_listeners(struct decisions *d, struct instance *i, int32_t status)
{
    for (size_t at = 0; at < i->listeners.count; at++) {
        const struct listener *l = &i->listeners.list[at];
        const struct state_request to = {.task = l->task, .request = l->request};

        if (status == ERROR_OK)
            answer_decision(d, &to, i);
        else
            decisions_answer(d, &to, status);
    }
    listeners_clear(&i->listeners);
}

/* ---- finding and making ---- */

static struct series *series_find(const struct decisions *d, const char *name)
{
    return (struct series *)names_find(&d->series, name);
}

/* The last instance whose number is not greater; NULL: all are. */
static struct instance *last_not_after(const struct series *s, uint64_t number)
{
    struct instance *i;

    TAILQ_FOREACH_REVERSE(i, &s->instances, instance_list, link)
    {
        if (i->number <= number)
            break;
    }
    return i;
}

static struct instance *instance_find(const struct series *s, uint64_t number)
{
    struct instance *i = s == NULL ? NULL : last_not_after(s, number);

    return i != NULL && i->number == number ? i : NULL;
}

static struct series *series_add(struct decisions *d, const char *name)
{
    struct series *s = names_add(&d->series, name, sizeof *s);

    if (s == NULL) {
        state_exhausted(d->state);
        return NULL;
    }
    TAILQ_INIT(&s->instances);
    d->bytes += CONSENSUS_SERIES_BYTES;
    return s;
}

static struct instance *instance_add(struct decisions *d, struct series *s, uint64_t number)
{
    struct instance *before = last_not_after(s, number), *i = calloc(1, sizeof *i);

    if (i == NULL) {
        state_exhausted(d->state);
        return NULL;
    }
    i->number = number;
    if (before != NULL)
        TAILQ_INSERT_AFTER(&s->instances, before, i, link);
    else
        TAILQ_INSERT_HEAD(&s->instances, i, link);
    d->bytes += CONSENSUS_INSTANCE_BYTES;
    return i;
}

/* The instance, made if it is new; NULL: no memory. */
static struct instance *instance_get(struct decisions *d, struct key key)
{
    struct series *s = series_find(d, key.name);
    struct instance *i = instance_find(s, key.number);

    if (i != NULL)
        return i;
    if (s == NULL)
        s = series_add(d, key.name);
    return s == NULL ? NULL : instance_add(d, s, key.number);
}

/* Why nothing more can be kept for this number. */
static int32_t refusal_of(const struct decisions *d, struct key key, size_t size)
{
    const struct series *s = series_find(d, key.name);
    size_t room = size;

    if (size > CONSENSUS_VALUE_MAX || key.number == CONSENSUS_WHOLE)
        return ERROR_EINVAL;
    if (s != NULL && key.number < s->floor)
        return ERROR_ENOENT;
    room += s == NULL ? CONSENSUS_SERIES_BYTES : 0;
    room += instance_find(s, key.number) == NULL ? CONSENSUS_INSTANCE_BYTES : 0;
    return d->bytes + room > CONSENSUS_BYTES_MAX ? ERROR_ERESOURCE : ERROR_OK;
}

/* ---- deciding ---- */

static bool value_keep(struct decisions *d, struct instance *i, const struct value *value)
{
    i->value = malloc(value->size + 1); /* of no bytes, too */
    if (i->value == NULL) {
        state_exhausted(d->state);
        return false;
    }
    if (value->size > 0)
        memcpy(i->value, value->bytes, value->size);
    i->size = value->size;
    d->bytes += value->size;
    return true;
}

static bool is_decided(const struct instance *i)
{
    return i != NULL && i->proposer != 0;
}

static const struct instance *decided(const struct decisions *d, struct key key)
{
    const struct instance *i = instance_find(series_find(d, key.name), key.number);

    return is_decided(i) ? i : NULL;
}

static void decisions_propose(struct decisions *d, const struct state_request *r, struct key key,
                              struct cursor *body)
{
    const struct instance *i = decided(d, key);
    size_t size = cursor_left(body);
    const struct value value = {cursor_get_view(body, size), size};
    int32_t refusal = i != NULL ? ERROR_OK : refusal_of(d, key, value.size);

    if (i != NULL)
        answer_decision(d, r, i);
    else if (refusal != ERROR_OK)
        decisions_answer(d, r, refusal);
    else {
        struct instance *made = instance_get(d, key);

        if (made == NULL || !value_keep(d, made, &value))
            return;
        made->proposer = r->task;
        answer_decision(d, r, made);
        answer_listeners(d, made, ERROR_OK);
    }
}

/* ---- learning ---- */

static void learn(struct decisions *d, const struct state_request *r, struct key key)
{
    const struct instance *i = decided(d, key);
    int32_t refusal = i != NULL ? ERROR_OK : refusal_of(d, key, 0);

    if (i != NULL)
        answer_decision(d, r, i);
    else if (refusal != ERROR_OK)
        decisions_answer(d, r, refusal);
    else {
        const struct listener listener = {.task = r->task, .request = r->request};
        struct instance *made = instance_get(d, key);

        if (made != NULL && made->listeners.count >= LISTENERS_MAX)
            decisions_answer(d, r, ERROR_ERESOURCE);
        else if (made != NULL && !listeners_add(&made->listeners, &listener))
            state_exhausted(d->state);
    }
}

/* ---- forgetting ---- */

/* Instances that nobody waits for any more, and then the series, when nothing is to be kept. */
static void series_tidy(struct decisions *d, struct series *s)
{
    for (struct instance *i = TAILQ_FIRST(&s->instances), *next; i != NULL; i = next) {
        next = TAILQ_NEXT(i, link);
        if (!is_decided(i) && i->listeners.count == 0)
            instance_drop(d, s, i);
    }
    if (TAILQ_EMPTY(&s->instances) && s->floor == 0)
        series_drop(d, s);
}

static void decisions_forget(struct decisions *d, const struct state_request *r, struct key key)
{
    struct series *s = series_find(d, key.name);

    if (s != NULL) {
        uint64_t floor = key.number;
        for (struct instance *i; (i = TAILQ_FIRST(&s->instances)) != NULL && i->number < floor;) {
            answer_listeners(d, i, ERROR_ENOENT);
            instance_drop(d, s, i);
        }
        if (floor > s->floor)
            s->floor = floor;
    }
    if (s != NULL && key.number == CONSENSUS_WHOLE)
        series_drop(d, s);
    decisions_answer(d, r, ERROR_OK);
}

static void decisions_cancel(void *engine, uint32_t task, uint32_t request)
{
    struct decisions *d = engine;
    const struct state_request r = {.task = task, .request = request};

    for (struct series *s = series_first(d), *next; s != NULL; s = next) {
        next = series_next(s);
        for (struct instance *i = TAILQ_FIRST(&s->instances); i != NULL; i = TAILQ_NEXT(i, link))
            if (listeners_cancel(&i->listeners, task, request))
                decisions_answer(d, &r, ERROR_ECANCELED);
        series_tidy(d, s);
    }
}

/* What they proposed stays. */
static void decisions_gone(void *engine, const struct state_gone *gone)
{
    struct decisions *d = engine;

    for (struct series *s = series_first(d), *next; s != NULL; s = next) {
        next = series_next(s);
        for (struct instance *i = TAILQ_FIRST(&s->instances); i != NULL; i = TAILQ_NEXT(i, link))
            listeners_drop_gone(&i->listeners, gone);
        series_tidy(d, s);
    }
}

/* ---- commands ---- */

static bool decisions_apply(void *engine, const struct state_request *r, struct cursor *body)
{
    char name[NAME_BYTES_MAX + 1];
    bool named = name_get(body, name);
    struct key key = {.name = name, .number = cursor_get_u64(body)};

    if (r->kind == COMMAND_CONSENSUS_PROPOSE ? !cursor_ok(body) : !cursor_done(body))
        return false;
    if (!named)
        decisions_answer(engine, r, ERROR_EINVAL);
    else if (r->kind == COMMAND_CONSENSUS_PROPOSE)
        decisions_propose(engine, r, key, body);
    else if (r->kind == COMMAND_CONSENSUS_LEARN)
        learn(engine, r, key);
    else
        decisions_forget(engine, r, key);
    return true;
}

static int32_t decisions_query(const void *engine, const struct state_request *r,
                               struct cursor *body, struct cursor *out)
{
    const struct decisions *d = engine;
    char name[NAME_BYTES_MAX + 1];
    bool named = name_get(body, name);
    struct key key = {.name = name, .number = cursor_get_u64(body)};
    const struct instance *i;
    const struct series *s;

    (void)r;
    if (!named || !cursor_done(body))
        return ERROR_EINVAL;
    i = decided(d, key);
    s = series_find(d, name);
    if (s != NULL && key.number < s->floor)
        return ERROR_ENOENT;
    if (i == NULL)
        cursor_put_u32(out, 0);
    else
        put_decision(out, i);
    return ERROR_OK;
}

/* ---- snapshots ---- */

static bool instance_load(struct decisions *d, struct series *s, struct cursor *c)
{
    uint64_t number = cursor_get_u64(c);
    uint32_t proposer = cursor_get_u32(c);
    struct value value = {.size = cursor_get_u16(c)};
    struct instance *i;

    value.bytes = cursor_get_view(c, value.size);
    if (!cursor_ok(c) || value.size > CONSENSUS_VALUE_MAX ||
        (!TAILQ_EMPTY(&s->instances) && TAILQ_LAST(&s->instances, instance_list)->number >= number))
        return false;
    i = instance_add(d, s, number);
    if (i == NULL || (proposer != 0 && !value_keep(d, i, &value)))
        return false;
    i->proposer = proposer;
    return listeners_load(&i->listeners, c);
}

static bool series_load(struct decisions *d, struct cursor *c)
{
    char name[NAME_BYTES_MAX + 1];
    struct series *s;
    uint32_t count;

    if (!name_get(c, name) || series_find(d, name) != NULL)
        return false;
    s = series_add(d, name);
    if (s == NULL)
        return false;
    s->floor = cursor_get_u64(c);
    count = cursor_get_u32(c);
    for (uint32_t i = 0; i < count; i++)
        if (d->bytes > CONSENSUS_BYTES_MAX || !instance_load(d, s, c))
            return false; /* also when `count` is not what is there */
    return cursor_ok(c);
}

static void decisions_save(const void *engine, struct cursor *c)
{
    const struct decisions *d = engine;

    cursor_put_u32(c, (uint32_t)d->series.count);
    for (const struct series *s = series_first(d); s != NULL; s = series_next(s)) {
        cursor_put_text(c, s->name.text);
        cursor_put_u64(c, s->floor);
        uint32_t count = 0;
        for (const struct instance *i = TAILQ_FIRST(&s->instances); i != NULL;
             i = TAILQ_NEXT(i, link))
            count++;
        cursor_put_u32(c, count);
        for (const struct instance *i = TAILQ_FIRST(&s->instances); i != NULL;
             i = TAILQ_NEXT(i, link)) {
            cursor_put_u64(c, i->number);
            cursor_put_u32(c, i->proposer);
            cursor_put_u16(c, (uint16_t)i->size);
            cursor_put_bytes(c, i->value, i->size);
            listeners_save(&i->listeners, c);
        }
    }
}

static bool decisions_load(void *engine, struct cursor *c)
{
    uint32_t count = cursor_get_u32(c);

    for (uint32_t i = 0; i < count; i++)
        if (!series_load(engine, c))
            return false;
    return cursor_ok(c);
}

const struct state_engine consensus_engine = {
    .create = decisions_create,
    .destroy = decisions_destroy,
    .apply = decisions_apply,
    .query = decisions_query,
    .cancel = decisions_cancel,
    .gone = decisions_gone,
    .save = decisions_save,
    .load = decisions_load,
};
