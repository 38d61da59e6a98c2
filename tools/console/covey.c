/*
 * covey: the console of the virtual machine.
 *
 *   console/   this file: global options, then one command; the table that finds a command by its
 *              name; the interactive console, its completion and its help
 *   base/      what commands share: the connection and the way errors are reported (tool.c),
 * options and words of a line, tids, children, signals while a command waits list/      tables,
 * reports and listings for people and for scripts; drawings by gnuplot vm/ run/ doctor/ bench/
 * predict/   the commands by subject: cmd_NAME.c and what it needs
 *
 * Everything here uses covey.h alone. A command gets a struct tool and its words and returns an
 * exit status, so that the shell and the console run the same functions; it leaves nothing behind
 * but the connection. Options and operands are described in tables, which parsing, help and
 * completion share: a new command is one file and one row in base/command.h.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/args.h"
#include "tools/console/commands.h"

static const struct args_option options[] = {{"vm", 'V', "VM", "name of the virtual machine"},
                                             {"help", 'h', NULL, "list the commands"},
                                             {"version", 'v', NULL, "print the version"},
                                             {NULL, 0, NULL, NULL}};

static const char *default_vm(void)
{
    const char *name = getenv("COVEY_VM");
    return name && *name ? name : "default";
}

static int run_alone(struct tool *tool, const char *name)
{
    char *argv[] = {(char *)name, NULL};
    return command_run(tool, 1, argv);
}

/* Without a command it is the console. */
static int run(struct tool *tool, int argc, char **argv)
{
    struct args args;
    int key;
    args_init(&args, options, argc, argv);
    while ((key = args_next(&args)) != ARGS_END) {
        if (key == ARGS_OPERAND)
            return command_run(tool, argc - args.next + 1, &argv[args.next - 1]);
        if (key == ARGS_BAD) {
            tool_error("options", "%s; see: covey help", args.error);
            return TOOL_USAGE;
        }
        if (key != 'V')
            return run_alone(tool, key == 'h' ? "help" : "version");
        if (*args.value == '\0') {
            tool_error("options", "--vm '': must be a name; see: covey help");
            return TOOL_USAGE;
        }
        tool_set_vm(tool, args.value);
    }
    return run_alone(tool, "console");
}

int main(int argc, char **argv)
{
    struct tool tool = {.vm_name = default_vm()};
    setlocale(LC_CTYPE, "");
    int status = run(&tool, argc, argv);
    tool_leave(&tool);
    return status;
}
