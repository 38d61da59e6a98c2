/*
 * plugin.c - who has taken over work of the VM's daemons.
 */
#include "lib/pvm3/mailbox/plugin.h"

#include <pvm3.h>
#include <stdio.h>
#include <string.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/message/pack.h"

#define LOCK "pvm."
#define TASKER LOCK "tasker."

/* What this task is. */
struct own {
    bool held;
    uint64_t fence;
    int index; /* of the mailbox's entry, or an error */
};

/* The lock's name, to which the tasker's host is added, and the mailbox. */
struct kind {
    const char *lock, *mailbox;
    int flags;
};

static const struct kind kinds[PLUGINS] = {
    [PLUGIN_RM] = {LOCK "rm", PVMRMCLASS, PvmMboxMultiInstance},
    [PLUGIN_HOSTER] = {LOCK "hoster", PVMHOSTERCLASS, PvmMboxMultiInstance},
    [PLUGIN_TASKER] = {TASKER, PVMTASKERCLASS, PvmMboxMultiInstance},
    [PLUGIN_TRACER] = {LOCK "tracer", PVMTRACERCLASS, PvmMboxDefault},
};

static struct own own[PLUGINS];

static int own_host(void)
{
    return covey_tid_host(covey_mytid(vm_handle()));
}

static const char *lock_name(enum plugin plugin, int host)
{
    static char name[64];
    if (plugin != PLUGIN_TASKER)
        return kinds[plugin].lock;
    snprintf(name, sizeof name, TASKER "%d", host);
    return name;
}

static void plugin_note(struct plugins *plugins, const struct covey_held *held)
{
    plugins->taskers |= strncmp(held->name, TASKER, strlen(TASKER)) == 0;
    for (int i = 0; i < PLUGINS; i++) {
        if (strcmp(held->name, lock_name(i, own_host())) == 0)
            plugins->tid[i] = held->holder;
    }
}

void plugin_look(struct plugins *plugins)
{
    struct covey_held *list = NULL;
    int count = covey_held(vm_handle(), &list);
    *plugins = (struct plugins){0};
    for (int i = 0; i < count; i++) {
        if (list[i].kind == COVEY_HELD_LOCK && list[i].holder > 0)
            plugin_note(plugins, &list[i]);
    }
    covey_free(list);
}

/* ---- this task ------------------------------------------------------------------------------- */

bool plugin_is_own(enum plugin plugin)
{
    return own[plugin].held;
}

/* Who else is, must let go within this time: a resource manager hands over to the next. */
#define HANDOVER_US 5000000

int plugin_register(enum plugin plugin, struct buffer *about)
{
    struct own *o = &own[plugin];
    int64_t timeout_us = plugin == PLUGIN_RM ? HANDOVER_US : 0;
    if (o->held)
        return PvmOk;
    const char *name = lock_name(plugin, own_host());
    int error = timeout_us > 0 ? covey_lock(vm_handle(), name, timeout_us, &o->fence)
                               : covey_trylock(vm_handle(), name, &o->fence);
    if (error != COVEY_OK)
        return error == COVEY_ETIMEOUT ? PvmAlready : error_of(error);
    o->held = true;
    o->index =
        call_putinfo((char *)(uintptr_t)kinds[plugin].mailbox, about->id, kinds[plugin].flags);
    return PvmOk;
}

int plugin_take(enum plugin plugin)
{
    struct buffer *about = buffer_create(ENC_DEFAULT);
    int error = about == NULL ? PvmNoMem : pack_array(about, PVM_INT, &pvmmytid, 1, 1);
    if (error == PvmOk)
        error = plugin_register(plugin, about);
    buffer_destroy(about);
    return error;
}

int plugin_withdraw(enum plugin plugin)
{
    struct own *o = &own[plugin];
    if (!o->held)
        return PvmNoTask;
    if (o->index >= 0)
        call_delinfo((char *)(uintptr_t)kinds[plugin].mailbox, o->index, 0);
    int error = covey_unlock(vm_handle(), lock_name(plugin, own_host()), o->fence);
    *o = (struct own){0};
    return error_of(error);
}

void plugin_clear(void)
{
    memset(own, 0, sizeof own);
}
