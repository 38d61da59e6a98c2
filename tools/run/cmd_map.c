/* covey map: commands of a file on all hosts, by covey-map, which is the package for Python. */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/child.h"
#include "tools/base/command.h"
#include "tools/base/interrupt.h"
#include "tools/base/program.h"
#include "tools/vm/launch.h"

/* It cancels what did not begin, and its log is whole. */
static void end_map(void *context, int signal_number, int count)
{
    (void)signal_number, (void)count;
    kill(*(const pid_t *)context, SIGINT);
}

static int map_command(struct tool *tool, int argc, char **argv)
{
    char path[PROGRAM_PATH_BYTES];
    posix_spawn_file_actions_t files;
    pid_t pid;
    (void)argc;
    int status = program_find("map", "covey-map", path, sizeof path);
    if (status != TOOL_OK)
        return status;
    if (!tool_by_socket(tool) && setenv("COVEY_VM", tool->vm_name, 1) != 0)
        return tool_error("map", "memory is exhausted");
    fflush(stdout);
    posix_spawn_file_actions_init(&files);
    argv[0] = path;
    int error = child_spawn(&pid, &files, argv, environ);
    if (error)
        return tool_error("map", "cannot run %s: %s", path, strerror(error));
    struct interrupt *interrupt = interrupt_start(end_map, &pid);
    status = launch_wait(pid);
    interrupt_stop(&interrupt);
    return status;
}

const struct command cmd_map = {
    .name = "map",
    .run = map_command,
    .usage =
        "[--command COMMAND] [--jobs N] [--joblog LOG [--resume | --resume-failed]] [--timeout S]\n"
        "      [--retries N] [--keep-order] [--progress] [--dry-run] [FILE]",
    .help = "run the commands of a file on all hosts, as GNU parallel does",
    .operand = "FILE",
};
