/* covey kill: ends tasks. */
#include "tools/base/command.h"
#include "tools/base/tid.h"

static int check_tids(int argc, char **argv)
{
    if (argc < 2)
        return tool_usage("kill", "no task is named");
    for (int i = 1; i < argc; i++) {
        if (tid_parse(argv[i]) == 0)
            return tool_usage("kill", "%s: not a tid such as t40001", argv[i]);
    }
    return TOOL_OK;
}

static int kill_command(struct tool *tool, int argc, char **argv)
{
    int status = check_tids(argc, argv);
    if (status == TOOL_OK)
        status = tool_join(tool, "kill");
    for (int i = 1; status != TOOL_USAGE && tool->vm && i < argc; i++) {
        int error = covey_kill(tool->vm, tid_parse(argv[i]));
        if (error < 0)
            status = tool_failed(tool, argv[i], error);
    }
    return status;
}

const struct command cmd_kill = {
    .name = "kill",
    .run = kill_command,
    .usage = "TID...",
    .help = "end tasks: SIGTERM, and SIGKILL after 3 seconds",
    .operand = "TID",
};
