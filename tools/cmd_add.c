/* covey add, covey remove: hosts join and leave a VM that runs. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/admit.h"
#include "tools/command.h"
#include "tools/hostspec.h"

static const struct args_option add_options[] = {HOSTSPEC_OPTIONS, {NULL, 0, NULL, NULL}};

/* ---- add ---------------------------------------------------------------------------------- */

/* Fills names (argc entries) and what they have in common; returns their number in *count. */
static int read_add(int argc, char **argv, struct covey_host_spec *common, const char **names,
                    int *count)
{
    char error[HOSTSPEC_ERROR_BYTES];
    struct args args;
    int key;
    args_init(&args, add_options, argc, argv);
    while ((key = args_next(&args)) != ARGS_END) {
        if (key == ARGS_BAD)
            return tool_usage("add", "%s", args.error);
        if (key == ARGS_OPERAND)
            names[(*count)++] = args.value;
        else if (!hostspec_set(common, key, args.value, error))
            return tool_usage("add", "%s", error);
    }
    if (*count == 0)
        return tool_usage("add", "no host is named");
    if (common->address && *count > 1)
        return tool_usage("add", "one --address cannot serve several hosts");
    return TOOL_OK;
}

static int add_named(struct tool *tool, const struct covey_host_spec *common,
                     const char *const *names, int count)
{
    char error[HOSTSPEC_ERROR_BYTES];
    struct covey_host_spec specs[count];
    struct covey_host_result results[count];
    for (int i = 0; i < count; i++) {
        specs[i] = *common;
        specs[i].name = names[i];
        if (!hostspec_check(&specs[i], error))
            return tool_usage("add", "%s", error);
    }
    if (tool_join(tool, "add") != TOOL_OK)
        return TOOL_FAILED;
    int joined = covey_add_hosts(tool->vm, specs, count, results);
    if (joined < 0)
        return tool_failed(tool, "add", joined);
    return admit_report(tool, "add", specs, count, results);
}

static int add_command(struct tool *tool, int argc, char **argv)
{
    struct covey_host_spec common = {0};
    const char *names[argc];
    int count = 0;
    int status = read_add(argc, argv, &common, names, &count);
    return status == TOOL_OK ? add_named(tool, &common, names, count) : status;
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

static int report_removed(int count, char *const *names, const struct covey_host_result *results)
{
    int status = TOOL_OK;
    for (int i = 0; i < count; i++) {
        const struct covey_host_result *result = &results[i];
        if (result->error == 0) {
            printf("%s removed\n", names[i]);
            continue;
        }
        status = tool_error("remove", "%s: %s; see: covey hosts", names[i],
                            result->text[0] ? result->text : covey_strerror(result->error));
    }
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
    struct covey_host_result results[argc];
    const char *const *names = (const char *const *)&argv[1];
    int removed = covey_remove_hosts(tool->vm, names, argc - 1, results);
    if (removed < 0)
        return tool_failed(tool, "remove", removed);
    return report_removed(argc - 1, &argv[1], results);
}

const struct command cmd_remove = {
    .name = "remove",
    .run = remove_command,
    .usage = "HOST...",
    .help = "end the daemons of hosts and the tasks there",
    .operand = "HOST",
};
