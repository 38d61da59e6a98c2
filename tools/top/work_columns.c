/* work_columns.c - what is shown of a task: a cell for each column. */
#include <stdio.h>
#include <string.h>

#include "tools/base/tid.h"
#include "tools/top/work.h"

const char *work_state_name(int state)
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

/* ---- what it waits for ---- */

/* The name of a call as programs know it, without what all of them have. */
static const char *call_name(const char *call)
{
    static const char prefix[] = "covey_";
    size_t size = sizeof prefix - 1;
    if (strncmp(call, prefix, size) == 0)
        call += size;
    return call[0] ? call : "an answer";
}

/* "recv from t40001 tag 11"; whether what comes is an array says nothing. */
static void print_peer(const struct covey_task_stat *stat, const char *what, const char *way,
                       bool tag, char *cell)
{
    char tid[TID_TEXT_BYTES] = "any", number[24] = "";
    if (stat->peer != COVEY_ANY_TASK)
        tid_format(stat->peer, tid);
    if (tag && stat->tag != COVEY_ANY_TAG)
        snprintf(number, sizeof number, " tag %d", (int)stat->tag);
    size_t size = strlen(what), end = sizeof "_array" - 1;
    if (size > end && strcmp(what + size - end, "_array") == 0)
        size -= end;
    snprintf(cell, COLUMN_CELL_BYTES, "%.*s %s %s%s", (int)size, what, way, tid, number);
}

void work_print_wait(const struct covey_task_stat *stat, char *cell)
{
    const char *call = call_name(stat->call);
    switch (stat->waits) {
    case COVEY_WAITS_NOT:
        snprintf(cell, COLUMN_CELL_BYTES, "-");
        break;
    case COVEY_WAITS_MESSAGE:
        print_peer(stat, call, "from", true, cell);
        break;
    case COVEY_WAITS_SEND:
        print_peer(stat, call, "to", true, cell);
        break;
    case COVEY_WAITS_CREDIT:
        print_peer(stat, "credit", "of", false, cell);
        break;
    case COVEY_WAITS_TURN:
        print_peer(stat, "turn", "at", false, cell);
        break;
    case COVEY_WAITS_NAME:
        snprintf(cell, COLUMN_CELL_BYTES, "%.31s %.71s", call, stat->name);
        break;
    default:
        snprintf(cell, COLUMN_CELL_BYTES, "%.31s", call);
    }
}

/* ---- cells ---- */

static void print_tid(const void *of, char *cell)
{
    const struct work *row = of;
    tid_format(row->task.tid, cell);
}

static void print_parent(const void *of, char *cell)
{
    const struct work *row = of;
    if (row->task.parent == COVEY_NO_PARENT)
        snprintf(cell, COLUMN_CELL_BYTES, "-");
    else
        tid_format(row->task.parent, cell);
}

static void print_host(const void *of, char *cell)
{
    const struct work *row = of;
    snprintf(cell, COLUMN_CELL_BYTES, "%s", row->host);
}

static void print_pid(const void *of, char *cell)
{
    const struct work *row = of;
    snprintf(cell, COLUMN_CELL_BYTES, "%d", (int)row->task.pid);
}

static void print_state(const void *of, char *cell)
{
    const struct work *row = of;
    snprintf(cell, COLUMN_CELL_BYTES, "%s", work_state_name(row->task.state));
}

static void print_command(const void *of, char *cell)
{
    const struct work *row = of;
    snprintf(cell, COLUMN_CELL_BYTES, "%s", row->task.command);
}

void work_print_program(const char *command, char *cell)
{
    const char *end = strchrnul(command, ' '), *at = end;
    while (at > command && at[-1] != '/')
        at--;
    snprintf(cell, COLUMN_CELL_BYTES, "%s", at < end ? at : command);
}

static void print_program(const void *of, char *cell)
{
    const struct work *row = of;
    work_print_program(row->task.command, cell);
}

static void print_wait(const void *of, char *cell)
{
    const struct work *row = of;
    work_print_wait(&row->stat, cell);
}

static void print_since(const void *of, char *cell)
{
    const struct work *row = of;
    bool waits = row->stat.waits != COVEY_WAITS_NOT;
    column_number(waits ? row->stat.waits_s : -1, row->stat.waits_s < 9.95, cell);
}

/* A cell of a figure. */
#define PRINT(name, function, ...)                                                                 \
    static void print_##name(const void *of, char *cell)                                           \
    {                                                                                              \
        const struct work *row = of;                                                               \
        function(row->__VA_ARGS__, cell);                                                          \
    }
PRINT(cpu, column_number, rates.cpu * 100, 0)
PRINT(memory, column_bytes, stat.memory_bytes)
PRINT(computing, column_number, rates.computing * 100, 0)
PRINT(communicating, column_number, rates.communicating * 100, 0)
PRINT(idle, column_number, rates.idle * 100, 0)
PRINT(sent, column_count, rates.sent)
PRINT(received, column_count, rates.received)
PRINT(sent_bytes, column_bytes, rates.sent_bytes)
PRINT(received_bytes, column_bytes, rates.received_bytes)

#define FIGURES                                                                                    \
    {"CPU%", 4, 99, false, print_cpu}, {"MEM", 5, 98, false, print_memory},                        \
        {"COMP%", 5, 97, false, print_computing}, {"COMM%", 5, 96, false, print_communicating},    \
        {"IDLE%", 5, 95, false, print_idle}, {"SENT/S", 6, 80, false, print_sent},                 \
        {"RECV/S", 6, 79, false, print_received}, {"OUT/S", 5, 90, false, print_sent_bytes},       \
        {"IN/S", 5, 89, false, print_received_bytes}, {"FOR", 5, 50, false, print_since},          \
    {                                                                                              \
        "WAITS", 22, 94, true, print_wait                                                          \
    }

static const struct column screen[] = {{"TID", 7, 100, true, print_tid},
                                       {"HOST", 8, 92, true, print_host},
                                       {"STATE", 8, 40, true, print_state},
                                       FIGURES,
                                       {"COMMAND", 10, 93, true, print_program}};
const struct columns work_columns = {screen, sizeof screen / sizeof screen[0]};

static const struct column list[] = {
    {"TID", 7, 100, true, print_tid},        {"PARENT", 7, 41, true, print_parent},
    {"HOST", 8, 92, true, print_host},       {"PID", 7, 40, false, print_pid},
    {"STATE", 8, 42, true, print_state},     FIGURES,
    {"COMMAND", 10, 93, true, print_command}};
const struct columns work_ps_columns = {list, sizeof list / sizeof list[0]};
