/*
 * mark.c - a program's own words in its trace.
 */
#include "lib/member/trace.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"

static int mark(covey_t *vm, enum trace_kind kind, const char *name, double value)
{
    if (vm == NULL || name == NULL)
        return error_set(COVEY_EINVAL, "trace: NULL");
    if (trace_begin(vm) == 0)
        return COVEY_OK;
    pthread_mutex_lock(&vm->lock);
    if (vm->trace != NULL)
        trace_instant(vm->trace, kind, name, value);
    pthread_mutex_unlock(&vm->lock);
    return COVEY_OK;
}

int covey_trace_begin(covey_t *vm, const char *name)
{
    return mark(vm, TRACE_ENTER, name, 0);
}

int covey_trace_end(covey_t *vm, const char *name)
{
    return mark(vm, TRACE_LEAVE, name, 0);
}

int covey_trace_mark(covey_t *vm, const char *name)
{
    return mark(vm, TRACE_MARK, name, 0);
}

int covey_trace_count(covey_t *vm, const char *name, double value)
{
    return mark(vm, TRACE_COUNT, name, value);
}

int covey_trace_expect(covey_t *vm, const char *name, double seconds)
{
    return mark(vm, TRACE_EXPECT, name, seconds);
}

int covey_trace_on(covey_t *vm)
{
    if (vm == NULL)
        return error_set(COVEY_EINVAL, "trace: NULL");
    return trace_begin(vm) != 0;
}
