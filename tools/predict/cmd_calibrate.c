/*
 * covey calibrate - measures what the models need of the VM and keeps it for covey predict and the
 * demos.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/predict/calibrate.h"
#include "tools/predict/predict_solvers.h"
#include "tools/vm/hostspec.h"

static const struct args_option options[] = {
    {"host", 'H', "HOST,...", "measure these hosts (all that are up)"},
    {"route", 'r', "ROUTE", "measure this route besides shm: udp, tcp or ether (all)"},
    {"json", 'j', NULL, "print JSON, for scripts"},
    {NULL, 0, NULL, NULL}};

const char *calibrate_host(const struct calibrate *c, int at)
{
    return c->names[at];
}

/* ---- Which hosts ----------------------------------------------------------------------------- */

static int take_names(struct calibrate *c, const char *list)
{
    c->name_count = hostspec_names(list, COVEY_MODEL_HOSTS_MAX, &c->host_text, c->names);
    if (c->name_count >= 0)
        return TOOL_OK;
    return c->host_text
               ? tool_usage("calibrate", "--host %s: must be at most %d names with commas between",
                            list, COVEY_MODEL_HOSTS_MAX)
               : tool_error("calibrate", "memory is exhausted");
}

static bool is_host_wanted(const struct calibrate *c, const char *name)
{
    for (int i = 0; i < c->name_count; i++) {
        if (strcmp(c->names[i], name) == 0)
            return true;
    }
    return c->host_text == NULL;
}

static int check_names(const struct calibrate *c, const struct covey_host *hosts, int n)
{
    for (int i = 0; i < c->name_count; i++) {
        int at = 0;
        while (at < n && strcmp(hosts[at].name, c->names[i]) != 0)
            at++;
        if (at == n || hosts[at].state != COVEY_HOST_UP)
            return tool_error("calibrate", "host %s is not %s; see: covey hosts", c->names[i],
                              at == n ? "in the virtual machine" : "up");
    }
    return TOOL_OK;
}

static int choose_hosts(struct calibrate *c)
{
    struct covey_host *hosts;
    int n = covey_hosts(c->tool->vm, &hosts);
    if (n < 0)
        return tool_failed(c->tool, "calibrate", n);
    int status = check_names(c, hosts, n);
    if (status == TOOL_OK) {
        /* In the order of the VM; the names then are those of the calibration. */
        const struct covey_host *first = NULL;
        c->one_machine = true;
        for (int i = 0; i < n && c->result->host_count < COVEY_MODEL_HOSTS_MAX; i++) {
            if (hosts[i].state != COVEY_HOST_UP || !is_host_wanted(c, hosts[i].name))
                continue;
            first = first ? first : &hosts[i];
            /* Without the port. */
            const char *a = first->address, *a_end = strrchr(a, ':');
            const char *b = hosts[i].address, *b_end = strrchr(b, ':');
            c->one_machine &=
                a_end && b_end && a_end - a == b_end - b && memcmp(a, b, (size_t)(a_end - a)) == 0;
            struct covey_calibration_host *to = &c->result->hosts[c->result->host_count++];
            memcpy(to->name, hosts[i].name, sizeof to->name);
            to->name[sizeof to->name - 1] = '\0';
            to->cores = hosts[i].cores > 0 ? hosts[i].cores : 1;
            to->order = hosts[i].big_endian ? COVEY_ORDER_BIG : COVEY_ORDER_LITTLE;
        }
        c->name_count = c->result->host_count;
        for (int i = 0; i < c->name_count; i++)
            c->names[i] = c->result->hosts[i].name;
    }
    covey_free(hosts);
    if (status == TOOL_OK && c->name_count == 0)
        status = tool_error("calibrate", "no host is up; see: covey hosts");
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int take_calibrate_argument(void *context, int key, const char *value)
{
    struct calibrate *c = context;
    if (key == ARGS_OPERAND)
        return tool_usage("calibrate", "%s: there are no operands", value);
    if (key == 'H')
        return take_names(c, value);
    c->route = covey_route_parse(value);
    return c->route != COVEY_ROUTE_AUTO && covey_route_reach(c->route) & COVEY_REACH_OUTSIDE
               ? TOOL_OK
               : tool_usage("calibrate", "--route %s: must be udp, tcp or ether", value);
}

static int save(struct calibrate *c)
{
    char path[4096];
    time_t now = time(NULL);
    struct tm broken;
    gmtime_r(&now, &broken);
    strftime(c->result->date, sizeof c->result->date, "%Y-%m-%dT%H:%M:%SZ", &broken);
    snprintf(c->result->vm, sizeof c->result->vm, "%s", covey_vm_name(c->tool->vm));
    if (covey_calibration_path(c->result->vm, path, sizeof path) < 0 ||
        covey_calibration_save(c->result->vm, c->result) < 0)
        return tool_error("calibrate", "%s", covey_error_text());
    return (c->json ? calibrate_print_json : calibrate_print)(c->result, path);
}

static int calibrate_vm(struct calibrate *c, int argc, char **argv)
{
    const struct arguments_place places[] = {{'j', .flag = &c->json}, {0}};
    int status = arguments_read(&(struct arguments){options, places, take_calibrate_argument, c},
                                argc, argv);
    if (status == TOOL_OK)
        status = tool_join(c->tool, "calibrate");
    if (status == TOOL_OK)
        status = choose_hosts(c);
    if (status == TOOL_OK)
        status = calibrate_speeds(c);
    if (status == TOOL_OK)
        status = calibrate_routes(c);
    if (status == TOOL_OK)
        status = calibrate_speeds_again(c);
    if (status != TOOL_OK)
        return status;
    /* The solvers' figures are in a file of their own: what became of them costs none of these. */
    int solvers = calibrate_solvers();
    status = save(c);
    return status == TOOL_OK ? solvers : status;
}

static int calibrate_command(struct tool *tool, int argc, char **argv)
{
    struct calibrate c = {.tool = tool};
    int status = TOOL_FAILED;
    c.result = calloc(1, sizeof *c.result);
    c.names = calloc(COVEY_MODEL_HOSTS_MAX, sizeof *c.names);
    if (c.result && c.names)
        status = calibrate_vm(&c, argc, argv);
    else
        tool_error("calibrate", "memory is exhausted");
    free(c.result);
    free(c.names);
    free(c.host_text);
    return status;
}

const struct command cmd_calibrate = {
    .name = "calibrate",
    .run = calibrate_command,
    .usage = "[--host HOST,...] [--route ROUTE] [--json]",
    .help = "measure what covey predict and the demos need to know",
    .options = options,
};
