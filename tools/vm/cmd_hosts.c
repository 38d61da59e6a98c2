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

/* What is known of all hosts. */
struct look {
    struct covey_host *hosts, *again;
    struct covey_task *tasks;
    struct covey_host_stat *stats; /* of those in `again` */
    int n, m, stat_count;
};

/* What its daemon says of it; NULL: that is not known. */
static const struct covey_host_stat *stat_of(const struct look *look, const struct covey_host *host)
{
    for (int i = 0; i < look->stat_count; i++)
        if (look->again[i].index == host->index && look->stats[i].known)
            return &look->stats[i];
    return NULL;
}

/* Seconds until the host's time is over; negative: that is not known. */
static double host_ends_in(const struct look *look, const struct covey_host *host)
{
    const struct covey_host_stat *stat = stat_of(look, host);
    return stat ? stat->ends_in_s : -1;
}

/* Why tasks go there only by its name; NULL: they go there. */
static const char *host_withheld(const struct look *look, const struct covey_host *host)
{
    const struct covey_host_stat *stat = stat_of(look, host);
    return !stat || stat->withheld <= 0 ? NULL : stat->withheld < 2 ? "drained" : "withheld";
}

static bool any_ends(const struct look *look)
{
    for (int i = 0; i < look->stat_count; i++)
        if (look->stats[i].known && look->stats[i].ends_in_s >= 0)
            return true;
    return false;
}

static json_t *host_json(const struct look *look, const struct covey_host *host)
{
    int tasks = count_host_tasks(look->tasks, look->m, host);
    const char *withheld = host_withheld(look, host);
    return json_pack(
        "{s:o, s:i, s:o, s:o, s:s, s:i, s:o, s:i, s:b, s:I, s:I, s:o, s:s, s:o, s:s?}", "name",
        report_text(host->name), "index", (int)host->index, "id", report_text(host->id), "addr",
        report_text(host->address), "state", state_name(host->state), "cores", (int)host->cores,
        "tasks", tasks == TASKS_UNKNOWN ? json_null() : json_integer(tasks), "speed",
        (int)host->speed, "coordinator", (int)host->coordinator, "memory_bytes",
        (json_int_t)host->memory_bytes, "incarnation", (json_int_t)host->incarnation, "arch",
        report_text(host->arch), "byte_order", host->big_endian ? "big" : "little", "ends_in_s",
        report_not_negative(host_ends_in(look, host)), "withheld", withheld);
}

static int print_hosts_json(const struct look *look)
{
    json_t *array = json_array();
    for (int i = 0; i < look->n; i++)
        report_add(&array, host_json(look, &look->hosts[i]));
    return report_print("hosts", array);
}

static const char *ends_text(char text[32], double ends_in_s)
{
    long left = (long)ends_in_s;
    if (ends_in_s < 0)
        return "-";
    snprintf(text, 32, "%ld:%02ld:%02ld", left / 3600, left / 60 % 60, left % 60);
    return text;
}

/* When its time is over stands there where that is known of any. */
static int print_hosts_table(const struct look *look)
{
    static const char *const headings[] = {"NAME",   ">INDEX", "ADDRESS", "STATE",
                                           ">CORES", ">TASKS", ">SPEED",  ">MEMORY",
                                           "ARCH",   "ROLE",   NULL};
    static const char *const with_ends[] = {"NAME",   ">INDEX", "ADDRESS",  "STATE",
                                            ">CORES", ">TASKS", ">SPEED",   ">MEMORY",
                                            "ARCH",   "ROLE",   ">ENDS IN", NULL};
    bool ends = any_ends(look);
    struct table *table = table_create(ends ? with_ends : headings);
    for (int i = 0; i < look->n; i++) {
        const struct covey_host *host = &look->hosts[i];
        int tasks = count_host_tasks(look->tasks, look->m, host);
        char text[32];
        const char *withheld = host_withheld(look, host);
        const char *cells[] = {host->name,
                               CELL("%d", (int)host->index),
                               host->address,
                               state_name(host->state),
                               CELL("%d", (int)host->cores),
                               CELL(tasks == TASKS_UNKNOWN ? "-" : "%d", tasks),
                               CELL("%d", (int)host->speed),
                               CELL("%" PRIu64 " MiB", host->memory_bytes >> 20),
                               host->arch,
                               CELL("%s%s%s", host->coordinator ? "coordinator" : "",
                                    host->coordinator && withheld ? ", " : "",
                                    withheld ? withheld : ""),
                               ends_text(text, host_ends_in(look, host))};
        table_add(table, cells);
    }
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

/* The others answer a second time at once. */
static int64_t patience_us(const struct look *look)
{
    for (int i = 0; i < look->n; i++) {
        if (look->hosts[i].state == COVEY_HOST_SUSPECT)
            return 100000;
    }
    return LISTING_PATIENCE_US;
}

static int print_hosts(struct tool *tool, bool json)
{
    struct look look = {.n = 0};
    look.n = covey_survey(tool->vm, LISTING_PATIENCE_US, &look.hosts, &look.tasks, &look.m);
    if (look.n < 0)
        return tool_failed(tool, "hosts", look.n);
    look.stat_count = covey_host_stats(tool->vm, patience_us(&look), &look.again, &look.stats);
    int status = (json ? print_hosts_json : print_hosts_table)(&look);
    covey_free(look.tasks);
    covey_free(look.hosts);
    covey_free(look.again);
    covey_free(look.stats);
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
