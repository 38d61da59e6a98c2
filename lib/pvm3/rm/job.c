/*
 * job.c - starting tasks by Covey. A program that is not found on a host under one of the names by
 * which it may go there is tried under the next.
 */
#include "lib/pvm3/rm/job.h"

#include <pvm3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/arch.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/rm/exec_path.h"
#include "lib/pvm3/rm/host.h"
#include "lib/pvm3/rm/start.h"

/* Sorts what came of `count` tasks; returns how many were not found under this name. */
static int job_take(struct job *job, const covey_tid_t *results, int count)
{
    int missing = 0;
    for (int i = 0; i < count; i++) {
        if (results[i] > 0)
            job->tids[job->started++] = results[i];
        else if (results[i] == COVEY_ENOENT)
            missing++;
        else {
            int error = results[i];
            job->tids[job->count - ++job->failed] =
                error == COVEY_EDAEMON || error == COVEY_ESYS ? PvmDSysErr : error_of(error);
        }
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
        .output = job->output,
    };
    int started = covey_spawn(vm_handle(), &what, count, results);
    int missing = started < 0 ? error_of(started) : job_take(job, results, count);
    free(results);
    return missing;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* When some have started, an error of the others is told in the array. */
int job_run(struct job *job)
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
    if (missing > 0 && paths->count > 0) {
        char list[1024] = "";
        size_t used = 0;
        for (int i = 0; i < paths->count && used < sizeof list; i++)
            used += (size_t)snprintf(list + used, sizeof list - used, " %s", paths->path[i]);
        error_note("pvm_spawn(): %s: %s; looked for:%s", job->program, covey_error_text(), list);
    }
    free(paths);
    /* Host by host, as PVM has them in the array: who talks to the next one in it then mostly does
     * so on its own host. */
    qsort(job->tids, (size_t)job->started, sizeof *job->tids, by_number);
    while (job->started + job->failed < job->count)
        job->tids[job->count - ++job->failed] = missing < 0 ? missing : PvmNoFile;
    return missing < 0 && job->started == 0 ? missing : PvmOk;
}

void job_fini(struct job *job)
{
    export_fini(&job->exports);
    free(job->argv);
    free(job->hosts);
    covey_free(job->all);
}

/* ---- environment ----------------------------------------------------------------------------- */

static int inherit(struct exports *e, const char *name)
{
    const char *value = getenv(name);
    return value == NULL ? PvmOk : export_add(e, name, value);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

/* Whether this host's architecture is that of all. */
static bool is_alike(void)
{
    struct covey_host *hosts = NULL;
    int count = host_list(&hosts);
    bool alike = count > 0;
    for (int i = 0; i < count; i++)
        alike = alike && strcmp(arch_name(&hosts[i]), arch_own()) == 0;
    covey_free(hosts);
    return alike;
}

/* PVM's daemon sets PVM_ROOT and PVM_ARCH for tasks; scripts that start programs count on it. */
static int job_root(struct exports *e)
{
    char path[PATH_MAX];
    const char *root = is_set("PVM_ROOT") ? NULL : start_root(path, sizeof path);
    int error = root == NULL ? inherit(e, "PVM_ROOT") : export_add(e, "PVM_ROOT", root);
    if (error != PvmOk || is_set("PVM_ARCH") || !is_alike())
        return error != PvmOk ? error : inherit(e, "PVM_ARCH");
    return export_add(e, "PVM_ARCH", arch_own());
}

int job_inherit(struct exports *e)
{
    int error = job_root(e);
    if (error == PvmOk)
        error = inherit(e, "LD_LIBRARY_PATH");
    return error == PvmOk ? inherit(e, "PVM_PATH") : error;
}
