/*
 * call.c - what every public call begins and ends with: the lock, and where the time goes.
 */
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"

struct call call_begin(struct covey *vm)
{
    pthread_mutex_lock(&vm->lock);
    vm->self.now_us = clock_us();
    return (struct call){.start_us = vm->self.now_us, .idle_us = vm->self.idle_us};
}

int call_end(struct covey *vm, const struct call *call, int result)
{
    uint64_t spent_us = clock_us() - call->start_us;
    uint64_t idle_us = vm->self.idle_us - call->idle_us;
    vm->self.communication_us += spent_us > idle_us ? spent_us - idle_us : 0;
    wait_left(vm);
    pthread_mutex_unlock(&vm->lock);
    return result;
}

int call_idle(struct covey *vm, bool (*done)(void *context), void *context, uint64_t deadline_us)
{
    if (done(context))
        return COVEY_OK;
    uint64_t start_us = clock_us();
    int error = wait_until(vm, done, context, deadline_us);
    vm->self.idle_us += clock_us() - start_us;
    return error;
}

int covey_timing(covey_t *vm, struct covey_timing *timing)
{
    if (vm == NULL || timing == NULL)
        return error_set(COVEY_EINVAL, "timing: NULL");
    pthread_mutex_lock(&vm->lock);
    timing->elapsed_s = (double)(clock_us() - vm->self.joined_us) / 1e6;
    timing->idle_s = (double)vm->self.idle_us / 1e6;
    timing->communication_s = (double)vm->self.communication_us / 1e6;
    pthread_mutex_unlock(&vm->lock);
    return COVEY_OK;
}
