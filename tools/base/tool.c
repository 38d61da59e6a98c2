/*
 * tool.c - what subcommands share: the VM that they speak of, the connection to it, made when
 * first needed, and the one way to report an error in a line with its remedy.
 */
#include "tools/base/tool.h"

#include "tools/base/logfile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HALT_WAIT_MS 10000
#define HALT_LOOK_MS 20

int tool_try_join(struct tool *tool)
{
    struct covey_options options = {.role = COVEY_ROLE_CONSOLE};
    if (tool->named)
        options.vm = tool->vm_name;
    return tool->vm ? 0 : covey_join(&tool->vm, &options);
}

bool tool_by_socket(const struct tool *tool)
{
    const char *path = getenv("COVEY_SOCKET");
    return !tool->named && path && *path;
}

int tool_join(struct tool *tool, const char *what)
{
    char words[LOGFILE_WORDS_BYTES];
    int error = tool_try_join(tool);
    if (error == COVEY_EDAEMON && !tool_by_socket(tool)) {
        if (logfile_last_words(tool->vm_name, words))
            return tool_error(what,
                              "no VM named %s runs here: %s; its log: covey --vm %s logs; start "
                              "another with: covey --vm %s start",
                              tool->vm_name, words, tool->vm_name, tool->vm_name);
        return tool_error(what, "no VM named %s runs here; start one with: covey --vm %s start",
                          tool->vm_name, tool->vm_name);
    }
    if (error == COVEY_EDAEMON)
        return tool_error(what, "%s; unset COVEY_SOCKET, or start a VM with: covey start",
                          covey_error_text());
    return error < 0 ? tool_failed(tool, what, error) : TOOL_OK;
}

void tool_leave(struct tool *tool)
{
    covey_leave(&tool->vm);
}

/* A daemon that is ending still takes connections, so one that is refused shows that it is gone.
 * Nothing tells when that is: this looks again and again, for as long as daemons may take. */
bool tool_wait_gone(const char *vm_name)
{
    const struct covey_options options = {.vm = vm_name, .role = COVEY_ROLE_CONSOLE};
    const struct timespec pause = {.tv_nsec = HALT_LOOK_MS * 1000000};
    for (int i = 0; i < HALT_WAIT_MS / HALT_LOOK_MS; i++) {
        covey_t *vm = NULL;
        if (covey_join(&vm, &options) == COVEY_EDAEMON)
            return true;
        covey_leave(&vm);
        nanosleep(&pause, NULL);
    }
    return false;
}

int tool_halt(struct tool *tool)
{
    char *vm_name = strdup(covey_vm_name(tool->vm));
    int error = covey_halt(tool->vm);
    if (error == 0) {
        tool_leave(tool);
        tool_wait_gone(vm_name ? vm_name : tool->vm_name);
    }
    free(vm_name);
    return error;
}

void tool_set_vm(struct tool *tool, const char *vm_name)
{
    if (!tool->named || strcmp(tool->vm_name, vm_name) != 0)
        tool_leave(tool);
    tool->vm_name = vm_name;
    tool->named = true;
}

/* One write for the whole line, so that lines of several processes do not mix. */
static void report_error(const char *what, const char *hint, const char *format, va_list arguments)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    fflush(stdout);
    if (hint)
        fprintf(stderr, "covey: %s: %s; see: covey help %s\n", what, text, hint);
    else
        fprintf(stderr, "covey: %s: %s\n", what, text);
}

int tool_error(const char *what, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_error(what, NULL, format, arguments);
    va_end(arguments);
    return TOOL_FAILED;
}

int tool_usage(const char *what, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_error(what, what, format, arguments);
    va_end(arguments);
    return TOOL_USAGE;
}

static const char *remedy(int error)
{
    switch (error) {
    case COVEY_EDAEMON: /* the VM may go on without it */
        return "see: covey hosts";
    case COVEY_EHALT:
        return "start a VM with: covey start";
    case COVEY_EVERSION:
        return "install the same version of Covey on all hosts";
    case COVEY_EDENIED:
        return "use a VM of your own";
    case COVEY_ENOHOST:
    case COVEY_EHOSTFAIL:
        return "see: covey hosts";
    case COVEY_ENOTASK:
        return "see: covey ps";
    case COVEY_EROUTE:
        return "leave out --route, or take another";
    case COVEY_ENOMEM:
    case COVEY_ERESOURCE:
        return "free memory, processes or descriptors, then try again";
    default:
        return NULL;
    }
}

int tool_failed(struct tool *tool, const char *what, int error)
{
    const char *advice = remedy(error);
    const char *text = covey_error_text();
    if (!*text)
        text = covey_strerror(error);
    tool_error(what, "%s%s%s", text, advice ? "; " : "", advice ? advice : "");
    if (error == COVEY_EDAEMON || error == COVEY_EHALT)
        tool_leave(tool);
    return TOOL_FAILED;
}
