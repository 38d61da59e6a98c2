/*
 * lock.c - mutual exclusion: named locks, first come first served, each held by one task at a time.
 * A lock exists while somebody holds it. Every grant has a fencing number larger than all before
 * it, so that what the lock guards can refuse whoever lost it without knowing; numbers are of the
 * whole VM, so that a lock that was let go of leaves nothing behind.
 *
 *   locks = count=u32 *(name=text holder=u32 request=u32 fence=u64 waiters)
 */
#include <stdlib.h>

#include "proto/state/state_engine.h"
#include "proto/state/waiters.h"
#include "proto/wire/names.h"

struct lock {
    struct name name;
    uint32_t holder, request; /* which of its requests was granted */
    uint64_t fence;
    struct waiters waiters;
};

struct locks {
    struct state *state;
    struct names names;
};

static struct lock *lock_first(const struct locks *l)
{
    return (struct lock *)l->names.first;
}

static struct lock *lock_next(const struct lock *lock)
{
    return (struct lock *)lock->name.next;
}

static struct lock *lock_find(const struct locks *l, const char *name)
{
    return (struct lock *)names_find(&l->names, name);
}

static void *locks_create(struct state *state)
{
    struct locks *l = calloc(1, sizeof *l);
    if (l != NULL)
        l->state = state;
    return l;
}

static void lock_remove(struct locks *l, struct lock *lock)
{
    waiters_clear(&lock->waiters);
    names_remove(&l->names, &lock->name);
}

static void locks_destroy(void *engine)
{
    struct locks *l = engine;
    while (lock_first(l) != NULL)
        lock_remove(l, lock_first(l));
    free(l);
}

/* ---- grants ---- */

static void grant(struct locks *l, struct lock *lock, uint32_t task, uint32_t request)
{
    uint8_t body[8];
    struct cursor c = cursor_writer(body, sizeof body);
    lock->holder = task;
    lock->request = request;
    lock->fence = state_fence(l->state);
    cursor_put_u64(&c, lock->fence);
    state_answer(l->state, &(struct state_request){.task = task, .request = request}, ERROR_OK,
                 body, sizeof body);
}

/* The holder has it no more: the next one in line does, or nobody. */
static void lock_pass_on(struct locks *l, struct lock *lock)
{
    struct waiter next;
    if (waiters_take(&lock->waiters, &next))
        grant(l, lock, next.task, next.request);
    else
        lock_remove(l, lock);
}

static void create_granted(struct locks *l, const char *name, const struct state_request *r)
{
    struct lock *lock = NULL;
    if (l->names.count >= NAMES_MAX) {
        state_answer(l->state, r, ERROR_ERESOURCE, NULL, 0);
        return;
    }
    lock = names_add(&l->names, name, sizeof *lock);
    if (lock == NULL)
        state_exhausted(l->state);
    else
        grant(l, lock, r->task, r->request);
}

static void acquire(struct locks *l, const char *name, const struct state_request *r, bool try)
{
    struct lock *lock = lock_find(l, name);
    if (lock == NULL)
        create_granted(l, name, r);
    else if (lock->holder == r->task || waiters_find(&lock->waiters, r->task) != NULL)
        state_answer(l->state, r, ERROR_EEXIST, NULL, 0);
    else if (try)
        state_answer(l->state, r, ERROR_ETIMEOUT, NULL, 0);
    else if (lock->waiters.count >= WAITERS_MAX)
        state_answer(l->state, r, ERROR_ERESOURCE, NULL, 0);
    else if (!waiters_add(&lock->waiters, r->task, r->request))
        state_exhausted(l->state);
}

static bool lock_apply(void *engine, const struct state_request *r, struct cursor *body)
{
    struct locks *l = engine;
    char name[NAME_BYTES_MAX + 1];
    bool named = name_get(body, name);
    bool acquires = r->kind == COMMAND_LOCK_ACQUIRE;
    uint64_t number = acquires ? cursor_get_u8(body) : cursor_get_u64(body);
    if (!cursor_done(body) || (acquires && number > 1))
        return false;
    if (!named)
        state_answer(l->state, r, ERROR_EINVAL, NULL, 0);
    else if (acquires)
        acquire(l, name, r, number == 1);
    else {
        struct lock *lock = lock_find(l, name);
        bool held = lock != NULL && lock->holder == r->task && lock->fence == number;
        state_answer(l->state, r, held ? ERROR_OK : ERROR_EDENIED, NULL, 0);
        if (held)
            lock_pass_on(l, lock);
    }
    return true;
}

static int32_t lock_query(const void *engine, const struct state_request *r, struct cursor *body,
                          struct cursor *out)
{
    const struct locks *l = engine;
    char name[NAME_BYTES_MAX + 1];
    if (r->kind == COMMAND_LOCK_LIST) {
        for (const struct lock *lock = lock_first(l); lock != NULL; lock = lock_next(lock)) {
            cursor_put_text(out, lock->name.text);
            cursor_put_u32(out, lock->holder);
            cursor_put_u64(out, lock->fence);
            waiters_list(&lock->waiters, out);
        }
        return ERROR_OK;
    }
    if (!name_get(body, name) || !cursor_done(body))
        return ERROR_EINVAL;
    const struct lock *lock = lock_find(l, name);
    cursor_put_u32(out, lock == NULL ? 0 : lock->holder);
    cursor_put_u64(out, lock == NULL ? 0 : lock->fence);
    return ERROR_OK;
}

/* ---- ends ---- */

static void lock_cancel(void *engine, uint32_t task, uint32_t request)
{
    struct locks *l = engine;
    const struct state_request r = {.task = task, .request = request};
    for (struct lock *lock = lock_first(l), *next; lock != NULL; lock = next) {
        const struct waiter *waiter = waiters_find(&lock->waiters, task);
        struct waiter dropped;
        next = lock_next(lock);
        if (waiter != NULL && waiter->request == request) {
            waiters_drop(&lock->waiters, task, &dropped);
            state_answer(l->state, &r, ERROR_ECANCELED, NULL, 0);
        } else if (lock->holder == task && lock->request == request) {
            lock_pass_on(l, lock);
        }
    }
}

static void lock_gone(void *engine, const struct state_gone *gone)
{
    struct locks *l = engine;
    for (struct lock *lock = lock_first(l), *next; lock != NULL; lock = next) {
        next = lock_next(lock);
        waiters_drop_gone(&lock->waiters, gone);
        if (state_is_gone(gone, lock->holder))
            lock_pass_on(l, lock);
    }
}

/* ---- snapshots ---- */

static void lock_save(const void *engine, struct cursor *c)
{
    const struct locks *l = engine;
    cursor_put_u32(c, (uint32_t)l->names.count);
    for (const struct lock *lock = lock_first(l); lock != NULL; lock = lock_next(lock)) {
        cursor_put_text(c, lock->name.text);
        cursor_put_u32(c, lock->holder);
        cursor_put_u32(c, lock->request);
        cursor_put_u64(c, lock->fence);
        waiters_save(&lock->waiters, c);
    }
}

static bool lock_load(void *engine, struct cursor *c)
{
    struct locks *l = engine;
    uint32_t count = cursor_get_u32(c);
    for (uint32_t i = 0; i < count; i++) {
        char name[NAME_BYTES_MAX + 1];
        if (!name_get(c, name) || lock_find(l, name) != NULL)
            return false;
        struct lock *lock = names_add(&l->names, name, sizeof *lock);
        if (lock == NULL)
            return false;
        lock->holder = cursor_get_u32(c);
        lock->request = cursor_get_u32(c);
        lock->fence = cursor_get_u64(c);
        if (lock->holder == 0 || !waiters_load(&lock->waiters, c))
            return false;
    }
    return cursor_ok(c);
}

const struct state_engine lock_engine = {
    .create = locks_create,
    .destroy = locks_destroy,
    .apply = lock_apply,
    .query = lock_query,
    .cancel = lock_cancel,
    .gone = lock_gone,
    .save = lock_save,
    .load = lock_load,
};
