/* covey stats: the counters of all daemons. */
#include <inttypes.h>
#include <stdio.h>

#include "tools/base/command.h"
#include "tools/list/listing.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

static int print_stats_json(const struct covey_host *hosts, int n, const struct covey_stat *stats,
                            int m)
{
    json_t *array = json_array();
    for (int i = 0; i < m; i++) {
        json_t *object = json_pack("{s:o, s:o, s:I}", "host",
                                   report_text(listing_host_name(hosts, n, stats[i].host)), "name",
                                   report_text(stats[i].name), "value", (json_int_t)stats[i].value);
        report_add(&array, object);
    }
    return report_print("stats", array);
}

static int print_stats_table(const struct covey_host *hosts, int n, const struct covey_stat *stats,
                             int m)
{
    static const char *const headings[] = {"HOST", "NAME", ">VALUE", NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < m; i++) {
        TABLE_ROW(table, listing_host_name(hosts, n, stats[i].host), stats[i].name,
                  CELL("%" PRIu64, stats[i].value));
    }
    return report_table("stats", table);
}

static int stats_command(struct tool *tool, int argc, char **argv)
{
    struct covey_host *hosts = NULL;
    struct covey_stat *stats;
    bool json;
    int status = listing_join(tool, argc, argv, &json);
    if (status != TOOL_OK)
        return status;
    int m = covey_stats(tool->vm, 0, &stats);
    if (m < 0)
        return tool_failed(tool, "stats", m);
    int n = covey_hosts(tool->vm, &hosts);
    if (n < 0)
        status = tool_failed(tool, "stats", n);
    else
        status = (json ? print_stats_json : print_stats_table)(hosts, n, stats, m);
    covey_free(hosts);
    covey_free(stats);
    return status;
}

const struct command cmd_stats = {
    .name = "stats",
    .run = stats_command,
    .usage = "[--json]",
    .help = "print the counters of all daemons",
    .options = listing_options,
};
