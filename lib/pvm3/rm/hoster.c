/*
 * hoster.c - the hoster: a task that starts daemons on new hosts, pvm_reg_hoster().
 *
 *   to the hoster, from a task that waits for the answer with the same wait:
 *     SM_STHOST count *(tid options login command)
 *       -> SM_STHOSTACK [count] *(tid status)
 *
 * The command is for a shell on that host; the status is the line that it prints, or the name of an
 * error. The command has no secret in it, see daemon/launch/ticket.h: the daemon that adds the host
 * runs coveyd --offer (covey-offer), which makes it, and runs `pvm --host` in turn, which asks the
 * hoster (console/hoster.c). One message is sent for each host.
 */
#include "lib/pvm3/rm/hoster.h"

#include <limits.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/mailbox/plugin.h"
#include "lib/pvm3/message/notify.h"
#include "lib/pvm3/rm/start.h"

#define TEMPLATE_MAX (PATH_MAX + 256)

int hoster_tid(void)
{
    struct plugins plugins;
    plugin_look(&plugins);
    int tid = plugins.tid[PLUGIN_HOSTER];
    return tid <= 0 || tid == pvmmytid || notify_has_ended(tid) ? 0 : tid;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* $COVEYD is the coveyd that runs the template. False: the path would need quotes of its own. */
static bool template_print(int hoster, char text[TEMPLATE_MAX])
{
    char path[PATH_MAX];
    const char *program = start_program("pvm", path, sizeof path);
    int n = snprintf(text, TEMPLATE_MAX,
                     "COVEY_VM=%s exec \"$COVEYD\" --offer '%s' --host %d {host} run {command}",
                     covey_vm_name(vm_handle()), program, hoster);
    return strchr(program, '\'') == NULL && n > 0 && n < TEMPLATE_MAX;
}

int hoster_add(int hoster, char **names, int count, struct covey_host_result *results)
{
    char template_[TEMPLATE_MAX];
    struct covey_host_spec *specs = calloc((size_t)count, sizeof *specs);
    int done = specs == NULL || !template_print(hoster, template_) ? COVEY_ENOMEM : COVEY_OK;
    for (int i = 0; i < count && done == COVEY_OK; i++)
        specs[i] = (struct covey_host_spec){
            .name = names[i], .launcher = COVEY_LAUNCH_EXEC, .template_ = template_};
    if (done == COVEY_OK)
        done = covey_add_hosts(vm_handle(), specs, count, results);
    free(specs);
    if (done < 0)
        return done;
    /* Those of which the hoster had not said a word when it ended. */
    for (int i = 0; i < count; i++) {
        const struct covey_host_spec spec = {.name = names[i]};
        if (results[i].error != COVEY_OK && hoster_error(results[i].text) == PvmNoTask)
            covey_add_hosts(vm_handle(), &spec, 1, &results[i]);
    }
    done = 0;
    for (int i = 0; i < count; i++)
        done += results[i].error == COVEY_OK;
    return done;
}

int hoster_error(const char *text)
{
    static const struct {
        const char *name;
        int error;
    } names[] = {{"PvmCantStart", PvmCantStart}, {"PvmDSysErr", PvmDSysErr},
                 {"PvmDupHost", PvmDupHost},     {"PvmNoHost", PvmNoHost},
                 {"PvmDenied", PvmDenied},       {"PvmBadVersion", PvmBadVersion},
                 {"PvmOutOfRes", PvmOutOfRes},   {"PvmNoMem", PvmNoMem},
                 {"PvmNoTask", PvmNoTask}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strstr(text, names[i].name) != NULL)
            return names[i].error;
    }
    return PvmOk;
}

/* ---- pvm_reg_hoster() ------------------------------------------------------------------------ */

int call_reg_hoster(void)
{
    return error_reported("pvm_reg_hoster",
                          vm_enter() == NULL ? PvmSysErr : plugin_take(PLUGIN_HOSTER));
}
