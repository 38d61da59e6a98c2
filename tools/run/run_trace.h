/*
 * run_trace.h - what the tasks of covey run do is recorded, and summed up at the end.
 */
#ifndef COVEY_TOOLS_RUN_TRACE_H
#define COVEY_TOOLS_RUN_TRACE_H

#include "tools/base/command.h"
#include "tools/run/run_line.h"

struct run_trace {
    covey_trace_t *trace; /* NULL: nothing is recorded */
    char *file;
    bool passing; /* nobody asked for the file */
    bool summary;
};

/* Begins to record what the console and its tasks do, if the line asks for it. A status of the
 * tool. */
int run_trace_begin(struct run_trace *t, struct tool *tool, const struct run_line *line);

/* Ends that, and prints the summary on standard error. A status of the tool. */
int run_trace_end(struct run_trace *t);

#endif
