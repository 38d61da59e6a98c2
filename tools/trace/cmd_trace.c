/*
 * covey trace: begins and ends the trace of a virtual machine that runs, and reads what was
 * recorded: as a summary, in other forms, or why it took so long.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/trace/forms.h"
#include "tools/trace/summary.h"
#include "tools/trace/trace_file.h"
#include "tools/trace/why.h"

#define STOP_US 60000000
#define FINDINGS 10

static const struct args_option options[] = {
    {"to", 't', "FORM", "write it as perfetto, paje, csv or html"},
    {"out", 'o', "FILE", "there, not to standard output"},
    {"why", 'w', NULL, "say what tasks waited for, why, and what may help"},
    {NULL, 0, NULL, NULL}};

struct asked {
    const char *words[2]; /* FILE, or start FILE, or stop */
    int count;
    const char *form, *out;
    bool why;
};

/* ---- start and stop ---- */

/* The child collects in the background; it tells in one line how it began. */
static int collect(struct tool *tool, const char *file, int told)
{
    covey_trace_t *trace = NULL;
    const struct covey_options o = {.vm = tool_by_socket(tool) ? NULL : tool->vm_name};
    int error = covey_trace_open(&trace, &o, file, 0);
    const char *text = error < 0 ? covey_error_text() : "ok";
    ssize_t n = write(told, text, strlen(text));
    close(told);
    if (error < 0 || n < 0)
        return TOOL_FAILED;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    covey_trace_wait(trace);
    if (covey_trace_close(&trace, NULL) < 0)
        return TOOL_FAILED;
    return trace_file_end("trace", file);
}

static int start_trace(struct tool *tool, const char *file)
{
    int told[2];
    char text[200];
    tool_leave(tool);
    fflush(NULL);
    if (pipe(told) != 0)
        return tool_error("trace", "%s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        close(told[0]);
        setsid();
        _exit(collect(tool, file, told[1]));
    }
    close(told[1]);
    ssize_t n = child < 0 ? -1 : read(told[0], text, sizeof text - 1);
    close(told[0]);
    text[n > 0 ? n : 0] = '\0';
    if (strcmp(text, "ok") == 0) {
        printf("the virtual machine is traced into %s; to end that: covey trace stop\n", file);
        return TOOL_OK;
    }
    return tool_error("trace", "%s", n > 0 ? text : "the process that collects did not start");
}

static int stop_trace(struct tool *tool)
{
    int status = tool_join(tool, "trace");
    if (status != TOOL_OK)
        return status;
    int error = covey_trace_stop(tool->vm, STOP_US);
    return error < 0 ? tool_failed(tool, "trace", error) : TOOL_OK;
}

/* ---- what is made of a file ---- */

typedef bool form_fn(const struct trace *trace, FILE *out);

static form_fn *form_find(const char *name)
{
    static const struct {
        const char *name;
        form_fn *write;
    } forms[] = {{"perfetto", trace_to_perfetto},
                 {"paje", trace_to_paje},
                 {"csv", trace_to_csv},
                 {"html", trace_to_html}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].name, name) == 0)
            return forms[i].write;
    return NULL;
}

static int print_trace(const struct trace *trace, void *context)
{
    const struct asked *asked = context;
    FILE *out = asked->out != NULL ? fopen(asked->out, "we") : stdout;
    if (out == NULL)
        return tool_error("trace", "%s: %s", asked->out, strerror(errno));
    bool good = asked->why            ? why_print(trace, FINDINGS, out)
                : asked->form != NULL ? form_find(asked->form)(trace, out)
                                      : trace_summary(trace, 0, out);
    bool written = fflush(out) == 0 && !ferror(out);
    if (out != stdout)
        written = fclose(out) == 0 && written;
    if (!good)
        return tool_error("trace", "memory is exhausted");
    return written ? TOOL_OK : tool_error("trace", "not all could be written");
}

/* ---- the command ---- */

static int take_word(void *context, int key, const char *value)
{
    struct asked *asked = context;
    (void)key;
    if (asked->count == 2)
        return tool_usage("trace", "%s: one word too many", value);
    asked->words[asked->count++] = value;
    return TOOL_OK;
}

static int trace_command(struct tool *tool, int argc, char **argv)
{
    struct asked asked = {.count = 0};
    const struct arguments_place places[] = {
        {'t', .text = &asked.form}, {'o', .text = &asked.out}, {'w', .flag = &asked.why}, {0}};
    int status =
        arguments_read(&(struct arguments){options, places, take_word, &asked}, argc, argv);
    if (status != TOOL_OK)
        return status;
    if (asked.count == 0)
        return tool_usage("trace", "a file, start FILE or stop is missing");
    if (strcmp(asked.words[0], "stop") == 0 && asked.count == 1)
        return stop_trace(tool);
    if (strcmp(asked.words[0], "start") == 0)
        return asked.count == 2 ? start_trace(tool, asked.words[1])
                                : tool_usage("trace", "start: a file is missing");
    if (asked.count == 2)
        return tool_usage("trace", "%s: one file at a time", asked.words[1]);
    if (asked.form != NULL && form_find(asked.form) == NULL)
        return tool_usage("trace", "--to %s: must be perfetto, paje, csv or html", asked.form);
    if (asked.form != NULL && asked.why)
        return tool_usage("trace", "--why is no form: not together with --to");
    return trace_file_use("trace", asked.words[0], print_trace, &asked);
}

const struct command cmd_trace = {
    .name = "trace",
    .run = trace_command,
    .usage = "start FILE | stop | FILE [--why] [--to perfetto|paje|csv|html] [--out FILE]",
    .help = "record what tasks do, and say what a recording tells",
    .options = options,
    .operand = "start|stop|FILE",
};
