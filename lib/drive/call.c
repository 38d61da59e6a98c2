/*
 * call.c - what every public call begins and ends with: the lock, and where the time goes.
 */
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/member/trace.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"

#define SAMPLE 61       /* of so many short calls one is timed; a prime, for they come in turns */
#define SHORT_US_MAX 20 /* what takes longer was kept from the processor: it counts for itself */

/* What the daemon is shown: it is in a call. */
static void page_call_begin(struct covey *vm, const char *name)
{
    struct task_counts *counts = &vm->self.page->counts;
    vm->self.awaits = (struct task_awaits){.call = name};
    task_count_set(&counts->call_idle_us, task_count_get(&counts->idle_us));
    task_count_set(&counts->call_us, vm->self.now_us);
}

struct call call_begin_as(struct covey *vm, const char *name)
{
    pthread_mutex_lock(&vm->lock);
    vm->self.now_us = clock_us();
    page_call_begin(vm, name);
    return (struct call){.start_us = vm->self.now_us,
                         .idle_us = task_count_get(&vm->self.page->counts.idle_us),
                         .name = name,
                         .begun = vm->trace == NULL ? 0 : trace_call_begin(vm->trace, name)};
}

int call_end(struct covey *vm, const struct call *call, int result)
{
    uint64_t spent_us = clock_us() - call->start_us;
    struct task_counts *counts = &vm->self.page->counts;
    uint64_t idle_us = task_count_get(&counts->idle_us) - call->idle_us;
    task_count_set(&counts->call_us, 0);
    task_count_add(&counts->communication_us, spent_us > idle_us ? spent_us - idle_us : 0);
    wait_left(vm);
    if (vm->trace != NULL && call->told)
        trace_call_told(vm->trace);
    else if (vm->trace != NULL && call->begun != 0)
        trace_call_end(vm->trace, call->name, call->begun);
    pthread_mutex_unlock(&vm->lock);
    return result;
}

void call_begin_short(struct covey *vm, struct call *call, const char *name)
{
    pthread_mutex_lock(&vm->lock);
    call->name = name;
    call->begun = 0;
    call->told = false;
    if (vm->trace != NULL)
        call->begun = vm->trace->begun = trace_now(vm->trace);
    call->sampled = ++vm->self.short_calls % SAMPLE == 0;
    if (call->sampled)
        call->start_us = clock_us();
}

static void count_sample(struct covey *vm, const struct call *call, uint64_t now_us, bool waited)
{
    struct task_counts *counts = &vm->self.page->counts;
    uint64_t us = now_us - call->start_us;
    task_count_add(waited ? &counts->idle_us : &counts->communication_us,
                   us > SHORT_US_MAX ? us : us * SAMPLE);
}

int call_end_short(struct covey *vm, const struct call *call, bool waited)
{
    if (call->sampled)
        count_sample(vm, call, clock_us(), waited);
    vm->wait.calls++;
    if (vm->wait.due != 0 || vm->out.sending != NULL ||
        vm->wait.asleep_until_us[POLLER_PROGRESS] != 0)
        wait_left(vm);
    pthread_mutex_unlock(&vm->lock);
    return COVEY_OK;
}

void call_go_on(struct covey *vm, struct call *call, bool waited)
{
    vm->self.now_us = clock_us();
    if (call->sampled)
        count_sample(vm, call, vm->self.now_us, waited);
    page_call_begin(vm, call->name);
    if (vm->trace != NULL && call->begun != 0)
        trace_call_open(vm->trace, call->name, call->begun);
    call->start_us = vm->self.now_us;
    call->idle_us = task_count_get(&vm->self.page->counts.idle_us);
}

int call_idle(struct covey *vm, bool (*done)(void *context), void *context, uint64_t deadline_us)
{
    if (done(context))
        return COVEY_OK;
    uint64_t start_us = clock_us();
    vm->self.awaits.idle = true;
    int error = wait_until(vm, done, context, deadline_us);
    vm->self.awaits.idle = false;
    task_count_add(&vm->self.page->counts.idle_us, clock_us() - start_us);
    return error;
}

int covey_timing(covey_t *vm, struct covey_timing *timing)
{
    if (vm == NULL || timing == NULL)
        return error_set(COVEY_EINVAL, "timing: NULL");
    pthread_mutex_lock(&vm->lock);
    const struct task_counts *counts = &vm->self.page->counts;
    timing->elapsed_s = (double)(clock_us() - task_count_get(&counts->joined_us)) / 1e6;
    timing->idle_s = (double)task_count_get(&counts->idle_us) / 1e6;
    timing->communication_s = (double)task_count_get(&counts->communication_us) / 1e6;
    pthread_mutex_unlock(&vm->lock);
    return COVEY_OK;
}
