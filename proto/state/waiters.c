/*
 * waiters.c - a list with both its ends at hand.
 */
#include "proto/state/waiters.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdlib.h>

#define WAITER_BYTES 8

bool waiters_add(struct waiters *w, uint32_t task, uint32_t request)
{
    struct waiter *waiter = malloc(sizeof *waiter);
    if (waiter == NULL)
        return false;
    *waiter = (struct waiter){.task = task, .request = request};
    LINK_LAST(w->first, w->last, waiter, next);
    w->count++;
    return true;
}

const struct waiter *waiters_find(const struct waiters *w, uint32_t task)
{
    const struct waiter *waiter = w->first;
    while (waiter != NULL && waiter->task != task)
        waiter = waiter->next;
    return waiter;
}

/* Takes out what stands behind `before`, or the first where that is NULL. */
static void unlink_after(struct waiters *w, struct waiter *before, struct waiter *taken)
{
    struct waiter **at = before != NULL ? &before->next : &w->first;
    struct waiter *waiter = *at;
    assert(waiter != NULL && w->count > 0);
    *at = waiter->next;
    if (w->last == waiter)
        w->last = before;
    w->count--;
    *taken = *waiter;
    free(waiter);
}

bool waiters_take(struct waiters *w, struct waiter *taken)
{
    if (w->first == NULL)
        return false;
    unlink_after(w, NULL, taken);
    return true;
}

bool waiters_drop(struct waiters *w, uint32_t task, struct waiter *dropped)
{
    struct waiter *before = NULL;
    for (struct waiter *at = w->first; at != NULL; before = at, at = at->next) {
        if (at->task != task)
            continue;
        unlink_after(w, before, dropped);
        return true;
    }
    return false;
}

void waiters_drop_gone(struct waiters *w, const struct state_gone *gone)
{
    struct waiter *before = NULL, unused;
    for (struct waiter *at = w->first, *next; at != NULL; at = next) {
        next = at->next;
        if (state_is_gone(gone, at->task))
            unlink_after(w, before, &unused);
        else
            before = at;
    }
}

void waiters_clear(struct waiters *w)
{
    struct waiter unused;
    while (waiters_take(w, &unused)) {
    }
}

void waiters_save(const struct waiters *w, struct cursor *c)
{
    cursor_put_u32(c, (uint32_t)w->count);
    for (const struct waiter *at = w->first; at != NULL; at = at->next) {
        cursor_put_u32(c, at->task);
        cursor_put_u32(c, at->request);
    }
}

void waiters_list(const struct waiters *w, struct cursor *c)
{
    cursor_put_u32(c, (uint32_t)w->count);
    for (const struct waiter *at = w->first; at != NULL; at = at->next)
        cursor_put_u32(c, at->task);
}

bool waiters_load(struct waiters *w, struct cursor *c)
{
    uint32_t count = cursor_get_u32(c);
    if (count > cursor_left(c) / WAITER_BYTES)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t task = cursor_get_u32(c), request = cursor_get_u32(c);
        if (task == 0 || !waiters_add(w, task, request))
            return false;
    }
    return true;
}
