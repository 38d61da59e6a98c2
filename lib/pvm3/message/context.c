/*
 * context.c - contexts, which keep messages of libraries apart. A new one has the number of the
 * host and a number that grows with each in the VM: that of a lock's grant.
 */
#include <pvm3.h>
#include <stdlib.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/grow.h"
#include "lib/pvm3/core/vm.h"

#define LOCK "pvm.context"
#define LOCK_US 30000000
#define NUMBERS 0x3ffff

static int *own; /* those that this task made and did not free */
static int own_count, own_capacity;

static int context_make(covey_t *vm)
{
    uint64_t number;
    int error = covey_lock(vm, LOCK, LOCK_US, &number);
    if (error != COVEY_OK)
        return error_of(error);
    covey_unlock(vm, LOCK, number);
    int host = vm_daemon_of(covey_tid_host(covey_mytid(vm)));
    int context = host | (int)(number % NUMBERS + 1);
    if (!GROW(own, own_capacity, own_count + 1, 8))
        return PvmNoMem;
    own[own_count++] = context;
    return context;
}

int call_newcontext(void)
{
    covey_t *vm = vm_enter();
    return error_reported("pvm_newcontext", vm == NULL ? PvmSysErr : context_make(vm));
}

int call_setcontext(int context)
{
    int before = pvmmyctx;
    pvmmyctx = context;
    return before;
}

int call_getcontext(void)
{
    return pvmmyctx;
}

int call_freecontext(int context)
{
    for (int i = 0; i < own_count; i++) {
        if (own[i] == context) {
            own[i] = own[--own_count];
            return PvmOk;
        }
    }
    return lpvmerr("pvm_freecontext", PvmNotFound);
}
