/*
 * ended.c - how tasks ended that this one has spawned and has had nothing to do with since: their
 * daemons tell each end to the spawner, and remember themselves only that of the last ones. It is
 * kept here until somebody asks for it with covey_notify(); of more than ENDED_MAX the oldest goes.
 */
#include "lib/member/ended.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"

#include <stdlib.h>

#define ENDED_MAX (TID_LOCAL_MAX + 1) /* one covey_spawn() starts no more */

struct ended {
    TAILQ_ENTRY(ended) in_order; /* the oldest first */
    LIST_ENTRY(ended) in_bucket;
    struct control_gone gone;
};

static struct ended_bucket *bucket(struct covey *vm, uint32_t tid)
{
    return &vm->known.ended.buckets[tid % ENDED_BUCKETS];
}

static struct ended *ended_find(struct covey *vm, uint32_t tid)
{
    struct ended *ended;
    for (ended = LIST_FIRST(bucket(vm, tid)); ended != NULL; ended = LIST_NEXT(ended, in_bucket))
        if (ended->gone.tid == tid)
            break;
    return ended;
}

static void ended_drop(struct covey *vm, struct ended *ended)
{
    TAILQ_REMOVE(&vm->known.ended.all, ended, in_order);
    LIST_REMOVE(ended, in_bucket);
    vm->known.ended.count--;
    free(ended);
}

void ended_init(struct covey *vm)
{
    TAILQ_INIT(&vm->known.ended.all);
}

void ended_keep(struct covey *vm, const struct control_gone *gone)
{
    struct ended *ended = ended_find(vm, gone->tid); /* of an earlier task with that number */
    if (ended != NULL)
        ended_drop(vm, ended);
    if (gone->kind == COVEY_EXIT_UNKNOWN)
        return;
    if (vm->known.ended.count == ENDED_MAX)
        ended_drop(vm, TAILQ_FIRST(&vm->known.ended.all));
    ended = malloc(sizeof *ended);
    if (ended == NULL) {
        home_lost(vm, COVEY_ENOMEM, "memory is exhausted: the end of a task could not be kept");
        return;
    }
    ended->gone = *gone;
    TAILQ_INSERT_TAIL(&vm->known.ended.all, ended, in_order);
    LIST_INSERT_HEAD(bucket(vm, gone->tid), ended, in_bucket);
    vm->known.ended.count++;
}

void ended_recall(struct covey *vm, struct control_gone *gone)
{
    struct ended *ended = ended_find(vm, gone->tid);
    if (ended == NULL)
        return;
    if (gone->kind == COVEY_EXIT_UNKNOWN)
        *gone = ended->gone;
    ended_drop(vm, ended);
}

void ended_free_all(struct covey *vm)
{
    while (!TAILQ_EMPTY(&vm->known.ended.all))
        ended_drop(vm, TAILQ_FIRST(&vm->known.ended.all));
}
