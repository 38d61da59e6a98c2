/* covey topology: a topology file, checked and printed; the VM's, set and printed. */
#include <stdbool.h>
#include <stdio.h>

#include "tools/base/command.h"
#include "tools/vm/vm_topology.h"

static const struct args_option options[] = {
    {"tree", 't', NULL, "as a tree (the default)"},
    {"dot", 'd', NULL, "for Graphviz: covey topology --dot FILE | dot -Tsvg"},
    {"json", 'j', NULL, "print JSON"},
    {"file", 'f', NULL, "as a topology file without comments"},
    {"use", 'u', "FILE", "make it the topology of the VM (none: take that away)"},
    {"vm", 'v', NULL, "the topology of the VM, in the place of a file"},
    {NULL, 0, NULL, NULL}};

/* What is asked for. */
struct wish {
    const char *path, *use;
    bool vm;
    int form;
};

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

static int take_operand(struct wish *wish, const char *path)
{
    if (wish->path)
        return tool_usage("topology", "one file, not %s too", path);
    wish->path = path;
    return TOOL_OK;
}

static int read_arguments(int argc, char **argv, struct wish *wish)
{
    struct args args;
    int key, status = TOOL_OK;

    args_init(&args, options, argc, argv);
    while (status == TOOL_OK && (key = args_next(&args)) != ARGS_END) {
        if (key == ARGS_BAD)
            return tool_usage("topology", "%s", args.error);
        if (key == ARGS_OPERAND)
            status = take_operand(wish, args.value);
        else if (key == 'u')
            wish->use = args.value;
        else if (key == 'v')
            wish->vm = true;
        else
            wish->form = form_of(key);
    }
    int wishes = (wish->path != NULL) + (wish->use != NULL) + wish->vm;
    if (status == TOOL_OK && wishes != 1)
        return tool_usage("topology", "%s",
                          wishes ? "one of FILE, --use and --vm" : "no file is named");
    return status;
}

static int print(const struct wish *wish, struct tool *tool)
{
    covey_topology_t *topology = NULL;
    char *text = NULL;
    int status = TOOL_OK;
    int error = wish->vm ? covey_vm_topology(tool->vm, &topology)
                         : covey_topology_load(wish->path, &topology);

    if (error < 0 || covey_topology_print(topology, wish->form, &text) < 0)
        status = tool_error("topology", "%s", covey_error_text());
    else
        fputs(text, stdout);
    covey_free(text);
    covey_topology_free(&topology);
    return status;
}

static int topology_command(struct tool *tool, int argc, char **argv)
{
    struct wish wish = {.form = COVEY_TOPOLOGY_TREE};
    int status = read_arguments(argc, argv, &wish);

    if (status == TOOL_OK && wish.use)
        status = vm_topology_check("topology", wish.use);
    if (status == TOOL_OK && !wish.path)
        status = tool_join(tool, "topology");
    if (status != TOOL_OK)
        return status;
    return wish.use ? vm_topology_use(tool, "topology", wish.use) : print(&wish, tool);
}

const struct command cmd_topology = {
    .name = "topology",
    .run = topology_command,
    .usage = "[--tree | --dot | --json | --file] FILE | --vm, or --use FILE",
    .help = "check a topology file and print the network; set the VM's",
    .options = options,
    .operand = "FILE",
};
