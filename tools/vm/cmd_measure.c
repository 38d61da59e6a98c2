/* covey measure: how fast a core of each host is. */
#include <stdio.h>
#include <string.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/list/listing.h"
#include "tools/list/report.h"
#include "tools/list/table.h"
#include "tools/top/load.h"

/* Whether the host is one of the names; none: all are. */
static bool is_host_named(const char *name, const char **names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return count == 0;
}

static bool is_there(const struct load_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->rows[i].host.name, name) == 0)
            return true;
    }
    return false;
}

static int print_speeds_json(const struct load_list *list, const char **names, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < list->count; i++) {
        const struct load *row = &list->rows[i];
        if (is_host_named(row->host.name, names, count))
            report_add(&array,
                       json_pack("{s:o, s:o, s:o, s:o}", "name", report_text(row->host.name),
                                 "integer_per_s", report_not_negative(row->stat.integer_per_s),
                                 "float_per_s", report_not_negative(row->stat.float_per_s),
                                 "pack_bytes_per_s",
                                 report_not_negative(row->stat.pack_bytes_per_s)));
    }
    return report_print("measure", array);
}

#define MILLIONS(value) CELL((value) < 0 ? "-" : "%.0f", (value) / 1e6)

static int print_speeds_table(const struct load_list *list, const char **names, int count)
{
    static const char *const headings[] = {"HOST", ">INTEGER M/S", ">FLOAT M/S", ">PACK MB/S",
                                           NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < list->count; i++) {
        const struct load *row = &list->rows[i];
        if (is_host_named(row->host.name, names, count))
            TABLE_ROW(table, row->host.name, MILLIONS(row->stat.integer_per_s),
                      MILLIONS(row->stat.float_per_s), MILLIONS(row->stat.pack_bytes_per_s));
    }
    return report_table("measure", table);
}

/* All at once, or the named ones one after the other. */
static int measure_each(covey_t *vm, const struct load_list *list, const char **names, int count)
{
    int error = count == 0 ? covey_measure(vm, 0) : 0;
    for (int i = 0; i < list->count && error >= 0 && count > 0; i++) {
        if (is_host_named(list->rows[i].host.name, names, count))
            error = covey_measure(vm, list->rows[i].host.index);
    }
    return error;
}

static int measure_hosts(struct tool *tool, const char **names, int count, bool json)
{
    struct load_list list = {.rows = NULL};
    int status = TOOL_OK;
    int error = load_ask(tool->vm, LISTING_PATIENCE_US, &list);
    for (int i = 0; i < count && error >= 0 && status == TOOL_OK; i++) {
        if (!is_there(&list, names[i]))
            status =
                tool_error("measure", "no host '%s' is in this VM; see: covey hosts", names[i]);
    }
    if (error >= 0 && status == TOOL_OK)
        error = measure_each(tool->vm, &list, names, count);
    if (error >= 0 && status == TOOL_OK)
        error = load_ask(tool->vm, LISTING_PATIENCE_US, &list);
    if (error < 0)
        status = tool_failed(tool, "measure", error);
    else if (status == TOOL_OK)
        status = (json ? print_speeds_json : print_speeds_table)(&list, names, count);
    load_free(&list);
    return status;
}

static int measure_command(struct tool *tool, int argc, char **argv)
{
    const char **names = (const char **)argv + 1; /* what is read makes room for what is kept */
    int count = 0;
    bool json = false;
    const struct arguments_place places[] = {
        {'j', .flag = &json}, {ARGS_OPERAND, .text = names, .count = &count}, {0}};
    int status =
        arguments_read(&(struct arguments){listing_options, places, NULL, NULL}, argc, argv);
    if (status == TOOL_OK)
        status = tool_join(tool, "measure");
    return status == TOOL_OK ? measure_hosts(tool, names, count, json) : status;
}

const struct command cmd_measure = {
    .name = "measure",
    .run = measure_command,
    .usage = "[--json] [HOST...]",
    .help = "measure how fast a core of each host is",
    .options = listing_options,
    .operand = "HOST",
};
