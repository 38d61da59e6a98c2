/*
 * listeners.h - who waits for something with a number above one that he names: the next view, the
 * next term. A listener is told by its task and the number of its request.
 */
#ifndef COVEY_PROTO_LISTENERS_H
#define COVEY_PROTO_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/state/state_engine.h"

#define LISTENERS_MAX 8192 /* in one list */

struct listener {
    uint32_t task, request;
    uint64_t after; /* it knows all up to this */
};

struct listeners {
    struct listener *list; /* in the order they came */
    size_t count, capacity;
};

void listeners_clear(struct listeners *l);

/* Adds one, once. False: no memory. The caller keeps to LISTENERS_MAX. */
bool listeners_add(struct listeners *l, const struct listener *listener);

/* Takes out the listener with that request; false: there is none. */
bool listeners_cancel(struct listeners *l, uint32_t task, uint32_t request);

/* Forgets all listeners of a task, and all that are gone. */
void listeners_drop_task(struct listeners *l, uint32_t task);
void listeners_drop_gone(struct listeners *l, const struct state_gone *gone);

/* listeners = count=u32 count*(task=u32 request=u32 after=u64) */
void listeners_save(const struct listeners *l, struct cursor *c);
bool listeners_load(struct listeners *l, struct cursor *c); /* into an empty list; false: refused */

#endif
