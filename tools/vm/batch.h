/*
 * batch.h - the job of a batch engine that this process is part of: its hosts, and how the engine
 * starts a program on one of them. What is not Slurm was tried with stand-ins for its programs.
 */
#ifndef COVEY_TOOLS_BATCH_H
#define COVEY_TOOLS_BATCH_H

#include <stdbool.h>
#include <stdio.h>

#include "covey.h"

#define BATCH_ERROR_BYTES 160

struct batch {
    const char *engine;    /* "Slurm"; NULL: there is no job, or it has no list of hosts */
    const char *template_; /* of the launcher exec, see covey.hosts(5); NULL: hosts are not reached
                            * by the engine */
    char **hosts;          /* each once, in the engine's order */
    int count;
    const char *self; /* the one that is this machine; NULL: none of them */
    char error[BATCH_ERROR_BYTES];
};

/* Looks in the environment. With `step`, the hosts are those of the step of the job in which this
 * process runs, where the engine has steps. Returns 0, or -1 with batch->error set. The caller
 * frees it with batch_free() in either case. */
int batch_find(struct batch *batch, bool step);

/* The part of batch_find() that reads the engine's list: the first word of each line is a host,
 * which may come again. False: memory is exhausted, or batch->error is set. */
bool batch_read(struct batch *batch, FILE *in);

/* Lets the engine start the host, if it is one of the job's and nothing was said of how to reach
 * it. The template stays the batch's. */
void batch_reach(const struct batch *batch, struct covey_host_spec *spec);

/* When the job is over, seconds since 1970: as was said, or else as COVEY_UNTIL or Slurm says.
 * Returns 1; 0: nobody says so; -1: what was said, or COVEY_UNTIL, is no time. */
int batch_until(const char *said, long *until);
bool batch_time(const char *text, long *until); /* such a time as text; false: it is none */

void batch_free(struct batch *batch);

/* The place of this process among those that one command of the engine started, from 0; -1: no such
 * command started it. */
int batch_rank(void);

/* The name of the VM that all of these have in common: of the job and its step. */
void batch_step_name(char *name, size_t size);

#endif
