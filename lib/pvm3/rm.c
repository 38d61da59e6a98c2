/*
 * rm.c - tasks that take over work of the daemons: not yet.
 */
#include "lib/pvm3/calls.h"
#include "lib/pvm3/error.h"

int call_reg_rm(struct pvmhostinfo **host)
{
    (void)host;
    return lpvmerr("pvm_reg_rm", PvmNotImpl);
}

int call_reg_hoster(void)
{
    return lpvmerr("pvm_reg_hoster", PvmNotImpl);
}

int call_reg_tasker(void)
{
    return lpvmerr("pvm_reg_tasker", PvmNotImpl);
}
