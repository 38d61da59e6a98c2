/*
 * job.h - tasks that are to be started: what is asked for, and what came of it.
 */
#ifndef COVEY_PVM3_JOB_H
#define COVEY_PVM3_JOB_H

#include <limits.h>

#include "lib/pvm3/core/export.h"
#include "lib/pvm3/mailbox/plugin.h"

/* Begins zeroed; arrays and strings are the job's where it is not said otherwise. */
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
    int output; /* enum covey_output */
};

/* Starts what can be started. Returns 0, and the tids and the errors of the others are in tids, or
 * an error: nothing was started. */
int job_run(struct job *job);
void job_fini(struct job *job);

/* Variables that every task of PVM needs to find its libraries and programs. Returns 0 or an error.
 */
int job_inherit(struct exports *e);

#endif
