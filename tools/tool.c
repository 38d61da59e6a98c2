#include "tools/tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    int error = tool_try_join(tool);
    if (error == COVEY_EDAEMON && !tool_by_socket(tool))
        return tool_error(what, "no VM named %s runs here; start one with: covey start --vm %s",
                          tool->vm_name, tool->vm_name);
    return error < 0 ? tool_failed(tool, what, error) : TOOL_OK;
}

void tool_leave(struct tool *tool)
{
    covey_leave(&tool->vm);
}

void tool_set_vm(struct tool *tool, const char *vm_name)
{
    if (!tool->named || strcmp(tool->vm_name, vm_name) != 0)
        tool_leave(tool);
    tool->vm_name = vm_name;
    tool->named = true;
}

/* One write for the whole line, so that lines of several processes do not mix. */
static void report(const char *what, const char *hint, const char *format, va_list arguments)
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
    report(what, NULL, format, arguments);
    va_end(arguments);
    return TOOL_FAILED;
}

int tool_usage(const char *what, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(what, what, format, arguments);
    va_end(arguments);
    return TOOL_USAGE;
}

static const char *remedy(int error)
{
    switch (error) {
    case COVEY_EDAEMON:
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
