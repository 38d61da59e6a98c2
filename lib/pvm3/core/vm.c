/*
 * libpvm3: PVM's calls on covey.h.
 *
 *   vm.c       the membership: pvm_mytid(), pvm_parent(), pvm_exit()
 *   body.c     the bytes of a message; buffer.c: message buffers by number
 *   pack.c, packf.c, nested.c: what goes into buffers and comes out of them
 *   wire.c     a buffer as a message of Covey
 *   send.c     sending; recv.c: receiving
 *   inbox.c    messages that came and were not yet received; handler.c, notify.c, output.c and
 *              siblings.c take what is theirs before it gets there
 *   spawn.c, job.c, tasks.c, host.c: tasks and hosts
 *   mailbox.c  messages that are known by name; mailbox_state.c: what is in them; journal.c: how
 *              all tasks agree on it
 *   calls.c    what programs call, with events for a tracer; calls.h: the same without
 *   trace.c, trace_names.c, mask.c, tracer.c: those events, and who gets them
 *   plugin.c   tasks that take over work of the daemons; rm.c, rm_exec.c: the resource manager
 *   context.c, option.c, export.c, error.c, mask.c, start.c, clock.c, tickle.c: small things
 *   part.c     what of this is told to the subjects above it: root/parts.c has the table
 *   groups/    libgpvm3, on pvm3.h and covey.h
 *   fortran/   libfpvm3, on pvm3.h
 *   console/   pvm, on pvm3.h
 *
 * PVM's tids are Covey's: both have 12 bits for the host and 18 for the task on it. All messages
 * travel with one tag of Covey; PVM's tag and context are in the message, because a receiver also
 * matches by context, by its own function and by handlers. Nothing here is safe for threads, as
 * nothing in PVM is.
 *
 * What a program was spawned with stands in its environment: PVMCTX, the context of the spawner,
 * by whose presence a task knows that pvm_spawn() started it; PVMSIBS, how many were asked for; and
 * PVMNOPARENT, when the spawner does not want to be known as the parent.
 */
#include "lib/pvm3/core/vm.h"

#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/part.h"

int pvmmytid = -1;
int pvmmyctx;
static covey_t *membership;
static int parent = PvmNoParent;

/* A number of the environment, as pvm_spawn() puts it there. */
static int spawned_with(const char *name, int *value)
{
    const char *text = getenv(name);
    if (text == NULL || text[0] == '\0')
        return 0;
    *value = (int)strtol(text, NULL, 0);
    return 1;
}

static int parent_of(covey_t *vm)
{
    int value;
    if (covey_parent(vm) == COVEY_NO_PARENT || !spawned_with("PVMCTX", &value))
        return PvmNoParent; /* a program that covey run started has the console for a parent */
    if (spawned_with("PVMNOPARENT", &value))
        return PvmParentNotSet;
    return spawned_with("PVMPARENT", &value) && vm_is_task(value) ? value : covey_parent(vm);
}

static int vm_join(covey_t **vm)
{
    struct covey_options options = {.output = COVEY_OUTPUT_DISCARD}; /* see output.c */
    const char *id = getenv("PVM_VMID");
    if (getenv("COVEY_VM") == NULL && getenv("COVEY_SOCKET") == NULL && id != NULL && id[0] != '\0')
        options.vm = id;
    return covey_join(vm, &options);
}

covey_t *vm_find(void)
{
    covey_t *vm = membership;
    if (vm == NULL && vm_join(&vm) == COVEY_OK) {
        membership = vm;
        pvmmytid = covey_mytid(vm);
        parent = parent_of(vm);
        bool spawned = parent != PvmNoParent;
        if (spawned)
            spawned_with("PVMCTX", &pvmmyctx);
        part_each(part, start) part->start(spawned);
    }
    return vm;
}

covey_t *vm_enter(void)
{
    covey_t *vm = vm_find();
    if (vm == NULL)
        error_note("%s", covey_error_text());
    return vm;
}

covey_t *vm_handle(void)
{
    return membership;
}

bool vm_is_spawner(int tid)
{
    return membership != NULL && vm_is_task(tid) &&
           (tid == covey_parent(membership) || tid == parent);
}

covey_t *pvm_covey(void)
{
    return vm_enter();
}

int call_mytid(void)
{
    return vm_enter() == NULL ? lpvmerr("pvm_mytid", PvmSysErr) : pvmmytid;
}

int call_parent(void)
{
    return vm_enter() == NULL ? lpvmerr("pvm_parent", PvmSysErr) : parent;
}

int call_exit(void)
{
    if (membership == NULL)
        return PvmOk;
    part_each(part, leave) part->leave();
    covey_leave(&membership);
    part_each(part, clear) part->clear();
    pvmmytid = -1;
    parent = PvmNoParent;
    return PvmOk;
}
