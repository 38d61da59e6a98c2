/*
 * self.c - who and where this task is, as its daemon told it when it joined.
 */
#include "lib/member/vm.h"

covey_tid_t covey_mytid(const covey_t *vm)
{
    return (covey_tid_t)vm->self.tid;
}

covey_tid_t covey_parent(const covey_t *vm)
{
    return (covey_tid_t)vm->self.parent;
}

const char *covey_myhost(const covey_t *vm)
{
    return vm->self.host_name;
}

const char *covey_vm_name(const covey_t *vm)
{
    return vm->self.vm_name;
}

int covey_tid_host(covey_tid_t tid)
{
    return tid > 0 ? (int)tid_host((uint32_t)tid) : 0;
}
