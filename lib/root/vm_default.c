/*
 * vm_default.c - the name of the VM where none is said. In a job of a batch engine it is the job's:
 * so two jobs of one user do not meet on a host that they share, and what is called in a job by
 * hand finds the job's VM.
 */
#include "lib/covey.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* The engine's number for the job that this process is part of, or NULL. JOB_ID alone might be
 * anybody's. */
static const char *job_id(void)
{
    static const struct {
        const char *id, *only_with;
    } jobs[] = {{"SLURM_JOB_ID", NULL},
                {"PBS_JOBID", NULL},
                {"LSB_JOBID", NULL},
                {"JOB_ID", "PE_HOSTFILE"}};
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        const char *id = variable(jobs[i].id);
        if (id != NULL && (jobs[i].only_with == NULL || variable(jobs[i].only_with) != NULL))
            return id;
    }
    return NULL;
}

const char *covey_vm_default(char *name, size_t size)
{
    const char *vm = variable("COVEY_VM"), *job = job_id();
    if (vm != NULL || job == NULL) {
        snprintf(name, size, "%s", vm != NULL ? vm : "default");
        return name;
    }
    /* tasks of an array of jobs differ in these alone */
    const char *part = variable("LSB_JOBINDEX");
    if (part == NULL && variable("JOB_ID") == job)
        part = variable("SGE_TASK_ID");
    snprintf(name, size, "job-%.40s%s%.10s", job, part != NULL ? "." : "",
             part != NULL ? part : "");
    for (char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr("._-@", *at) == NULL)
            *at = '-';
    return name;
}
