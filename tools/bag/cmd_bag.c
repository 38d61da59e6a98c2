/* covey bag: what is left of a bag of work goes into a file, or a bag is made of such a file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/base/command.h"

static int say(const struct covey_bag_info *info, const char *where, const char *file)
{
    printf("bag %s: %" PRIu64 " items are left and %" PRIu64 " results, of %" PRIu64
           " items%s; %s %s\n",
           info->name, info->ready, info->results, info->put,
           info->closed ? "" : ", and more may be put", where, file);
    return TOOL_OK;
}

static int bag_command(struct tool *tool, int argc, char **argv)
{
    struct covey_bag_info info;
    bool saves = argc > 1 && strcmp(argv[1], "save") == 0;
    bool loads = argc > 1 && strcmp(argv[1], "load") == 0;
    if (!saves && !loads)
        return tool_usage("bag", "save or load?");
    if (saves ? argc != 4 : argc != 3 && argc != 4)
        return tool_usage("bag", saves ? "save: the name of a bag, and a file"
                                       : "load: a file, and perhaps another name for the bag");
    int status = tool_join(tool, "bag");
    if (status != TOOL_OK)
        return status;
    int error = saves ? covey_bag_save(tool->vm, argv[2], argv[3], &info)
                      : covey_bag_load(tool->vm, argv[2], argc == 4 ? argv[3] : NULL, &info);
    if (error < 0)
        return tool_failed(tool, "bag", error);
    return say(&info, saves ? "kept in" : "taken up from", saves ? argv[3] : argv[2]);
}

const struct command cmd_bag = {
    .name = "bag",
    .run = bag_command,
    .usage = "save BAG FILE | load FILE [BAG]",
    .help = "keep what is left of a bag in a file, or take it up again",
    .operand = "save|load|FILE",
};
