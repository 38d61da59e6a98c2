/* covey drain: the time of hosts is over soon. Their tasks are told, bags give them nothing that
 * would not end by then; nothing is ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"

#define IN_MAX (366L * 86400)
#define KEY_UNDO 2000
#define KEY_ALL 2001

static const struct args_option options[] = {{"in", 'i', "S", "in so many seconds (0: now)"},
                                             {"undo", KEY_UNDO, NULL, "it goes on after all"},
                                             {"all", KEY_ALL, NULL, "all hosts of the VM"},
                                             {NULL, 0, NULL, NULL}};

static const struct covey_host *find(const struct covey_host *hosts, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (hosts[i].state != COVEY_HOST_DOWN && strcmp(hosts[i].name, name) == 0)
            return &hosts[i];
    return NULL;
}

static int drain_host(struct tool *tool, const struct covey_host *host, long in_s)
{
    int error = covey_host_drain(tool->vm, host->index, in_s < 0 ? -1 : in_s * 1000000);
    if (error < 0)
        return tool_failed(tool, host->name, error);
    if (in_s < 0)
        printf("%s goes on\n", host->name);
    else
        printf("%s: its time is over in %ld s\n", host->name, in_s);
    return TOOL_OK;
}

/* One that dies meanwhile does not hold back the others. */
static int drain_all(struct tool *tool, long in_s)
{
    struct covey_host *hosts;
    int n = covey_hosts(tool->vm, &hosts), status = TOOL_OK;
    if (n < 0)
        return tool_failed(tool, "drain", n);
    for (int i = 0; i < n; i++)
        if (hosts[i].state != COVEY_HOST_DOWN && drain_host(tool, &hosts[i], in_s) != TOOL_OK)
            status = TOOL_FAILED;
    covey_free(hosts);
    return status;
}

/* All must be there before any of them is drained. */
static int drain_named(struct tool *tool, const char **names, int count, long in_s)
{
    struct covey_host *hosts;
    int n = covey_hosts(tool->vm, &hosts), status = TOOL_OK;
    if (n < 0)
        return tool_failed(tool, "drain", n);
    for (int i = 0; i < count && status == TOOL_OK; i++)
        if (!find(hosts, n, names[i]))
            status = tool_error("drain", "there is no host %s; covey hosts lists them", names[i]);
    for (int i = 0; i < count && status == TOOL_OK; i++)
        status = drain_host(tool, find(hosts, n, names[i]), in_s);
    covey_free(hosts);
    return status;
}

static int drain_command(struct tool *tool, int argc, char **argv)
{
    const char *in = NULL, **names = calloc((size_t)argc, sizeof *names);
    bool undo = false, all = false;
    int count = 0;
    long in_s = 0;
    const struct arguments_place places[] = {{'i', .text = &in},
                                             {KEY_UNDO, .flag = &undo},
                                             {KEY_ALL, .flag = &all},
                                             {ARGS_OPERAND, .text = names, .count = &count},
                                             {0}};
    if (!names)
        return tool_error("drain", "memory is exhausted");
    int status = arguments_read(&(struct arguments){options, places, NULL, NULL}, argc, argv);
    if (status == TOOL_OK && count == 0 && !all)
        status = tool_usage("drain", "no host is named; --all means all");
    else if (status == TOOL_OK && count > 0 && all)
        status = tool_usage("drain", "--all goes not with the name of a host");
    else if (status == TOOL_OK && undo && in)
        status = tool_usage("drain", "--undo does not go with --in");
    else if (status == TOOL_OK && in && !args_number(in, 0, IN_MAX, &in_s))
        status = tool_usage("drain", "--in: %s is no number of seconds", in);
    if (status == TOOL_OK)
        status = tool_join(tool, "drain");
    if (status == TOOL_OK)
        status = all ? drain_all(tool, undo ? -1 : in_s)
                     : drain_named(tool, names, count, undo ? -1 : in_s);
    free(names);
    return status;
}

const struct command cmd_drain = {
    .name = "drain",
    .run = drain_command,
    .usage = "HOST... | --all [--in S | --undo]",
    .help = "say that the time of hosts is over soon: they get no more work than they can end",
    .options = options,
    .operand = "HOST",
};
