/*
 * starter.c - pvm_reg_hoster(): a program that starts daemons in place of the first one
 * of PVM's daemons. Covey's daemons do that themselves: they hand a new host the key of the VM, and
 * know a task by its process; covey.hosts(5) has a command of one's own for hosts (exec).
 */
#include "lib/pvm3/calls.h"
#include "lib/pvm3/error.h"
#include "lib/pvm3/vm.h"

static int refuse(const char *call, const char *instead)
{
    if (vm_enter() == NULL)
        return lpvmerr(call, PvmSysErr);
    error_note("%s(): %s", call, instead);
    return lpvmerr(call, PvmNotImpl);
}

int call_reg_hoster(void)
{
    return refuse("pvm_reg_hoster", "hosts are started by ssh, or by the command of a host file");
}
