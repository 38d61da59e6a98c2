/*
 * listing.c - what commands that list things share: the option --json and the name of a host by
 * its index.
 */
#include "tools/list/listing.h"

#include "tools/base/arguments.h"

const struct args_option listing_options[] = {{"json", 'j', NULL, "print JSON, for scripts"},
                                              {NULL, 0, NULL, NULL}};

int listing_join(struct tool *tool, int argc, char **argv, bool *json)
{
    const struct arguments_place places[] = {{'j', .flag = json}, {0}};
    *json = false;
    int status =
        arguments_read(&(struct arguments){listing_options, places, NULL, NULL}, argc, argv);
    return status == TOOL_OK ? tool_join(tool, argv[0]) : status;
}

const char *listing_host_name(const struct covey_host *hosts, int count, int index)
{
    for (int i = 0; i < count; i++) {
        if (hosts[i].index == index)
            return hosts[i].name;
    }
    return "?";
}
