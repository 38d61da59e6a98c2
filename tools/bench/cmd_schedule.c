/* covey schedule: when each message of an all-to-all goes on the network of a topology file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"

#define TASKS_MAX 2048

static const struct args_option options[] = {
    {"emit", 'e', "FORM", "text, covey (C for covey.h) or mpi (C that replaces MPI_Alltoall)"},
    {"tasks", 'n', "N", "N tasks on each host (default: 1)"},
    {"check", 'c', NULL, "prove the schedule and print only its last line"},
    {NULL, 0, NULL, NULL}};

struct request {
    const char *path;
    int form;
    long tasks; /* on each host */
    bool check;
};

static int take_schedule_argument(void *context, int key, const char *value)
{
    static const char *const names[] = {"text", "covey", "mpi", NULL};
    struct request *request = context;
    if (key == 'e') {
        request->form = COVEY_SCHEDULE_TEXT + args_choice(names, value);
        return request->form >= COVEY_SCHEDULE_TEXT
                   ? TOOL_OK
                   : tool_usage("schedule", "--emit %s: text, covey or mpi", value);
    }
    if (key == 'n')
        return args_number(value, 1, TASKS_MAX, &request->tasks)
                   ? TOOL_OK
                   : tool_usage("schedule", "--tasks %s: a number from 1 to %d", value, TASKS_MAX);
    if (request->path)
        return tool_usage("schedule", "one topology, not %s too", value);
    request->path = value;
    return TOOL_OK;
}

static int fail_schedule(void)
{
    return tool_error("schedule", "%s", covey_error_text());
}

/* Ranks 0 .. tasks - 1 run on the first host, and so on. */
static int make_schedule(const struct request *request, const covey_topology_t *topology,
                         covey_schedule_t **schedule)
{
    struct covey_topology_node *nodes;
    int count = covey_topology_nodes(topology, &nodes), ranks = 0;
    if (count < 0)
        return fail_schedule();
    int32_t *hosts = calloc((size_t)count * (size_t)request->tasks, sizeof *hosts);
    for (int i = 0; hosts && i < count; i++) {
        for (long k = 0; !nodes[i].is_switch && k < request->tasks; k++)
            hosts[ranks++] = i;
    }
    covey_free(nodes);
    if (!hosts)
        return tool_error("schedule", "memory is exhausted");
    int error = covey_schedule_create(topology, hosts, ranks, schedule);
    free(hosts);
    return error < 0 ? fail_schedule() : TOOL_OK;
}

static int print_schedule(const struct request *request, const covey_schedule_t *schedule)
{
    char *text;
    int error = request->check ? covey_schedule_check(schedule)
                               : covey_schedule_print(schedule, request->form, &text);
    if (error < 0)
        return fail_schedule();
    if (request->check) {
        /* Also what the text form ends with. */
        struct covey_schedule_info info;
        covey_schedule_info(schedule, &info);
        printf("# hosts=%" PRId32 " messages=%" PRIu64 " phases=%" PRIu32 " bound=%" PRIu32
               " syncs=%" PRIu64 "\n",
               info.ranks, info.messages, info.phases, info.bound, info.syncs);
    } else {
        fputs(text, stdout);
        covey_free(text);
    }
    return TOOL_OK;
}

static int schedule_command(struct tool *tool, int argc, char **argv)
{
    struct request request = {.form = COVEY_SCHEDULE_TEXT, .tasks = 1};
    const struct arguments_place places[] = {{'c', .flag = &request.check}, {0}};
    int status = arguments_read(
        &(struct arguments){options, places, take_schedule_argument, &request}, argc, argv);
    if (status == TOOL_OK && !request.path)
        status = tool_usage("schedule", "no topology is named");
    covey_topology_t *topology = NULL;
    covey_schedule_t *schedule = NULL;
    (void)tool;
    if (status != TOOL_OK)
        return status;
    if (covey_topology_load(request.path, &topology) < 0)
        status = fail_schedule();
    if (status == TOOL_OK)
        status = make_schedule(&request, topology, &schedule);
    if (status == TOOL_OK)
        status = print_schedule(&request, schedule);
    covey_schedule_free(&schedule);
    covey_topology_free(&topology);
    return status;
}

const struct command cmd_schedule = {
    .name = "schedule",
    .run = schedule_command,
    .usage = "[--emit text|covey|mpi] [--tasks N] [--check] TOPOLOGY",
    .help = "schedule an all-to-all on a network of switches",
    .options = options,
    .operand = "FILE",
};
