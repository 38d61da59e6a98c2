/* covey doctor: which hosts are to be examined, and the answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/doctor/doctor.h"
#include "tools/vm/hostfile.h"

static const struct args_option options[] = {
    {"hosts", 'f', "FILE", "examine this machine and the hosts of a host file"},
    {"ignore", 'i', "CODE,...", "findings that do not count"},
    {"json", 'j', NULL, "as JSON"},
    {NULL, 0, NULL, NULL}};

struct visit {
    const char *path; /* of a host file, or NULL */
    bool json;
    struct hostfile file;
    char own[64];
    struct covey_host *members; /* of the VM that runs */
    struct doctor_host *hosts;
    int count;
    struct findings findings;
};

static int refuse_operand(void *context, int key, const char *value)
{
    (void)context, (void)key;
    return tool_usage("doctor", "%s: takes no operand", value);
}

static int read_doctor_arguments(struct visit *visit, int argc, char **argv)
{
    const struct arguments_place places[] = {{'f', .text = &visit->path},
                                             {'i', .text = &visit->findings.ignore},
                                             {'j', .flag = &visit->json},
                                             {0}};
    return arguments_read(&(struct arguments){options, places, refuse_operand, NULL}, argc, argv);
}

/* ---- Which hosts -------------------------------------------------------------------------- */

static bool make_hosts(struct visit *visit, int n)
{
    visit->hosts = calloc((size_t)n + 1, sizeof *visit->hosts);
    return visit->hosts;
}

static struct doctor_host *take_host(struct visit *visit, const struct covey_host_spec *spec,
                                     enum doctor_way way)
{
    struct doctor_host *host = &visit->hosts[visit->count++];
    *host = (struct doctor_host){.spec = *spec, .way = way};
    return host;
}

static int take_members(struct visit *visit, struct tool *tool)
{
    int n = covey_hosts(tool->vm, &visit->members);
    if (n < 0)
        return tool_failed(tool, "doctor", n);
    if (!make_hosts(visit, n))
        return tool_error("doctor", "memory is exhausted");
    for (int i = 0; i < n; i++) {
        const struct covey_host *member = &visit->members[i];
        struct covey_host_spec spec = {.name = member->name};
        if (member->state == COVEY_HOST_UP)
            take_host(visit, &spec, DOCTOR_TASK)->local = strncmp(member->address, "127.", 4) == 0;
        else
            findings_add(&visit->findings, "host-state", member->name,
                         "see the log of its daemon; add the host again when it is well",
                         "the VM holds it for %s",
                         member->state == COVEY_HOST_SUSPECT ? "suspect" : "down");
    }
    return TOOL_OK;
}

static int take_hosts(struct visit *visit, struct tool *tool)
{
    hostspec_own_name(visit->own, sizeof visit->own);
    if (!visit->path && tool_try_join(tool) == 0)
        return take_members(visit, tool);
    if (visit->path && hostfile_load(&visit->file, visit->path) < 0)
        return tool_error("doctor", "%s", visit->file.error);
    if (!make_hosts(visit, visit->file.count + 1))
        return tool_error("doctor", "memory is exhausted");
    struct covey_host_spec own = {.name = visit->own};
    const struct hostfile_host *line = hostfile_find(&visit->file, visit->own);
    if (line)
        own = hostspec_done(&line->host);
    take_host(visit, &own, DOCTOR_HERE);
    for (int i = 0; i < visit->file.count; i++) {
        struct covey_host_spec spec = hostspec_done(&visit->file.hosts[i].host);
        if (strcmp(spec.name, visit->own) != 0)
            take_host(visit, &spec, DOCTOR_LAUNCH);
    }
    return TOOL_OK;
}

/* ---- The command -------------------------------------------------------------------------- */

static int doctor_command(struct tool *tool, int argc, char **argv)
{
    struct visit visit = {0};
    int status = read_doctor_arguments(&visit, argc, argv);
    if (status == TOOL_OK)
        status = take_hosts(&visit, tool);
    if (status == TOOL_OK)
        status = doctor_examine(tool, visit.hosts, visit.count, &visit.findings);
    if (status == TOOL_OK)
        status = findings_print(&visit.findings, visit.json, visit.count);
    findings_free(&visit.findings);
    free(visit.hosts);
    if (visit.members)
        covey_free(visit.members);
    hostfile_free(&visit.file);
    return status;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .run = doctor_command,
    .usage = "[--hosts FILE] [--ignore CODE,...] [--json]",
    .help = "find what keeps a VM from working, and say what to do",
    .options = options,
};
