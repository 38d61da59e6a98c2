/*
 * Where the output of a run's tasks goes: each piece in one go on standard output or standard
 * error. A line that a task left unfinished is ended before another task writes on that stream,
 * so that lines never mix.
 */
#ifndef COVEY_TOOLS_OUTLET_H
#define COVEY_TOOLS_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

#include "covey.h"

struct outlet {
    bool tagged;         /* put "[t40001] " before each line */
    covey_tid_t open[3]; /* per descriptor: the task whose line is unfinished, or 0 */
    char *text;          /* room for what is not written as it came */
    size_t used;
    size_t capacity;
};

/* Writes what task `tid` wrote to `stream` (1 or 2). Returns 0 or an errno value. */
int outlet_write(struct outlet *outlet, int stream, covey_tid_t tid, const char *text,
                 size_t bytes);

/* Frees what the outlet holds, not the outlet. */
void outlet_fini(struct outlet *outlet);

#endif
