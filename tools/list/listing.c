/*
 * listing.c - what commands that list things share: the option --json and the name of a host by
 * its index.
 */
#include "tools/list/listing.h"

#include "tools/base/tool.h"

const struct args_option listing_options[] = {{"json", 'j', NULL, "print JSON, for scripts"},
                                              {NULL, 0, NULL, NULL}};

int listing_arguments(int argc, char **argv, bool *json)
{
    struct args args;
    int key;
    args_init(&args, listing_options, argc, argv);
    *json = false;
    while ((key = args_next(&args)) != ARGS_END) {
        if (key == ARGS_BAD)
            return tool_usage(argv[0], "%s", args.error);
        if (key == ARGS_OPERAND)
            return tool_usage(argv[0], "%s: takes no argument", args.value);
        *json = true;
    }
    return TOOL_OK;
}

const char *listing_host_name(const struct covey_host *hosts, int count, int index)
{
    for (int i = 0; i < count; i++) {
        if (hosts[i].index == index)
            return hosts[i].name;
    }
    return "?";
}
