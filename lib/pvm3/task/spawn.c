/*
 * spawn.c - pvm_spawn(): by Covey, or by the resource manager, if there is one.
 */
#include <pvm3.h>
#include <pvmproto.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/arch.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/export.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/mailbox/plugin.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/rm/host.h"
#include "lib/pvm3/rm/job.h"
#include "lib/pvm3/rm/rm.h"
#include "lib/pvm3/rm/tasker.h"
#include "lib/pvm3/task/siblings.h"
#include "lib/pvm3/trace/output.h"
#include "lib/pvm3/trace/trace.h"
#include "lib/pvm3/trace/tracer.h"

/* ---- where ---------------------------------------------------------------------------------- */

static bool chosen(const struct covey_host *host, int flags, const char *where)
{
    if (!(flags & PvmTaskHost)) /* which counts more */
        return strcmp(arch_name(host), where) == 0;
    if (strcmp(where, ".") == 0)
        where = covey_myhost(vm_handle());
    return strcmp(host->name, where) == 0;
}

/* The names of the hosts that may be used; none is left NULL. */
static int job_hosts(struct job *job)
{
    bool complement = job->flags & PvmHostCompl, named = job->flags & (PvmTaskHost | PvmTaskArch);
    if (!named || job->where[0] == '\0')
        return named == complement ? PvmOk : PvmNoHost; /* all, or others than all, or none */
    int count = host_list(&job->all), found = 0;
    if (count < 0)
        return count;
    job->hosts = calloc((size_t)count + 1, sizeof *job->hosts);
    if (job->hosts == NULL)
        return PvmNoMem;
    for (int i = 0; i < count; i++) {
        if (chosen(&job->all[i], job->flags, job->where) != complement)
            job->hosts[found++] = job->all[i].name;
    }
    return found == 0 ? PvmNoHost : PvmOk;
}

/* ---- with what ------------------------------------------------------------------------------ */

static int arguments_count(char **arguments)
{
    int count = 0;
    while (arguments != NULL && arguments[count] != NULL)
        count++;
    return count;
}

/* The script that starts a debugger with a program. */
static const char *debugger(void)
{
    static char path[PATH_MAX];
    const char *set = getenv("PVM_DEBUGGER"), *root = getenv("PVM_ROOT");
    if (set != NULL || root == NULL)
        return set != NULL ? set : "debugger";
    snprintf(path, sizeof path, "%s/lib/debugger", root);
    return path;
}

static int job_arguments(struct job *job)
{
    int count = arguments_count(job->arguments);
    job->argv = calloc((size_t)count + 3, sizeof *job->argv);
    if (job->argv == NULL)
        return PvmNoMem;
    if (job->flags & PvmTaskDebug)
        job->argv[job->program_at++] = debugger();
    for (int i = 0; i < count; i++)
        job->argv[job->program_at + 1 + i] = job->arguments[i];
    return PvmOk;
}

/* What a task of PVM needs to know besides what the program exports; see vm.c. */
static int job_environment(struct job *job)
{
    char context[16], together[16], flags[16];
    snprintf(context, sizeof context, "0x%x", (unsigned)pvmmyctx);
    snprintf(together, sizeof together, "%d", job->count);
    int error = export_list(&job->exports);
    if (error == PvmOk)
        error = job_inherit(&job->exports);
    if (error == PvmOk)
        error = export_add(&job->exports, "PVMCTX", context);
    if (error == PvmOk)
        error = export_add(&job->exports, "PVMSIBS", together);
    snprintf(flags, sizeof flags, "%d", job->flags);
    if (error == PvmOk)
        error = export_add(&job->exports, TASKER_FLAGS, flags);
    if (error == PvmOk && job->flags & PvmNoSpawnParent)
        error = export_add(&job->exports, "PVMNOPARENT", "1");
    if (error == PvmOk)
        error = rm_export(&job->exports);
    return error == PvmOk ? tracer_export(&job->exports, job->plugins.tid[PLUGIN_TRACER]) : error;
}

/* PVM's tasks run in the home directory unless told otherwise: by PVM_WD, or behind the colon of
 * HOST:FOLDER. */
static int job_place(struct job *job, const char *where)
{
    const char *set = getenv("PVM_WD");
    job->folder = set != NULL && set[0] != '\0' ? set : getenv("HOME");
    if (where != NULL && strlen(where) >= sizeof job->where)
        return PvmBadParam;
    strcpy(job->where, where != NULL ? where : "");
    char *colon = strchr(job->where, ':');
    if (colon == NULL)
        return PvmOk;
    *colon = '\0';
    job->folder = colon + 1;
    return PvmOk;
}

static int job_prepare(struct job *job)
{
    int error = job_arguments(job);
    return error == PvmOk ? job_environment(job) : error;
}

/* ---- by the resource manager ----------------------------------------------------------------- */

static int pack_strings(struct buffer *b, char *const *list, int count)
{
    int error = pack_array(b, PVM_INT, &count, 1, 1);
    for (int i = 0; i < count && error == PvmOk; i++)
        error = pack_string(b, list[i]);
    return error;
}

/* The order of rm.c's grammar. */
static int job_pack(const struct job *job, const char *where, struct buffer *b)
{
    const int targets[6] = {pvmctrc.outtid, pvmctrc.outctx, pvmctrc.outtag,
                            pvmctrc.trctid, pvmctrc.trcctx, pvmctrc.trctag};
    int error = b == NULL ? PvmNoMem : pack_string(b, job->program);
    if (error == PvmOk)
        error = pack_array(b, PVM_INT, &job->flags, 1, 1);
    if (error == PvmOk)
        error = pack_string(b, where == NULL ? "" : where);
    if (error == PvmOk)
        error = pack_array(b, PVM_INT, &job->count, 1, 1);
    if (error == PvmOk)
        error = pack_strings(b, job->arguments, arguments_count(job->arguments));
    if (error == PvmOk)
        error = pack_array(b, PVM_INT, targets, 6, 1);
    return error == PvmOk ? pack_strings(b, job->exports.list, job->exports.count) : error;
}

/* What started comes first. */
static int job_unpack(struct job *job, struct buffer *answer)
{
    int count = 0, *all = calloc((size_t)job->count, sizeof *all);
    int error = all == NULL ? PvmNoMem : unpack_array(answer, PVM_INT, &count, 1, 1);
    if (error == PvmOk && count != job->count)
        error = count < 0 ? count : PvmBadMsg;
    if (error == PvmOk)
        error = unpack_array(answer, PVM_INT, all, count, 1);
    for (int i = 0; i < count && error == PvmOk; i++) {
        if (all[i] > 0)
            job->tids[job->started++] = all[i];
        else
            job->tids[job->count - ++job->failed] = all[i];
    }
    free(all);
    return error;
}

static int job_hand_over(struct job *job, const char *where)
{
    struct buffer *request = buffer_create(ENC_DEFAULT), *answer = NULL;
    int error = job_environment(job);
    if (error == PvmOk)
        error = job_pack(job, where, request);
    if (error == PvmOk)
        error = rm_ask(SM_SPAWN, &request, &answer);
    if (error == PvmOk)
        error = job_unpack(job, answer);
    buffer_destroy(request);
    buffer_destroy(answer);
    return error;
}

/* No host that fits is told in the array alone. */
static int job_spawn(struct job *job, const char *where)
{
    int error = job_place(job, where);
    if (error == PvmOk && rm_tid() > 0)
        return job_hand_over(job, where);
    if (error == PvmOk)
        error = job_hosts(job);
    for (int i = 0; i < job->count && error == PvmNoHost; i++)
        job->tids[i] = PvmNoHost;
    if (error != PvmOk)
        return error == PvmNoHost ? PvmOk : error;
    error = job_prepare(job);
    return error == PvmOk ? job_run(job) : error;
}

int call_spawn(char *program, char **arguments, int flags, char *where, int count, int *tids)
{
    if (program == NULL || count < 1)
        return lpvmerr("pvm_spawn", PvmBadParam);
    if (vm_enter() == NULL)
        return lpvmerr("pvm_spawn", PvmSysErr);
    int *list = calloc((size_t)count, sizeof *list);
    struct job job = {.program = program,
                      .arguments = arguments,
                      .flags = flags,
                      .count = count,
                      .output = output_where(),
                      .tids = list};
    plugin_look(&job.plugins);
    int error = list == NULL ? PvmNoMem : job_spawn(&job, where);
    job_fini(&job);
    if (error == PvmOk)
        tracer_on_spawn(list, job.started, flags, program);
    if (error == PvmOk && job.started > 0)
        output_begin(list, job.started, rm_tid());
    if (error == PvmOk && job.started > 0 && count > 1)
        siblings_tell(list, job.started);
    if (error == PvmOk && tids != NULL)
        memcpy(tids, list, (size_t)count * sizeof *tids);
    free(list);
    return error == PvmOk ? job.started : lpvmerr("pvm_spawn", error);
}
