/*
 * run_trace.c - a trace around the tasks of covey run. The summary is made of a trace, too: of the
 * one that was asked for, or of a file that is gone afterwards.
 */
#include "tools/run/run_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/trace/summary.h"
#include "tools/trace/trace_file.h"

#define LONGEST 3

static int make_file(struct run_trace *t)
{
    const char *folder = getenv("TMPDIR");
    if (asprintf(&t->file, "%s/covey-summary.XXXXXX",
                 folder != NULL && *folder != '\0' ? folder : "/tmp") < 0) {
        t->file = NULL;
        return tool_error("run", "memory is exhausted");
    }
    int fd = mkstemp(t->file);
    if (fd < 0)
        return tool_error("run", "--summary: %s: %s", t->file, strerror(errno));
    close(fd);
    t->passing = true;
    return TOOL_OK;
}

static void forget_file(struct run_trace *t)
{
    if (t->passing)
        unlink(t->file);
    free(t->file);
    *t = (struct run_trace){0};
}

int run_trace_begin(struct run_trace *t, struct tool *tool, const struct run_line *line)
{
    const struct covey_options o = {.vm = tool_by_socket(tool) ? NULL : tool->vm_name};
    *t = (struct run_trace){.summary = line->summary};
    if (line->trace == NULL && !line->summary)
        return TOOL_OK;
    int status = TOOL_OK;
    if (line->trace == NULL)
        status = make_file(t);
    else if ((t->file = strdup(line->trace)) == NULL)
        status = tool_error("run", "memory is exhausted");
    if (status == TOOL_OK) {
        int error = covey_trace_open(&t->trace, &o, t->file, covey_mytid(tool->vm));
        status = error < 0 ? tool_failed(tool, "run", error) : TOOL_OK;
    }
    if (status != TOOL_OK)
        forget_file(t);
    return status;
}

static int print_summary(const struct trace *trace, void *context)
{
    (void)context;
    if (!trace_summary(trace, LONGEST, stderr))
        return tool_error("run", "memory is exhausted");
    return TOOL_OK;
}

int run_trace_end(struct run_trace *t)
{
    struct covey_trace_end end = {0};
    if (t->trace == NULL)
        return TOOL_OK;
    int status = TOOL_OK;
    if (covey_trace_close(&t->trace, &end) < 0)
        status = tool_error("run", "the trace is not whole: %s", covey_error_text());
    else if (end.untraced > 0 && !t->summary) /* which says it itself */
        tool_error("run", "%llu tasks are not in the trace: their hosts have no room for so many",
                   (unsigned long long)end.untraced);
    if (!t->passing && status == TOOL_OK)
        status = trace_file_end("run", t->file);
    if (t->summary && status == TOOL_OK)
        status = trace_file_use("run", t->file, print_summary, NULL);
    forget_file(t);
    return status;
}
