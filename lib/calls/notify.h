/*
 * notify.h - messages that the library itself makes.
 */
#ifndef COVEY_LIB_CALLS_NOTIFY_H
#define COVEY_LIB_CALLS_NOTIFY_H

#include "lib/member/vm.h"
#include <stdint.h>

struct control_host_event;
struct covey_msg;
struct frame;
struct notify;
struct peer;

/* What a task has asked for by covey_notify(). */
struct notices {
    struct notify *first;
};

static inline struct notices *notices_of(const struct covey *vm)
{
    return vm->part[PART_NOTICES];
}

void notify_task_exit(struct covey *vm, struct peer *peer);
void notify_host(struct covey *vm, const struct control_host_event *event);
void notify_on_ends(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void notify_output(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void notify_ended(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* A message of what was packed, from `source` (0: nobody) with `tag`; takes it, NULL is fine. */
void notify_deliver(struct covey *vm, struct covey_msg *packed, uint32_t source, int tag);
void notify_free_all(struct covey *vm);

#endif
