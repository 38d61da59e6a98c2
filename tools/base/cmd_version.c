/* covey version */
#include <stdio.h>
#include <string.h>

#include "tools/base/command.h"

static int version_command(struct tool *tool, int argc, char **argv)
{
    (void)tool;
    if (argc > 1)
        return tool_usage("version", "%s: takes no argument", argv[1]);
    printf("covey %s\n", COVEY_VERSION);
    if (strcmp(covey_version(), COVEY_VERSION) != 0)
        printf("libcovey %s\n", covey_version());
    return TOOL_OK;
}

const struct command cmd_version = {
    .name = "version",
    .run = version_command,
    .usage = "",
    .help = "print the version",
};
