/*
 * spawn.c - pvm_spawn().
 *
 * Covey starts the tasks. A program that is not found on a host under one of the names by which it
 * may go there is tried under the next.
 */
#include <pvm3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/abi.h"
#include "lib/pvm3/arch.h"
#include "lib/pvm3/calls.h"
#include "lib/pvm3/error.h"
#include "lib/pvm3/exec_path.h"
#include "lib/pvm3/export.h"
#include "lib/pvm3/host.h"
#include "lib/pvm3/output.h"
#include "lib/pvm3/plugin.h"
#include "lib/pvm3/siblings.h"
#include "lib/pvm3/tracer.h"
#include "lib/pvm3/vm.h"

/* What is asked for, and what came of it. */
struct job {
    const char *program;
    char **arguments; /* without the program; NULL: none */
    int flags;
    int count;
    char where[PATH_MAX]; /* a host or an architecture */
    const char *folder;   /* behind it, or the one that tasks have unless told otherwise */
    struct exports exports;
    const char **argv; /* debugger, program, arguments */
    int program_at;    /* in argv */
    const char **hosts;
    struct covey_host *all; /* whose names hosts are */
    int *tids;              /* those that have started, then errors */
    int started, failed;
    struct plugins plugins;
};

/* ---- where ---------------------------------------------------------------------------------- */

static bool chosen(const struct covey_host *host, int flags, const char *where)
{
    if (flags & PvmTaskArch)
        return strcmp(arch_name(host), where) == 0;
    if (strcmp(where, ".") == 0)
        where = covey_myhost(vm_handle());
    return strcmp(host->name, where) == 0;
}

/* The names of the hosts that may be used; none is left NULL. */
static int job_hosts(struct job *job)
{
    if (job->where[0] == '\0' || !(job->flags & (PvmTaskHost | PvmTaskArch)))
        return job->flags & (PvmTaskHost | PvmTaskArch) ? PvmNoHost : PvmOk;
    int count = host_list(&job->all), found = 0;
    if (count < 0)
        return count;
    job->hosts = calloc((size_t)count + 1, sizeof *job->hosts);
    if (job->hosts == NULL)
        return PvmNoMem;
    bool complement = job->flags & PvmHostCompl;
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

static int inherit(struct exports *e, const char *name)
{
    const char *value = getenv(name);
    return value == NULL ? PvmOk : export_add(e, name, value);
}

/* What a task of PVM needs to know besides what the program exports; see vm.c. */
static int job_environment(struct job *job)
{
    static const char *const inherited[] = {"LD_LIBRARY_PATH", "PVM_ROOT", "PVM_ARCH", "PVM_PATH"};
    char context[16], together[16];
    snprintf(context, sizeof context, "0x%x", (unsigned)pvmmyctx);
    snprintf(together, sizeof together, "%d", job->count);
    int error = export_list(&job->exports);
    for (size_t i = 0; i < sizeof inherited / sizeof *inherited && error == PvmOk; i++)
        error = inherit(&job->exports, inherited[i]);
    if (error == PvmOk)
        error = export_add(&job->exports, "PVMCTX", context);
    if (error == PvmOk)
        error = export_add(&job->exports, "PVMSIBS", together);
    if (error == PvmOk && job->flags & PvmNoSpawnParent)
        error = export_add(&job->exports, "PVMNOPARENT", "1");
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

/* ---- starting ------------------------------------------------------------------------------- */

static int task_error(int error)
{
    return error == COVEY_EDAEMON || error == COVEY_ESYS ? PvmDSysErr : error_of(error);
}

/* Sorts what came of `count` tasks; returns how many were not found under this name. */
static int job_take(struct job *job, const covey_tid_t *results, int count)
{
    int missing = 0;
    for (int i = 0; i < count; i++) {
        if (results[i] > 0)
            job->tids[job->started++] = results[i];
        else if (results[i] == COVEY_ENOENT)
            missing++;
        else
            job->tids[job->count - ++job->failed] = task_error(results[i]);
    }
    return missing;
}

/* Starts what is still to be started; returns how much then is, or an error. */
static int job_try(struct job *job, const char *path, int count)
{
    covey_tid_t *results = calloc((size_t)count, sizeof *results);
    if (results == NULL)
        return PvmNoMem;
    job->argv[job->program_at] = path;
    struct covey_spawn what = {
        .argv = job->argv,
        .env = (const char *const *)job->exports.list,
        .cwd = job->folder,
        .hosts = job->hosts,
        .where = job->hosts == NULL ? COVEY_WHERE_ANY : COVEY_WHERE_HOSTS,
        .output = output_where(),
    };
    int started = covey_spawn(vm_handle(), &what, count, results);
    int missing = started < 0 ? error_of(started) : job_take(job, results, count);
    free(results);
    return missing;
}

static void say_missing(const struct job *job, const struct exec_paths *paths)
{
    char list[1024] = "";
    size_t used = 0;
    for (int i = 0; i < paths->count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, " %s", paths->path[i]);
    error_note("pvm_spawn(): %s: %s; looked for:%s", job->program, covey_error_text(), list);
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Host by host, as PVM has them in the array: who talks to the next one in it then mostly does so
 * on its own host. */
static void job_order(struct job *job)
{
    qsort(job->tids, (size_t)job->started, sizeof *job->tids, by_number);
}

/* When some have started, an error of the others is told in the array. */
static int job_run(struct job *job)
{
    struct exec_paths *paths = malloc(sizeof *paths);
    int missing = job->count;
    if (paths == NULL)
        return PvmNoMem;
    if (job->program[0] != '\0')
        exec_paths_find(paths, job->program);
    else
        paths->count = 0;
    for (int i = 0; i < paths->count && missing > 0; i++)
        missing = job_try(job, paths->path[i], missing);
    if (missing > 0)
        say_missing(job, paths);
    free(paths);
    job_order(job);
    while (job->started + job->failed < job->count)
        job->tids[job->count - ++job->failed] = missing < 0 ? missing : PvmNoFile;
    return missing < 0 && job->started == 0 ? missing : PvmOk;
}

static void job_fini(struct job *job)
{
    export_fini(&job->exports);
    free(job->argv);
    free(job->hosts);
    covey_free(job->all);
}

static int job_prepare(struct job *job)
{
    int error = job_arguments(job);
    return error == PvmOk ? job_environment(job) : error;
}

/* No host that fits is told in the array alone. */
static int job_spawn(struct job *job, const char *where)
{
    int error = job_place(job, where);
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
    struct job job = {
        .program = program, .arguments = arguments, .flags = flags, .count = count, .tids = list};
    plugin_look(&job.plugins);
    int error = list == NULL ? PvmNoMem : job_spawn(&job, where);
    job_fini(&job);
    if (error == PvmOk)
        tracer_on_spawn(list, job.started, flags, program);
    if (error == PvmOk && job.started > 0)
        output_begin(list, job.started);
    if (error == PvmOk && job.started > 0 && count > 1)
        siblings_tell(list, job.started);
    if (error == PvmOk && tids != NULL)
        memcpy(tids, list, (size_t)count * sizeof *tids);
    free(list);
    return error == PvmOk ? job.started : lpvmerr("pvm_spawn", error);
}
