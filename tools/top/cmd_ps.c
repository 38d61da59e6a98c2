/*
 * covey ps: the tasks of the VM, and what they did since they began. A host that does not answer is
 * not waited for: it is named.
 */
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/list/listing.h"
#include "tools/list/report.h"
#include "tools/top/work.h"
#include "tools/top/work_json.h"

struct ps {
    bool json;
    const char *filter;
    enum work_order order;
};

static const struct args_option options[] = {
    {"json", 'j', NULL, "print JSON, for scripts"},
    {"sort", 's', "COLUMN",
     "by tid, host, cpu, memory, computing, communicating, idle, messages, network, wait or "
     "command"},
    {"filter", 'f', "TEXT", "only tasks of which something shows the text"},
    {NULL, 0, NULL, NULL}};

static int print_tasks_json(const struct work_list *list)
{
    json_t *array = json_array();
    for (int i = 0; i < list->shown; i++)
        report_add(&array, work_json(&list->rows[i]));
    return report_print("ps", array);
}

/* A terminal shows what it has room for. */
static int print_tasks_screen(const struct work_list *list, int width)
{
    bool shown[COLUMNS_MAX];
    char cells[512];
    columns_choose(&work_ps_columns, width, shown);
    for (int i = -1; i < list->shown; i++) {
        columns_line(&work_ps_columns, shown, i < 0 ? NULL : &list->rows[i], width, cells,
                     sizeof cells);
        puts(cells);
    }
    return TOOL_OK;
}

static int print_tasks_table(const struct work_list *list)
{
    struct table *table = columns_table(&work_ps_columns);
    for (int i = 0; i < list->shown; i++)
        columns_add(table, &work_ps_columns, &list->rows[i]);
    return report_table("ps", table);
}

static int print_tasks(const struct ps *ps, const struct work_list *list)
{
    struct winsize size;
    if (ps->json)
        return print_tasks_json(list);
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return print_tasks_screen(list, size.ws_col);
    return print_tasks_table(list);
}

static int report_silent(const struct work_list *list)
{
    int status = TOOL_OK;
    for (int i = 0; i < list->host_count; i++) {
        if (list->hosts[i].state == COVEY_HOST_SUSPECT)
            status = tool_error("ps",
                                "host %s does not answer: its tasks are not listed; see: "
                                "covey hosts",
                                list->hosts[i].name);
    }
    if (list->left_out > 0)
        status = tool_error("ps", "%d tasks more are not listed", list->left_out);
    return status;
}

static int take_ps_argument(void *context, int key, const char *value)
{
    struct ps *ps = context;
    if (key == ARGS_OPERAND)
        return tool_usage("ps", "%s: takes no argument", value);
    int order = work_order_of_name(value);
    if (order < 0)
        return tool_usage("ps",
                          "--sort %s: must be tid, host, cpu, memory, computing, communicating, "
                          "idle, messages, network, wait or command",
                          value);
    ps->order = (enum work_order)order;
    return TOOL_OK;
}

static int ps_command(struct tool *tool, int argc, char **argv)
{
    struct ps ps = {.order = WORK_BY_TID};
    struct work_list list = {.rows = NULL};
    const struct arguments_place places[] = {
        {'j', .flag = &ps.json}, {'f', .text = &ps.filter}, {0}};
    int status =
        arguments_read(&(struct arguments){options, places, take_ps_argument, &ps}, argc, argv);
    if (status == TOOL_OK)
        status = tool_join(tool, "ps");
    if (status != TOOL_OK)
        return status;
    int error = work_ask(tool->vm, LISTING_PATIENCE_US, &list);
    if (error < 0)
        return tool_failed(tool, "ps", error);
    work_sort(&list, ps.filter, ps.order, false);
    status = print_tasks(&ps, &list);
    if (status == TOOL_OK)
        status = report_silent(&list);
    work_free(&list);
    return status;
}

const struct command cmd_ps = {
    .name = "ps",
    .run = ps_command,
    .usage = "[--json] [--sort COLUMN] [--filter TEXT]",
    .help = "list the tasks of the virtual machine and what they do",
    .options = options,
};
