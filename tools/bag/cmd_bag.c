/* covey bag: what is left of a bag of work goes into a file, or a bag is made of such a file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"

static int say(const struct covey_bag_info *info, const char *where, const char *file)
{
    printf("bag %s: %" PRIu64 " items are left and %" PRIu64 " results, of %" PRIu64
           " items%s; %s %s\n",
           info->name, info->ready, info->results, info->put,
           info->closed ? "" : ", and more may be put", where, file);
    return TOOL_OK;
}

static int save_bag(struct tool *tool, const char **words, int count)
{
    struct covey_bag_info info;
    if (count != 3)
        return tool_usage("bag", "save: the name of a bag, and a file");
    int status = tool_join(tool, "bag");
    int error = status == TOOL_OK ? covey_bag_save(tool->vm, words[1], words[2], &info) : 0;
    if (error < 0)
        return tool_failed(tool, "bag", error);
    return status == TOOL_OK ? say(&info, "kept in", words[2]) : status;
}

static int load_bag(struct tool *tool, const char **words, int count, bool again)
{
    struct covey_bag_info info;
    if (count != 2 && count != 3)
        return tool_usage("bag", "load: a file, and perhaps another name for the bag");
    int status = tool_join(tool, "bag");
    if (status != TOOL_OK)
        return status;
    int error = again ? covey_bag_again(words[1]) : 0;
    if (error >= 0)
        error = covey_bag_load(tool->vm, words[1], count == 3 ? words[2] : NULL, &info);
    if (error < 0)
        return tool_failed(tool, "bag", error);
    return say(&info, "taken up from", words[1]);
}

static const struct args_option options[] = {
    {"again", 'a', NULL, "load: though that was done before, or its bag may go on"},
    {NULL, 0, NULL, NULL}};

static int bag_command(struct tool *tool, int argc, char **argv)
{
    const char **words = calloc((size_t)argc, sizeof *words);
    bool again = false;
    int count = 0;
    const struct arguments_place places[] = {
        {'a', .flag = &again}, {ARGS_OPERAND, .text = words, .count = &count}, {0}};
    if (!words)
        return tool_error("bag", "memory is exhausted");
    int status = arguments_read(&(struct arguments){options, places, NULL, NULL}, argc, argv);
    bool saves = count > 0 && strcmp(words[0], "save") == 0;
    bool loads = count > 0 && strcmp(words[0], "load") == 0;
    if (status == TOOL_OK && ((!saves && !loads) || (saves && again)))
        status = tool_usage("bag", saves ? "--again goes with load alone" : "save or load?");
    else if (status == TOOL_OK)
        status = saves ? save_bag(tool, words, count) : load_bag(tool, words, count, again);
    free(words);
    return status;
}

const struct command cmd_bag = {
    .name = "bag",
    .run = bag_command,
    .usage = "save BAG FILE | load FILE [BAG] [--again]",
    .help = "keep what is left of a bag in a file, or take it up again",
    .options = options,
    .operand = "save|load|FILE",
};
