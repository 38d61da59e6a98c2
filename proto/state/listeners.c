/* listeners.c - lists of listeners and their encoding. */
#include "proto/state/listeners.h"

#include <stdlib.h>
#include <string.h>

#include "proto/wire/grow.h"

#define LISTENERS_FIRST 8

void listeners_clear(struct listeners *l)
{
    free(l->list);
    *l = (struct listeners){0};
}

static size_t listener_position(const struct listeners *l, uint32_t task, uint32_t request)
{
    size_t i = 0;

    while (i < l->count && (l->list[i].task != task || l->list[i].request != request))
        i++;
    return i;
}

bool listeners_add(struct listeners *l, const struct listener *listener)
{
    if (listener_position(l, listener->task, listener->request) < l->count)
        return true;
    if (!GROW(l->list, l->capacity, l->count + 1, LISTENERS_FIRST))
        return false;
    l->list[l->count++] = *listener;
    return true;
}

bool listeners_cancel(struct listeners *l, uint32_t task, uint32_t request)
{
    size_t i = listener_position(l, task, request);
    if (i == l->count)
        return false;
    l->count--;
    memmove(&l->list[i], &l->list[i + 1], (l->count - i) * sizeof l->list[0]);
    return true;
}

void listeners_drop_task(struct listeners *l, uint32_t task)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->count; i++)
        if (l->list[i].task != task)
            l->list[kept++] = l->list[i];
    l->count = kept;
}

void listeners_drop_gone(struct listeners *l, const struct state_gone *gone)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->count; i++)
        if (!state_is_gone(gone, l->list[i].task))
            l->list[kept++] = l->list[i];
    l->count = kept;
}

void listeners_save(const struct listeners *l, struct cursor *c)
{
    cursor_put_u32(c, (uint32_t)l->count);
    for (size_t i = 0; i < l->count; i++) {
        cursor_put_u32(c, l->list[i].task);
        cursor_put_u32(c, l->list[i].request);
        cursor_put_u64(c, l->list[i].after);
    }
}

bool listeners_load(struct listeners *l, struct cursor *c)
{
    uint32_t count = cursor_get_u32(c);

    if (count > LISTENERS_MAX)
        return false;
    for (uint32_t i = 0; i < count && cursor_ok(c); i++) {
        struct listener listener = {.task = cursor_get_u32(c)};

        listener.request = cursor_get_u32(c);
        listener.after = cursor_get_u64(c);
        if (!listeners_add(l, &listener))
            return false;
    }
    return cursor_ok(c);
}
