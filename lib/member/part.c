/*
 * part.c - walks the table of parts: what happens in the engine is told to the rows that asked for
 * it, in the order of the table.
 */
#include "lib/member/part.h"
#include "lib/member/vm.h"

/* Calls `hook` of each row that has one. */
#define TELL(vm, hook, ...)                                                                        \
    for (const struct part *const *p = (vm)->parts; *p != NULL; p++)                               \
        if ((*p)->hook != NULL)                                                                    \
            (*p)->hook(__VA_ARGS__);

void parts_settle(struct covey *vm)
{
    while (vm->wait.due != 0) {
        unsigned due = vm->wait.due;
        vm->wait.due = 0;
        for (const struct part *const *p = vm->parts; *p != NULL; p++) {
            if ((due & part_bit((*p)->id)) != 0 && (*p)->settle != NULL)
                (*p)->settle(vm);
        }
    }
}

bool parts_look(struct covey *vm)
{
    bool came = false;
    for (const struct part *const *p = vm->parts; *p != NULL && vm->wait.looked > 0; p++)
        came = ((*p)->look != NULL && (*p)->look(vm)) || came;
    return came;
}

bool parts_arm(struct covey *vm)
{
    bool came = false;
    for (const struct part *const *p = vm->parts; *p != NULL && vm->wait.looked > 0; p++)
        came = ((*p)->arm != NULL && (*p)->arm(vm)) || came;
    return came;
}

void parts_check(struct covey *vm, uint64_t now_us)
{
    TELL(vm, check, vm, now_us)
}

void parts_task_silent(struct covey *vm, const struct peer *peer)
{
    TELL(vm, task_silent, vm, peer)
}

void parts_task_gone(struct covey *vm, struct peer *peer)
{
    TELL(vm, task_gone, vm, peer)
}

void parts_syncs_lost(struct covey *vm, const struct peer *peer)
{
    TELL(vm, syncs_lost, vm, peer)
}

void parts_host_event(struct covey *vm, const struct control_host_event *event)
{
    TELL(vm, host_event, vm, event)
}

void parts_home_lost(struct covey *vm, int error, const char *why)
{
    TELL(vm, home_lost, vm, error, why)
}

void parts_home_ready(struct covey *vm)
{
    TELL(vm, home_ready, vm)
}

void parts_leave(struct covey *vm)
{
    TELL(vm, leave, vm)
}

const struct part_handler *parts_handler(const struct covey *vm, uint8_t kind)
{
    return vm->home.handlers[kind];
}
