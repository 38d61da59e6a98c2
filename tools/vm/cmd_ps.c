/* covey ps: the tasks of the VM. A host that does not answer is not waited for: it is named. */
#include <stdio.h>

#include "tools/base/command.h"
#include "tools/base/tid.h"
#include "tools/list/listing.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

static const char *state_name(int state)
{
    switch (state) {
    case COVEY_TASK_STARTING:
        return "starting";
    case COVEY_TASK_RUNNING:
        return "running";
    case COVEY_TASK_ENDING:
        return "ending";
    default:
        return "unknown";
    }
}

static json_t *task_json(const struct covey_task *task, const char *host)
{
    char tid[TID_TEXT_BYTES], parent[TID_TEXT_BYTES];
    bool orphan = task->parent == COVEY_NO_PARENT;
    return json_pack("{s:s, s:s?, s:o, s:i, s:s, s:o}", "tid", tid_format(task->tid, tid), "parent",
                     orphan ? NULL : tid_format(task->parent, parent), "host", report_text(host),
                     "pid", (int)task->pid, "state", state_name(task->state), "command",
                     report_text(task->command));
}

static int print_tasks_json(const struct covey_host *hosts, int n, const struct covey_task *tasks,
                            int m)
{
    json_t *array = json_array();
    for (int i = 0; i < m; i++)
        report_add(&array, task_json(&tasks[i], listing_host_name(hosts, n, tasks[i].host)));
    return report_print("ps", array);
}

static void add_task_row(struct table *table, const struct covey_task *task, const char *host)
{
    char tid[TID_TEXT_BYTES], parent[TID_TEXT_BYTES];
    bool orphan = task->parent == COVEY_NO_PARENT;
    TABLE_ROW(table, tid_format(task->tid, tid), orphan ? "-" : tid_format(task->parent, parent),
              host, CELL("%d", (int)task->pid), state_name(task->state), task->command);
}

static int print_tasks_table(const struct covey_host *hosts, int n, const struct covey_task *tasks,
                             int m)
{
    static const char *const headings[] = {"TID",   "PARENT",  "HOST", ">PID",
                                           "STATE", "COMMAND", NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < m; i++)
        add_task_row(table, &tasks[i], listing_host_name(hosts, n, tasks[i].host));
    return report_table("ps", table);
}

static int report_silent(const struct covey_host *hosts, int n)
{
    int status = TOOL_OK;
    for (int i = 0; i < n; i++) {
        if (hosts[i].state == COVEY_HOST_SUSPECT)
            status = tool_error("ps",
                                "host %s does not answer: its tasks are not listed; see: "
                                "covey hosts",
                                hosts[i].name);
    }
    return status;
}

static int ps_command(struct tool *tool, int argc, char **argv)
{
    struct covey_host *hosts;
    struct covey_task *tasks;
    bool json;
    int m;
    int status = listing_join(tool, argc, argv, &json);
    if (status != TOOL_OK)
        return status;
    int n = covey_survey(tool->vm, LISTING_PATIENCE_US, &hosts, &tasks, &m);
    if (n < 0)
        return tool_failed(tool, "ps", n);
    status = (json ? print_tasks_json : print_tasks_table)(hosts, n, tasks, m);
    if (status == TOOL_OK)
        status = report_silent(hosts, n);
    covey_free(hosts);
    covey_free(tasks);
    return status;
}

const struct command cmd_ps = {
    .name = "ps",
    .run = ps_command,
    .usage = "[--json]",
    .help = "list the tasks of the virtual machine",
    .options = listing_options,
};
