/*
 * waiters.h - tasks that wait for something, first come first served. A task waits once. At most
 * WAITERS_MAX wait for one thing, which its engine sees to: it answers further ones
 * ERROR_ERESOURCE.
 */
#ifndef COVEY_PROTO_WAITERS_H
#define COVEY_PROTO_WAITERS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/state/state_engine.h"
#include "proto/wire/cursor.h"

#define WAITERS_MAX 16384

struct waiter {
    struct waiter *next;
    uint32_t task, request; /* the request that is answered when the wait ends */
};

struct waiters {
    struct waiter *first, *last;
    size_t count;
};

bool waiters_add(struct waiters *w, uint32_t task, uint32_t request); /* false: no memory */
const struct waiter *waiters_find(const struct waiters *w, uint32_t task);

/* Takes out the first one; false: none waits. */
bool waiters_take(struct waiters *w, struct waiter *taken);
/* Takes out that task; false: it does not wait. */
bool waiters_drop(struct waiters *w, uint32_t task, struct waiter *dropped);
void waiters_drop_gone(struct waiters *w, const struct state_gone *gone);
void waiters_clear(struct waiters *w);

/*   waiters = count=u32 *(task=u32 request=u32)
 * A load fills an empty one; false: a task is there twice or memory is exhausted. */
void waiters_save(const struct waiters *w, struct cursor *c);
void waiters_list(const struct waiters *w, struct cursor *c); /* count=u32 *(task=u32) */
bool waiters_load(struct waiters *w, struct cursor *c);

#endif
