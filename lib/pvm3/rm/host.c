/*
 * host.c - hosts: which there are, adding and removing them, ending the VM.
 */
#include "lib/pvm3/rm/host.h"

#include <pvm3.h>
#include <pvmproto.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/arch.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/rm/hoster.h"
#include "lib/pvm3/rm/rm.h"

int host_list(struct covey_host **hosts)
{
    struct covey_host *all = NULL;
    int count = vm_enter() == NULL ? COVEY_EDAEMON : covey_hosts(vm_handle(), &all);
    int up = 0;
    if (count < 0)
        return error_of(count);
    for (int i = 0; i < count; i++) {
        if (all[i].state == COVEY_HOST_UP || all[i].state == COVEY_HOST_SUSPECT)
            all[up++] = all[i];
    }
    *hosts = all;
    return up;
}

/* ---- pvm_config() --------------------------------------------------------------------------- */

static int formats_count(const struct pvmhostinfo *list, int count)
{
    int formats = 0;
    for (int i = 0; i < count; i++) {
        bool before = false;
        for (int j = 0; j < i; j++)
            before |= list[j].hi_dsig == list[i].hi_dsig;
        formats += !before;
    }
    return formats;
}

/* Names stay in the list of hosts. */
static void host_describe(struct pvmhostinfo *to, struct covey_host *from)
{
    to->hi_tid = vm_daemon_of(from->index);
    to->hi_name = from->name;
    to->hi_arch = (char *)(uintptr_t)arch_name(from);
    to->hi_speed = from->speed;
    to->hi_dsig = arch_format(from);
}

int call_config(int *count, int *formats, struct pvmhostinfo **list)
{
    static struct pvmhostinfo *infos; /* the program's until the next call */
    static struct covey_host *hosts;
    struct covey_host *now = NULL;
    if (vm_enter() != NULL && rm_tid() > 0) {
        return error_reported("pvm_config", rm_config(count, formats, list));
    }
    int n = host_list(&now);
    struct pvmhostinfo *grown = n < 0 ? NULL : realloc(infos, ((size_t)n + 1) * sizeof *grown);
    if (grown == NULL) {
        covey_free(now);
        return lpvmerr("pvm_config", n < 0 ? n : PvmNoMem);
    }
    covey_free(hosts);
    hosts = now;
    infos = grown;
    for (int i = 0; i < n; i++)
        host_describe(&infos[i], &hosts[i]);
    call_give(count, n, PvmOk);
    call_give(formats, formats_count(infos, n), PvmOk);
    if (list != NULL)
        *list = infos;
    return PvmOk;
}

/* ---- single questions ------------------------------------------------------------------------ */

int pvm_tidtohost(int tid)
{
    return tid & TID_HOST;
}

int call_mstat(char *name)
{
    struct covey_host *hosts = NULL;
    if (name == NULL || name[0] == '\0')
        return lpvmerr("pvm_mstat", PvmBadParam);
    int count = host_list(&hosts);
    if (count < 0)
        return lpvmerr("pvm_mstat", count);
    int result = PvmNoHost;
    for (int i = 0; i < count; i++) {
        if (strcmp(hosts[i].name, name) == 0)
            result = hosts[i].state == COVEY_HOST_UP ? PvmOk : PvmHostFail;
    }
    covey_free(hosts);
    return result;
}

int call_archcode(char *arch)
{
    struct covey_host *hosts = NULL;
    if (arch == NULL)
        return lpvmerr("pvm_archcode", PvmBadParam);
    int count = host_list(&hosts);
    int result = count < 0 ? count : PvmNotFound;
    for (int i = 0; i < count; i++) {
        if (strcmp(arch_name(&hosts[i]), arch) == 0)
            result = arch_format(&hosts[i]);
    }
    covey_free(hosts);
    return error_reported("pvm_archcode", result);
}

/* ---- adding and removing --------------------------------------------------------------------- */

static int add_error(int error)
{
    switch (error) {
    case COVEY_EEXIST:
        return PvmDupHost;
    case COVEY_EINVAL:
        return PvmBadParam;
    case COVEY_EDENIED:
    case COVEY_EVERSION:
        return error_of(error);
    default:
        return PvmCantStart;
    }
}

static int host_added(const char *name, const struct covey_host_result *r)
{
    if (r->error == COVEY_OK)
        return vm_daemon_of(r->index);
    int error = hoster_error(r->text);
    error_note("pvm_addhosts(): %s: %s", name, r->text);
    return error != PvmOk ? error : add_error(r->error);
}

static int host_removed(const char *name, const struct covey_host_result *r)
{
    (void)name;
    return error_of(r->error);
}

static int add_all(char **names, int count, struct covey_host_result *results)
{
    int hoster = hoster_tid();
    if (hoster > 0)
        return hoster_add(hoster, names, count, results);
    struct covey_host_spec *specs = calloc((size_t)count, sizeof *specs);
    if (specs == NULL)
        return COVEY_ENOMEM;
    for (int i = 0; i < count; i++)
        specs[i].name = names[i];
    int done = covey_add_hosts(vm_handle(), specs, count, results);
    free(specs);
    return done;
}

static int remove_all(char **names, int count, struct covey_host_result *results)
{
    return covey_remove_hosts(vm_handle(), (const char *const *)names, count, results);
}

typedef int change_fn(char **names, int count, struct covey_host_result *results);
typedef int outcome_fn(const char *name, const struct covey_host_result *result);

static int change(char **names, int count, int *infos, change_fn *all, outcome_fn *outcome)
{
    if (names == NULL || count < 1)
        return PvmBadParam;
    struct covey_host_result *results = calloc((size_t)count, sizeof *results);
    int done = results == NULL ? COVEY_ENOMEM : all(names, count, results);
    for (int i = 0; i < count && done >= 0; i++) {
        int info = outcome(names[i], &results[i]);
        if (infos != NULL)
            infos[i] = info;
    }
    free(results);
    return done < 0 ? error_of(done) : done;
}

int call_addhosts(char **names, int count, int *infos)
{
    int done = vm_enter() == NULL ? PvmSysErr
               : rm_tid() > 0     ? rm_hosts(SM_ADDHOST, names, count, infos)
                                  : change(names, count, infos, add_all, host_added);
    return error_reported("pvm_addhosts", done);
}

int call_delhosts(char **names, int count, int *infos)
{
    int done = vm_enter() == NULL ? PvmSysErr
               : rm_tid() > 0     ? rm_hosts(SM_DELHOST, names, count, infos)
                                  : change(names, count, infos, remove_all, host_removed);
    return error_reported("pvm_delhosts", done);
}

int call_halt(void)
{
    int error = vm_enter() == NULL ? COVEY_EDAEMON : covey_halt(vm_handle());
    return error == COVEY_OK ? PvmOk : lpvmerr("pvm_halt", error_of(error));
}
