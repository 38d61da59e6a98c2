/* covey topology: a topology file, checked and printed; the VM's, set and printed. */
#include <stdbool.h>
#include <stdio.h>

#include "tools/base/arguments.h"
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

static int take_topology_argument(void *context, int key, const char *value)
{
    struct wish *wish = context;
    if (key != ARGS_OPERAND) {
        wish->form = key == 'd'   ? COVEY_TOPOLOGY_DOT
                     : key == 'j' ? COVEY_TOPOLOGY_JSON
                     : key == 'f' ? COVEY_TOPOLOGY_FILE
                                  : COVEY_TOPOLOGY_TREE;
        return TOOL_OK;
    }
    if (wish->path)
        return tool_usage("topology", "one file, not %s too", value);
    wish->path = value;
    return TOOL_OK;
}

static int read_topology_arguments(int argc, char **argv, struct wish *wish)
{
    const struct arguments_place places[] = {
        {'u', .text = &wish->use}, {'v', .flag = &wish->vm}, {0}};
    int status = arguments_read(&(struct arguments){options, places, take_topology_argument, wish},
                                argc, argv);
    int wishes = (wish->path != NULL) + (wish->use != NULL) + wish->vm;
    if (status == TOOL_OK && wishes != 1)
        return tool_usage("topology", "%s",
                          wishes ? "one of FILE, --use and --vm" : "no file is named");
    return status;
}

static int print_topology(const struct wish *wish, struct tool *tool)
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
    int status = read_topology_arguments(argc, argv, &wish);

    if (status == TOOL_OK && wish.use)
        status = vm_topology_check("topology", wish.use);
    if (status == TOOL_OK && !wish.path)
        status = tool_join(tool, "topology");
    if (status != TOOL_OK)
        return status;
    return wish.use ? vm_topology_use(tool, "topology", wish.use) : print_topology(&wish, tool);
}

const struct command cmd_topology = {
    .name = "topology",
    .run = topology_command,
    .usage = "[--tree | --dot | --json | --file] FILE | --vm, or --use FILE",
    .help = "check a topology file and print the network; set the VM's",
    .options = options,
    .operand = "FILE",
};
