/* covey halt: ends the VM with all its tasks and daemons. */
#include <stdio.h>

#include "tools/base/command.h"

static int halt_command(struct tool *tool, int argc, char **argv)
{
    if (argc > 1)
        return tool_usage("halt", "%s: takes no argument", argv[1]);
    int error = tool_try_join(tool);
    if (error == COVEY_EDAEMON && !tool_by_socket(tool))
        return tool_error("halt", "no VM named %s runs here; name another with --vm",
                          tool->vm_name);
    if (error < 0)
        return tool_failed(tool, "halt", error);
    error = tool_halt(tool);
    return error < 0 ? tool_failed(tool, "halt", error) : TOOL_OK;
}

const struct command cmd_halt = {
    .name = "halt",
    .run = halt_command,
    .usage = "",
    .help = "end the virtual machine: all tasks, then all daemons",
};
