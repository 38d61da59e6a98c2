/*
 * vm.h - the process as a task of the virtual machine. PVM's calls have no handle: there is one
 * membership a process, which its first call begins and pvm_exit() ends.
 */
#ifndef COVEY_PVM3_VM_H
#define COVEY_PVM3_VM_H

#include <stdbool.h>

#include "lib/covey.h"

/* The membership, which begins now if it has not yet. NULL: there is none, and the error of the
 * call is PvmSysErr; it was printed why. */
covey_t *vm_enter(void);

/* The same without a word. */
covey_t *vm_find(void);

/* The membership if there is one. */
covey_t *vm_handle(void);

/* Whether that task has spawned this one: it may tell it what concerns both. */
bool vm_is_spawner(int tid);

#define DAEMON_TID ((int)0x80000000) /* sends notices */
#define TID_LOCAL 0x3ffff
#define TID_HOST 0x3ffc0000

/* The tid by which programs know a host's daemon. */
static inline int vm_daemon_of(int host)
{
    return host << 18;
}

/* It can be a task's. */
static inline int vm_is_task(int tid)
{
    return tid > 0 && (tid & TID_LOCAL) != 0 && (tid & TID_HOST) != 0 && tid < 0x40000000;
}

/* It can be a daemon's. */
static inline int vm_is_daemon(int tid)
{
    return tid > 0 && (tid & ~TID_HOST) == 0;
}

#endif
