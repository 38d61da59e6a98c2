/* covey help: what the table of commands says. */
#include <stdio.h>
#include <string.h>

#include "tools/console/commands.h"

static int print_all(void)
{
    puts("usage: covey [--vm VM] COMMAND [ARGUMENT...]\n");
    for (const struct command *const *row = command_all(); *row; row++)
        printf("  %-9s %s\n", (*row)->name, (*row)->help);
    puts("\nWithout a command: the interactive console, which `quit` leaves. --vm VM (or\n"
         "$COVEY_VM) names the virtual machine. `covey help COMMAND` tells more, covey(1)\n"
         "everything.");
    return TOOL_OK;
}

static void print_option(const struct args_option *option)
{
    char text[64];
    bool letter = option->key < 128;
    snprintf(text, sizeof text, "%c%c%s--%s %s", letter ? '-' : ' ', letter ? option->key : ' ',
             letter ? ", " : "  ", option->name, option->argument ? option->argument : "");
    printf("  %-26s %s\n", text, option->help);
}

static int print_one(const struct command *command)
{
    printf("usage: covey %s%s%s\n%s\n", command->name, *command->usage ? " " : "", command->usage,
           command->help);
    if (command->options)
        putchar('\n');
    for (const struct args_option *o = command->options; o && o->name; o++)
        print_option(o);
    return TOOL_OK;
}

static int help_command(struct tool *tool, int argc, char **argv)
{
    (void)tool;
    if (argc > 2)
        return tool_usage("help", "%s: one command at a time", argv[2]);
    if (argc == 1)
        return print_all();
    const struct command *command = command_find(argv[1]);
    if (!command)
        return command_unknown(argv[1]);
    return print_one(command);
}

const struct command cmd_help = {
    .name = "help",
    .run = help_command,
    .usage = "[COMMAND]",
    .help = "list the commands, or explain one",
    .operand = "COMMAND",
};
