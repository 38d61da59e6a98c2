/* covey hosts: the hosts of the VM. A host that does not answer is not waited for: it is shown as
 * suspect, and what runs on it is not known. With --peers, what covey calibrate measured between
 * each two of them. */
#include <inttypes.h>
#include <stdio.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/list/listing.h"
#include "tools/list/report.h"
#include "tools/list/table.h"
#include "tools/vm/peers.h"

#define TASKS_UNKNOWN (-1)

static const char *state_name(int state)
{
    switch (state) {
    case COVEY_HOST_JOINING:
        return "joining";
    case COVEY_HOST_UP:
        return "up";
    case COVEY_HOST_SUSPECT:
        return "suspect";
    case COVEY_HOST_DOWN:
        return "down";
    default:
        return "unknown";
    }
}

static int count_host_tasks(const struct covey_task *tasks, int count,
                            const struct covey_host *host)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += tasks[i].host == host->index;
    return found == 0 && host->state == COVEY_HOST_SUSPECT ? TASKS_UNKNOWN : found;
}

static json_t *host_json(const struct covey_host *host, int tasks)
{
    return json_pack(
        "{s:o, s:i, s:o, s:o, s:s, s:i, s:o, s:i, s:b, s:I, s:I, s:o, s:s}", "name",
        report_text(host->name), "index", (int)host->index, "id", report_text(host->id), "addr",
        report_text(host->address), "state", state_name(host->state), "cores", (int)host->cores,
        "tasks", tasks == TASKS_UNKNOWN ? json_null() : json_integer(tasks), "speed",
        (int)host->speed, "coordinator", (int)host->coordinator, "memory_bytes",
        (json_int_t)host->memory_bytes, "incarnation", (json_int_t)host->incarnation, "arch",
        report_text(host->arch), "byte_order", host->big_endian ? "big" : "little");
}

static int print_hosts_json(const struct covey_host *hosts, int n, const struct covey_task *tasks,
                            int m)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        report_add(&array, host_json(&hosts[i], count_host_tasks(tasks, m, &hosts[i])));
    return report_print("hosts", array);
}

static void add_host_row(struct table *table, const struct covey_host *host, int tasks)
{
    TABLE_ROW(table, host->name, CELL("%d", (int)host->index), host->address,
              state_name(host->state), CELL("%d", (int)host->cores),
              CELL(tasks == TASKS_UNKNOWN ? "-" : "%d", tasks), CELL("%d", (int)host->speed),
              CELL("%" PRIu64 " MiB", host->memory_bytes >> 20), host->arch,
              host->coordinator ? "coordinator" : "");
}

static int print_hosts_table(const struct covey_host *hosts, int n, const struct covey_task *tasks,
                             int m)
{
    static const char *const headings[] = {"NAME",   ">INDEX", "ADDRESS", "STATE",
                                           ">CORES", ">TASKS", ">SPEED",  ">MEMORY",
                                           "ARCH",   "ROLE",   NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < n; i++)
        add_host_row(table, &hosts[i], count_host_tasks(tasks, m, &hosts[i]));
    return report_table("hosts", table);
}

/* ---- Between two of them --------------------------------------------------------------------- */

static int print_peers(const struct tool *tool, bool json)
{
    struct covey_calibration *calibration = NULL;
    if (covey_calibration_load(tool->vm_name, &calibration) < 0)
        return tool_error("hosts", "%s", covey_error_text());
    int status = json ? report_print("hosts", peers_json(calibration)) : peers_print(calibration);
    if (calibration->peer_count == 0)
        status = tool_error("hosts", "the calibration has no two hosts; run: covey calibrate");
    else if (!json && status == TOOL_OK)
        printf("Measured %s; covey calibrate does it again.\n", calibration->date);
    covey_free(calibration);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct args_option options[] = {
    {"peers", 'p', NULL, "alpha and beta between each two, as covey calibrate measured them"},
    {"json", 'j', NULL, "print JSON, for scripts"},
    {NULL, 0, NULL, NULL}};

static int print_hosts(struct tool *tool, bool json)
{
    struct covey_host *hosts;
    struct covey_task *tasks;
    int m, n = covey_survey(tool->vm, LISTING_PATIENCE_US, &hosts, &tasks, &m);
    if (n < 0)
        return tool_failed(tool, "hosts", n);
    int status = (json ? print_hosts_json : print_hosts_table)(hosts, n, tasks, m);
    covey_free(tasks);
    covey_free(hosts);
    return status;
}

static int hosts_command(struct tool *tool, int argc, char **argv)
{
    bool peers = false, json = false;
    const struct arguments_place places[] = {{'p', .flag = &peers}, {'j', .flag = &json}, {0}};
    int status = arguments_read(&(struct arguments){options, places, NULL, NULL}, argc, argv);
    if (status == TOOL_OK && peers)
        return print_peers(tool, json);
    if (status == TOOL_OK)
        status = tool_join(tool, "hosts");
    return status == TOOL_OK ? print_hosts(tool, json) : status;
}

const struct command cmd_hosts = {
    .name = "hosts",
    .run = hosts_command,
    .usage = "[--peers] [--json]",
    .help = "list the hosts of the virtual machine",
    .options = options,
};
