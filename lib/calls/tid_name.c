/*
 * tid_name.c - a tid as people read it: the task as consoles write it, and the name of its host.
 * It is for messages about errors, so it never fails and leaves covey_error_text() as it is.
 */
#include "lib/member/vm.h"
#include "lib/msg/error.h"
#include "proto/wire/frame.h"

#include <stdio.h>
#include <stdlib.h>

/* The name of the host with that index, or "host INDEX" where nobody can tell (any more). */
static void host_text(covey_t *vm, uint32_t index, char *text, size_t size)
{
    char kept[512];
    struct covey_host *hosts = NULL;
    snprintf(text, size, "host %u", (unsigned)index);
    if (vm == NULL)
        return;
    if (index == vm->self.host) {
        snprintf(text, size, "%s", vm->self.host_name);
        return;
    }
    snprintf(kept, sizeof kept, "%s", covey_error_text());
    int count = covey_hosts(vm, &hosts);
    for (int i = 0; i < count; i++) {
        if ((uint32_t)hosts[i].index == index)
            snprintf(text, size, "%s", hosts[i].name);
    }
    free(hosts);
    error_set(COVEY_OK, "%s", kept);
}

const char *covey_tid_name(covey_t *vm, covey_tid_t tid, char *name, size_t size)
{
    char host[64];
    if (name == NULL || size == 0)
        return "";
    if (tid == COVEY_ANY_TASK) {
        snprintf(name, size, "any task");
    } else if (tid == COVEY_NO_TASK) {
        snprintf(name, size, "no task");
    } else if (tid < 0 || tid_host((uint32_t)tid) == 0) {
        snprintf(name, size, "%d, which is no task", (int)tid);
    } else {
        host_text(vm, tid_host((uint32_t)tid), host, sizeof host);
        if (tid_local((uint32_t)tid) == 0)
            snprintf(name, size, "the daemon of %s", host);
        else
            snprintf(name, size, "t%x on %s", (unsigned)tid, host);
    }
    return name;
}
