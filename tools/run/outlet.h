/*
 * Where the output of a run's tasks goes: each piece in one go on standard output or standard
 * error, and lines of different tasks never mix. A line that comes in several pieces is held back
 * until it is whole or its task has ended, up to OUTLET_HELD_MAX bytes; one that is longer is
 * passed on in pieces, and ended by a newline should another task write in between.
 */
#ifndef COVEY_TOOLS_OUTLET_H
#define COVEY_TOOLS_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

#include "covey.h"

#define OUTLET_HELD_MAX ((size_t)1 << 20)

struct outlet_held; /* the begin of a line of one task on one stream */

/* Text that grows; zeroed: none. */
struct outlet_text {
    char *bytes;
    size_t used, capacity;
};

struct outlet {
    bool tagged; /* put "[t40001] " before each line */
    struct outlet_held *held;
    covey_tid_t open[3];     /* per descriptor: the task whose line was begun there, or 0 */
    struct outlet_text text; /* what is not written as it came */
};

/* Writes what task `tid` wrote to `stream` (1 or 2). Returns 0 or an errno value. */
int outlet_write(struct outlet *outlet, int stream, covey_tid_t tid, const char *text,
                 size_t bytes);

/* The task has ended: writes the lines that it left unfinished. Returns 0 or an errno value. */
int outlet_end(struct outlet *outlet, covey_tid_t tid);

/* All tasks have ended. Returns 0 or an errno value. */
int outlet_end_all(struct outlet *outlet);

/* Frees what the outlet holds, not the outlet. */
void outlet_fini(struct outlet *outlet);

#endif
