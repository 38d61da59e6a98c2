/* covey add, covey remove: hosts join and leave a VM that runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/vm/admit.h"
#include "tools/vm/batch.h"
#include "tools/vm/hostfile.h"
#include "tools/vm/hostspec.h"

static const struct args_option add_options[] = {
    {"hosts", 'f', "FILE", "take the hosts, or what is to be known of HOST..., from a host file"},
    HOSTSPEC_OPTIONS,
    {NULL, 0, NULL, NULL}};

/* ---- add ---------------------------------------------------------------------------------- */

struct add {
    struct hostspec common; /* what the command line says of all */
    const char *path;       /* of the host file, or NULL */
    struct hostfile file;
    struct batch batch; /* of whose job hosts may be */
    const char **names;
    int name_count;
    struct covey_host_spec *specs;
    struct covey_host_result *results;
    int count;
};

static int take_add_argument(void *context, int key, const char *value)
{
    char error[HOSTSPEC_ERROR_BYTES];
    struct add *add = context;
    return hostspec_set(&add->common, key, value, error) ? TOOL_OK : tool_usage("add", "%s", error);
}

static int read_add_arguments(struct add *add, int argc, char **argv)
{
    const struct arguments_place places[] = {
        {'f', .text = &add->path},
        {ARGS_OPERAND, .text = add->names, .count = &add->name_count},
        {0}};
    const struct covey_host_spec *common = &add->common.spec;
    int status = arguments_read(&(struct arguments){add_options, places, take_add_argument, add},
                                argc, argv);
    if (status != TOOL_OK)
        return status;
    if (add->name_count == 0 && !add->path)
        return tool_usage("add", "no host is named");
    if (add->name_count > 1 && (common->address || common->bind || common->hostname))
        return tool_usage("add", "one --address, --bind or --hostname cannot serve several hosts");
    return TOOL_OK;
}

/* The hosts of the command line, with what the file says of them. */
static int take_names(struct add *add)
{
    char error[HOSTSPEC_ERROR_BYTES];
    for (int i = 0; i < add->name_count; i++) {
        const struct hostfile_host *known = hostfile_find(&add->file, add->names[i]);
        if (add->path && !known)
            return tool_error("add", "%s lists no host %s", add->path, add->names[i]);
        add->common.spec.name = add->names[i];
        const struct hostspec *host = known ? &known->host : &add->common;
        if (!hostspec_check(host, error))
            return tool_usage("add", "%s", error);
        struct covey_host_spec spec = hostspec_done(host);
        batch_reach(&add->batch, &spec);
        add->specs[add->count++] = spec;
    }
    return TOOL_OK;
}

/* All hosts of the file but those that are for later. */
static int take_file(struct add *add)
{
    for (int i = 0; i < add->file.count; i++) {
        if (!add->file.hosts[i].later)
            add->specs[add->count++] = hostspec_done(&add->file.hosts[i].host);
    }
    return add->count ? TOOL_OK : tool_error("add", "%s lists no host", add->path);
}

static int collect_hosts(struct add *add)
{
    if (add->path && hostfile_load(&add->file, add->path) < 0)
        return tool_error("add", "%s", add->file.error);
    size_t room = (size_t)add->name_count + (size_t)add->file.count + 1;
    add->specs = calloc(room, sizeof *add->specs);
    add->results = calloc(room, sizeof *add->results);
    if (!add->specs || !add->results)
        return tool_error("add", "memory is exhausted");
    batch_find(&add->batch, false); /* a list that is bad is not asked for here */
    return add->name_count ? take_names(add) : take_file(add);
}

static int add_hosts(struct tool *tool, struct add *add)
{
    if (tool_join(tool, "add") != TOOL_OK)
        return TOOL_FAILED;
    int joined = covey_add_hosts(tool->vm, add->specs, add->count, add->results);
    if (joined < 0)
        return tool_failed(tool, "add", joined);
    return admit_report(tool, "add", add->specs, add->count, add->results, false);
}

static int add_command(struct tool *tool, int argc, char **argv)
{
    struct add add = {.names = calloc((size_t)argc, sizeof *add.names)};
    int status =
        add.names ? read_add_arguments(&add, argc, argv) : tool_error("add", "memory is exhausted");
    if (status == TOOL_OK)
        status = collect_hosts(&add);
    if (status == TOOL_OK)
        status = add_hosts(tool, &add);
    batch_free(&add.batch);
    hostfile_free(&add.file);
    free(add.names);
    free(add.specs);
    free(add.results);
    return status;
}

const struct command cmd_add = {
    .name = "add",
    .run = add_command,
    .usage = "HOST... | --hosts FILE [HOST...]  " HOSTSPEC_USAGE,
    .help = "add hosts, all at once",
    .options = add_options,
};

/* ---- remove ------------------------------------------------------------------------------- */

static void report_removed(const char *name, const struct covey_host_result *result, int *status)
{
    const char *text = result->text[0] ? result->text : covey_strerror(result->error);
    if (result->error == 0)
        printf("%s removed%s%s\n", name, result->text[0] ? ": " : "", result->text);
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
    .help = "end the daemons of hosts and the tasks there; forget hosts that are down",
    .operand = "HOST",
};
