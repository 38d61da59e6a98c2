/*
 * tickle.c - pvm_tickle(): what PVM's maintainers ask of its daemon. Its first number says what.
 *
 * What writes PVM's own tables into its log has nothing to write here, and is accepted: `covey`
 * shows tables. The mask of PVM's log is kept and given back, in this task, and does nothing. That
 * a host has failed can be had: it is taken out of the VM.
 */
#include <pvm3.h>
#include <string.h>

#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/rm/host.h"

#define ARGUMENTS_MAX 10

enum { GET_MASK = 5, SET_MASK = 6, FAIL_HOST = 8 };

/* One host that is there and not the own; 0: there is none such. */
static int host_named(int tid, char *name, size_t size)
{
    struct covey_host *hosts = NULL;
    int count = host_list(&hosts), found = 0;
    for (int i = 0; i < count && !found; i++) {
        found = vm_daemon_of(hosts[i].index) == (tid & TID_HOST) &&
                hosts[i].index != covey_tid_host(covey_mytid(vm_handle()));
        if (found)
            strncat(name, hosts[i].name, size - 1);
    }
    if (count >= 0)
        covey_free(hosts);
    return found;
}

/* Whether a host was taken out. */
static int fail_host(int tid)
{
    char name[256] = "", *names[] = {name};
    return host_named(tid, name, sizeof name) && call_delhosts(names, 1, NULL) == 1;
}

/* Returns how many results there are, at most one. */
static int tickle(int count, const int *numbers, int *result)
{
    static int mask;
    int value = count > 1 ? numbers[1] : 0;
    switch (numbers[0]) {
    case GET_MASK:
        *result = mask;
        return 1;
    case SET_MASK:
        mask = value;
        return 0;
    case FAIL_HOST:
        *result = fail_host(value);
        return 1;
    default:
        return 0;
    }
}

int call_tickle(int count, int *numbers, int *result_count, int *results)
{
    int result = 0;
    if (count < 1 || count > ARGUMENTS_MAX || numbers == NULL)
        return lpvmerr("pvm_tickle", PvmBadParam);
    if (vm_enter() == NULL)
        return lpvmerr("pvm_tickle", PvmSysErr);
    int n = tickle(count, numbers, &result);
    if (result_count != NULL)
        *result_count = n;
    if (results != NULL && n > 0)
        results[0] = result;
    return PvmOk;
}
