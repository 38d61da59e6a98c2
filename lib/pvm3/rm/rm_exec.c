/*
 * rm_exec.c - SM_EXEC: tasks that the resource manager has started on a host, for another task.
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/rm/host.h"
#include "lib/pvm3/rm/job.h"
#include "lib/pvm3/rm/rm.h"
#include "lib/pvm3/trace/output.h"
#include "lib/pvm3/trace/tracer.h"

/* ---- starting -------------------------------------------------------------------------------- */

static int variable_add(struct exports *e, char *variable)
{
    char *equals = strchr(variable, '=');
    if (equals == NULL)
        return PvmOk;
    *equals = '\0';
    int error = export_add(e, variable, equals + 1);
    *equals = '=';
    return error;
}

/* Whose child it is for programs, behind what the manager was given and gives. */
static int environment(struct job *job, const struct rm_order *o)
{
    char parent[16];
    int error = job_inherit(&job->exports);
    if (error == PvmOk)
        error = export_add(&job->exports, "PVMCTX", "0");
    for (char **v = o->variables; *v != NULL && error == PvmOk; v++)
        error = variable_add(&job->exports, *v);
    snprintf(parent, sizeof parent, "%d", o->parent);
    if (error == PvmOk)
        error = export_add(&job->exports, "PVMPARENT", parent);
    if (error == PvmOk)
        error = tracer_export_targets(&job->exports, o->targets);
    return error == PvmOk ? rm_export(&job->exports) : error;
}

static int arguments(struct job *job, const struct rm_order *o)
{
    int count = 0;
    while (o->arguments[count] != NULL)
        count++;
    job->argv = calloc((size_t)count + 2, sizeof *job->argv);
    for (int i = 0; i < count && job->argv != NULL; i++)
        job->argv[i + 1] = o->arguments[i];
    return job->argv == NULL ? PvmNoMem : PvmOk;
}

/* That of the daemon's tid; this host's where it names none. */
static int exec_place(struct job *job, int daemon)
{
    int count = host_list(&job->all), host = covey_tid_host(daemon & TID_HOST);
    job->hosts = calloc(2, sizeof *job->hosts);
    if (count < 0 || job->hosts == NULL)
        return count < 0 ? count : PvmNoMem;
    if ((daemon & TID_HOST) == 0)
        host = covey_tid_host(covey_mytid(vm_handle()));
    for (int i = 0; i < count; i++) {
        if (job->all[i].index == host)
            job->hosts[0] = job->all[i].name;
    }
    return job->hosts[0] == NULL ? PvmNoHost : PvmOk;
}

int rm_order_run(const struct rm_order *o, int daemon, int *tids)
{
    bool forward = o->targets[0] > 0;
    struct job job = {.program = o->program,
                      .flags = o->flags,
                      .count = o->count,
                      .folder = getenv("HOME"),
                      .output = forward ? COVEY_OUTPUT_SELF : COVEY_OUTPUT_INHERIT,
                      .tids = tids};
    int error = exec_place(&job, daemon);
    if (error == PvmOk)
        error = arguments(&job, o);
    if (error == PvmOk)
        error = environment(&job, o);
    if (error == PvmOk)
        error = job_run(&job);
    if (error == PvmOk && forward)
        output_forward(tids, job.started, o->parent, o->targets);
    job_fini(&job);
    return error;
}
