/*
 * held.c - all locks, tokens and meetings of the VM, for those who look.
 */
#include "lib/agree/service.h"
#include "lib/msg/error.h"
#include "proto/wire/command.h"

#include <stdlib.h>

#define TASK_BYTES 4

/* The next one; who waits is only counted. */
static bool held_get(struct cursor *c, int kind, struct covey_held *held)
{
    *held = (struct covey_held){.kind = kind};
    cursor_get_text(c, held->name, sizeof held->name);
    held->holder = (covey_tid_t)cursor_get_u32(c);
    held->number = cursor_get_u64(c);
    held->waiting = (int32_t)cursor_get_u32(c);
    cursor_get_view(c, (size_t)held->waiting * TASK_BYTES);
    return cursor_ok(c);
}

static int held_take(struct cursor *c, int kind, struct covey_held **list, int count)
{
    while (cursor_left(c) > 0) {
        struct covey_held held, *grown;
        if (!held_get(c, kind, &held))
            return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
        grown = realloc(*list, ((size_t)count + 1) * sizeof held);
        if (grown == NULL)
            return error_code(COVEY_ENOMEM);
        *list = grown;
        grown[count++] = held;
    }
    return count;
}

static int list_kind(covey_t *vm, int kind, struct covey_held **list, int count)
{
    static const uint8_t questions[] = {[COVEY_HELD_LOCK] = COMMAND_LOCK_LIST,
                                        [COVEY_HELD_TOKEN] = COMMAND_TOKEN_LIST,
                                        [COVEY_HELD_RENDEZVOUS] = COMMAND_RENDEZVOUS_LIST};
    struct service s;
    service_begin(&s, vm, questions[kind], "list", NULL);
    int error = service_ask(&s);
    if (error != COVEY_OK)
        return error;
    count = held_take(&s.answer, kind, list, count);
    service_drop(&s);
    return count;
}

int covey_held(covey_t *vm, struct covey_held **list)
{
    struct covey_held *all = NULL;
    int count = 0;
    if (vm == NULL || list == NULL)
        return error_set(COVEY_EINVAL, "held: NULL");
    for (int kind = COVEY_HELD_LOCK; kind <= COVEY_HELD_RENDEZVOUS && count >= 0; kind++)
        count = list_kind(vm, kind, &all, count);
    if (count < 0)
        free(all);
    else
        *list = all;
    return count;
}
