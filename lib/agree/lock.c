/*
 * lock.c - named locks of the whole VM. What they are is described in proto/state/lock.c.
 */
#include "lib/agree/service.h"
#include "proto/wire/command.h"

static int acquire(covey_t *vm, const char *name, int64_t timeout_us, uint64_t *fence)
{
    struct service s;
    if (service_open(&s, vm, COMMAND_LOCK_ACQUIRE, "lock", name) != COVEY_OK)
        return COVEY_EINVAL;
    cursor_put_u8(&s.body, timeout_us == COVEY_POLL);
    return service_number(&s, timeout_us, fence);
}

int covey_lock(covey_t *vm, const char *name, int64_t timeout_us, uint64_t *fence)
{
    return acquire(vm, name, timeout_us, fence);
}

int covey_trylock(covey_t *vm, const char *name, uint64_t *fence)
{
    return acquire(vm, name, COVEY_POLL, fence);
}

int covey_unlock(covey_t *vm, const char *name, uint64_t fence)
{
    struct service s;
    if (service_open(&s, vm, COMMAND_LOCK_RELEASE, "lock", name) != COVEY_OK)
        return COVEY_EINVAL;
    cursor_put_u64(&s.body, fence);
    return service_order(&s, COVEY_POLL);
}

covey_tid_t covey_lock_owner(covey_t *vm, const char *name, uint64_t *fence)
{
    struct service s;
    if (service_open(&s, vm, COMMAND_LOCK_OWNER, "lock", name) != COVEY_OK)
        return COVEY_EINVAL;
    return service_holder(&s, fence);
}
