/* covey help: what the table of commands says. */
#include <stdio.h>
#include <string.h>

#include "tools/console/commands.h"

static int print_all(void)
{
    puts("usage: covey [--vm VM] COMMAND [ARGUMENT...]\n");
    for (const struct command *const *row = command_all(); *row; row++)
        printf("  %-10s %s\n", (*row)->name, (*row)->help);
    puts("\nWithout a command: the interactive console, which `quit` leaves. --vm VM (or\n"
         "$COVEY_VM) names the virtual machine. `covey help COMMAND` tells more, covey(1)\n"
         "everything.");
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
    printf("usage: covey %s%s%s\n%s\n", command->name, *command->usage ? " " : "", command->usage,
           command->help);
    if (command->options)
        putchar('\n');
    for (const struct args_option *o = command->options; o && o->name; o++) {
        char text[64];
        bool letter = o->key < 128;
        snprintf(text, sizeof text, "%c%c%s--%s %s", letter ? '-' : ' ', letter ? o->key : ' ',
                 letter ? ", " : "  ", o->name, o->argument ? o->argument : "");
        printf("  %-26s %s\n", text, o->help);
    }
    return TOOL_OK;
}

const struct command cmd_help = {
    .name = "help",
    .run = help_command,
    .usage = "[COMMAND]",
    .help = "list the commands, or explain one",
    .operand = "COMMAND",
};
