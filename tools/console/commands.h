/* The table of the commands (tools/base/command.h): a command is found and run by its name. */
#ifndef COVEY_TOOLS_COMMANDS_H
#define COVEY_TOOLS_COMMANDS_H

#include "tools/base/command.h"

/* All commands in the order of the table, ended by NULL. */
const struct command *const *command_all(void);

/* What stands before a command: global options, and the names of commands as its operand. */
extern const struct command command_none;

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* Says that there is no command of that name, and which one may have been meant; TOOL_USAGE. */
int command_unknown(const char *name);

/* Runs the command argv[0] and returns its exit status; output that could not be written makes
 * it fail. */
int command_run(struct tool *tool, int argc, char **argv);

#endif
