/*
 * command.c - finds a subcommand by its name and runs it. An unknown name gets the nearest known
 * one, and output that could not be written makes the command fail.
 */
#include "tools/console/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/console/guess.h"

static const struct args_option global_options[] = {
    {"vm", 'V', "VM", "name of the virtual machine"},
    {"help", 'h', NULL, "list the commands"},
    {"version", 'v', NULL, "print the version"},
    {NULL, 0, NULL, NULL}};

const struct command command_none = {.name = "", .options = global_options, .operand = "COMMAND"};

const struct command *const *command_all(void)
{
#define COMMAND_ROW(name) &cmd_##name,
    static const struct command *const rows[] = {COMMANDS(COMMAND_ROW) NULL};
    return rows;
}

const struct command *command_find(const char *name)
{
    for (const struct command *const *row = command_all(); *row; row++) {
        if (strcmp((*row)->name, name) == 0)
            return *row;
    }
    return NULL;
}

static int flush_output(const char *what, int status)
{
    int lost = ferror(stdout);
    if (fflush(stdout) == 0 && !lost)
        return status;
    clearerr(stdout);
    tool_error(what, "standard output could not be written: %s", strerror(errno));
    return status == TOOL_OK ? TOOL_FAILED : status;
}

int command_unknown(const char *name)
{
    const char *meant = guess_command(name);
    if (meant)
        tool_error(name, "no such command; did you mean 'covey %s'? see: covey help", meant);
    else
        tool_error(name, "no such command; see: covey help");
    return TOOL_USAGE;
}

int command_run(struct tool *tool, int argc, char **argv)
{
    const struct command *command = command_find(argv[0]);
    if (!command)
        return command_unknown(argv[0]);
    char *help[] = {(char *)"help", argv[0], NULL};
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return flush_output(argv[0], cmd_help.run(tool, 2, help));
    return flush_output(argv[0], command->run(tool, argc, argv));
}
