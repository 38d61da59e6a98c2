/* covey add, covey remove: hosts join and leave a VM that runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/admit.h"
#include "tools/command.h"
#include "tools/hostspec.h"

static const struct args_option add_options[] = {HOSTSPEC_OPTIONS, {NULL, 0, NULL, NULL}};

/* ---- add ---------------------------------------------------------------------------------- */

struct add {
    struct covey_host_spec common; /* what all have in common */
    struct covey_host_spec *specs;
    struct covey_host_result *results;
    int count;
};

static int read_add(struct add *add, int argc, char **argv)
{
    char error[HOSTSPEC_ERROR_BYTES];
    struct args args;
    int key;
    args_init(&args, add_options, argc, argv);
    while ((key = args_next(&args)) != ARGS_END) {
        if (key == ARGS_BAD)
            return tool_usage("add", "%s", args.error);
        if (key == ARGS_OPERAND)
            add->specs[add->count++].name = args.value;
        else if (!hostspec_set(&add->common, key, args.value, error))
            return tool_usage("add", "%s", error);
    }
    if (add->count == 0)
        return tool_usage("add", "no host is named");
    if (add->common.address && add->count > 1)
        return tool_usage("add", "one --address cannot serve several hosts");
    return TOOL_OK;
}

static int complete_specs(struct add *add)
{
    char error[HOSTSPEC_ERROR_BYTES];
    for (int i = 0; i < add->count; i++) {
        const char *name = add->specs[i].name;
        add->specs[i] = add->common;
        add->specs[i].name = name;
        if (!hostspec_check(&add->specs[i], error))
            return tool_usage("add", "%s", error);
    }
    return TOOL_OK;
}

static int add_hosts(struct tool *tool, struct add *add)
{
    if (tool_join(tool, "add") != TOOL_OK)
        return TOOL_FAILED;
    int joined = covey_add_hosts(tool->vm, add->specs, add->count, add->results);
    if (joined < 0)
        return tool_failed(tool, "add", joined);
    return admit_report(tool, "add", add->specs, add->count, add->results);
}

static int add_command(struct tool *tool, int argc, char **argv)
{
    struct add add = {.specs = calloc((size_t)argc, sizeof *add.specs),
                      .results = calloc((size_t)argc, sizeof *add.results)};
    int status = add.specs && add.results ? read_add(&add, argc, argv)
                                          : tool_error("add", "memory is exhausted");
    if (status == TOOL_OK)
        status = complete_specs(&add);
    if (status == TOOL_OK)
        status = add_hosts(tool, &add);
    free(add.specs);
    free(add.results);
    return status;
}

const struct command cmd_add = {
    .name = "add",
    .run = add_command,
    .usage = "HOST... [--launcher LAUNCHER] [--template TEMPLATE] [--address ADDRESS] "
             "[--coveyd PATH] [--cwd DIR] [--speed N]",
    .help = "add hosts, all at once",
    .options = add_options,
};

/* ---- remove ------------------------------------------------------------------------------- */

static void report_removed(const char *name, const struct covey_host_result *result, int *status)
{
    const char *text = result->text[0] ? result->text : covey_strerror(result->error);
    if (result->error == 0)
        printf("%s removed\n", name);
    else
        *status = tool_error("remove", "%s: %s; see: covey hosts", name, text);
}

/* Removes n hosts of which none is the one this console is connected to. */
static int remove_others(struct tool *tool, const char *const *names, int n)
{
    struct covey_host_result *results = calloc((size_t)n, sizeof *results);
    if (!results)
        return tool_error("remove", "memory is exhausted");
    int status = TOOL_OK;
    int removed = covey_remove_hosts(tool->vm, names, n, results);
    if (removed < 0)
        status = tool_failed(tool, "remove", removed);
    for (int i = 0; removed >= 0 && i < n; i++)
        report_removed(names[i], &results[i], &status);
    free(results);
    return status;
}

/* The connection ends with that host's daemon, and no answer comes. */
static int remove_own(struct tool *tool, const char *name)
{
    struct covey_host_result result = {0};
    int status = TOOL_OK;
    int removed = covey_remove_hosts(tool->vm, &name, 1, &result);
    if (removed < 0 && removed != COVEY_EDAEMON)
        return tool_failed(tool, "remove", removed);
    if (removed < 0 || result.error == 0)
        tool_leave(tool);
    report_removed(name, &result, &status);
    return status;
}

static int remove_named(struct tool *tool, const char **names, int n)
{
    const char *own = NULL;
    int others = 0;
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], covey_myhost(tool->vm)) == 0)
            own = names[i];
        else
            names[others++] = names[i];
    }
    int status = others ? remove_others(tool, names, others) : TOOL_OK;
    if (own && tool->vm && remove_own(tool, own) != TOOL_OK)
        status = TOOL_FAILED;
    return status;
}

static int remove_command(struct tool *tool, int argc, char **argv)
{
    if (argc < 2)
        return tool_usage("remove", "no host is named");
    if (argv[1][0] == '-')
        return tool_usage("remove", "%s: unknown option", argv[1]);
    if (tool_join(tool, "remove") != TOOL_OK)
        return TOOL_FAILED;
    return remove_named(tool, (const char **)&argv[1], argc - 1);
}

const struct command cmd_remove = {
    .name = "remove",
    .run = remove_command,
    .usage = "HOST...",
    .help = "end the daemons of hosts and the tasks there",
    .operand = "HOST",
};
