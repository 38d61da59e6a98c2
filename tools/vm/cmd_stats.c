/*
 * covey stats: the counters of all daemons, or of those of some hosts, each with what it counts. In
 * the table those that are zero are left out, unless all are wanted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/list/listing.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

#define HOSTS_MAX 64

struct stats {
    bool json, all;
    const char *names[HOSTS_MAX]; /* of hosts; none: all */
    int count;
    struct covey_host *hosts;
    int host_count;
    struct covey_stat *list;
    int list_count;
};

static const struct args_option options[] = {{"json", 'j', NULL, "print JSON, for scripts"},
                                             {"all", 'a', NULL, "zeros as well"},
                                             {NULL, 0, NULL, NULL}};

static bool is_wanted(const struct stats *s, int host)
{
    for (int i = 0; i < s->count; i++) {
        if (strcmp(listing_host_name(s->hosts, s->host_count, host), s->names[i]) == 0)
            return true;
    }
    return s->count == 0;
}

static int print_stats_json(const struct stats *s)
{
    json_t *array = json_array();
    for (int i = 0; i < s->list_count; i++) {
        const struct covey_stat *stat = &s->list[i];
        if (!is_wanted(s, stat->host))
            continue;
        json_t *object =
            json_pack("{s:o, s:o, s:I, s:s?}", "host",
                      report_text(listing_host_name(s->hosts, s->host_count, stat->host)), "name",
                      report_text(stat->name), "value", (json_int_t)stat->value, "help",
                      covey_stat_help(stat->name));
        report_add(&array, object);
    }
    return report_print("stats", array);
}

static int print_stats_table(const struct stats *s)
{
    static const char *const headings[] = {"HOST", "NAME", ">VALUE", "WHAT", NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < s->list_count; i++) {
        const struct covey_stat *stat = &s->list[i];
        const char *help = covey_stat_help(stat->name);
        if (is_wanted(s, stat->host) && (s->all || stat->value != 0))
            TABLE_ROW(table, listing_host_name(s->hosts, s->host_count, stat->host), stat->name,
                      CELL("%" PRIu64, stat->value), help ? help : "");
    }
    return report_table("stats", table);
}

/* The index of the one host that is asked for; 0: several are, or all. < 0: there is no such host,
 * which was said. */
static int find_hosts(const struct stats *s)
{
    int index = 0;
    for (int i = 0; i < s->count; i++) {
        index = -1;
        for (int h = 0; h < s->host_count && index < 0; h++) {
            if (strcmp(s->hosts[h].name, s->names[i]) == 0)
                index = s->hosts[h].index;
        }
        if (index < 0)
            return -tool_error("stats", "no host '%s' is in this VM; see: covey hosts",
                               s->names[i]);
    }
    return s->count == 1 ? index : 0;
}

static int take_host(void *context, int key, const char *value)
{
    struct stats *s = context;
    (void)key;
    if (s->count == HOSTS_MAX)
        return tool_usage("stats", "%s: more than %d hosts", value, HOSTS_MAX);
    s->names[s->count++] = value;
    return TOOL_OK;
}

static int print_stats(struct tool *tool, struct stats *s)
{
    s->host_count = covey_hosts(tool->vm, &s->hosts);
    if (s->host_count < 0)
        return tool_failed(tool, "stats", s->host_count);
    int host = find_hosts(s);
    if (host < 0)
        return TOOL_FAILED;
    s->list_count = covey_stats(tool->vm, host, &s->list);
    if (s->list_count < 0)
        return tool_failed(tool, "stats", s->list_count);
    return (s->json ? print_stats_json : print_stats_table)(s);
}

static int stats_command(struct tool *tool, int argc, char **argv)
{
    struct stats s = {.json = false};
    const struct arguments_place places[] = {{'j', .flag = &s.json}, {'a', .flag = &s.all}, {0}};
    int status = arguments_read(&(struct arguments){options, places, take_host, &s}, argc, argv);
    if (status == TOOL_OK)
        status = tool_join(tool, "stats");
    if (status != TOOL_OK)
        return status;
    status = print_stats(tool, &s);
    covey_free(s.hosts);
    covey_free(s.list);
    return status;
}

const struct command cmd_stats = {
    .name = "stats",
    .run = stats_command,
    .usage = "[--all] [--json] [HOST...]",
    .help = "print what the daemons have counted",
    .options = options,
    .operand = "HOST",
};
