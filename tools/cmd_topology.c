/* covey topology: a topology file, checked and printed. */
#include <stdio.h>

#include "tools/command.h"

static const struct args_option options[] = {
    {"tree", 't', NULL, "as a tree (the default)"},
    {"dot", 'd', NULL, "for Graphviz: covey topology --dot FILE | dot -Tsvg"},
    {"json", 'j', NULL, "print JSON"},
    {"file", 'f', NULL, "as a topology file without comments"},
    {NULL, 0, NULL, NULL}};

static int form_of(int key)
{
    switch (key) {
    case 'd':
        return COVEY_TOPOLOGY_DOT;
    case 'j':
        return COVEY_TOPOLOGY_JSON;
    case 'f':
        return COVEY_TOPOLOGY_FILE;
    default:
        return COVEY_TOPOLOGY_TREE;
    }
}

static int read_arguments(int argc, char **argv, const char **path, int *form)
{
    struct args args;
    int key;

    args_init(&args, options, argc, argv);
    while ((key = args_next(&args)) != ARGS_END) {
        if (key == ARGS_BAD)
            return tool_usage("topology", "%s", args.error);
        if (key != ARGS_OPERAND)
            *form = form_of(key);
        else if (*path)
            return tool_usage("topology", "one file, not %s too", args.value);
        else
            *path = args.value;
    }
    return *path ? TOOL_OK : tool_usage("topology", "which file?");
}

static int topology_command(struct tool *tool, int argc, char **argv)
{
    const char *path = NULL;
    int form = COVEY_TOPOLOGY_TREE, status = read_arguments(argc, argv, &path, &form);
    covey_topology_t *topology = NULL;
    char *text = NULL;

    (void)tool;
    if (status != TOOL_OK)
        return status;
    if (covey_topology_load(path, &topology) < 0 || covey_topology_print(topology, form, &text) < 0)
        status = tool_error("topology", "%s", covey_error_text());
    else
        fputs(text, stdout);
    covey_free(text);
    covey_topology_free(&topology);
    return status;
}

const struct command cmd_topology = {
    .name = "topology",
    .run = topology_command,
    .usage = "[--tree | --dot | --json | --file] FILE",
    .help = "check a topology file and print the network",
    .options = options,
    .operand = "FILE",
};
