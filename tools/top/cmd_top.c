/*
 * covey top: how busy the hosts are, and what the tasks do, on the whole screen, as tables, or as
 * JSON.
 *
 * The daemons are asked anew with each picture and do nothing in between. A VM that does not answer
 * leaves the last picture and a line that says so.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/arguments.h"
#include "tools/base/clock.h"
#include "tools/base/command.h"
#include "tools/list/listing.h"
#include "tools/list/report.h"
#include "tools/list/table.h"
#include "tools/top/display.h"
#include "tools/top/load.h"
#include "tools/top/work.h"
#include "tools/top/work_json.h"

#define DELAY_MS 2000
#define FIRST_MS 600    /* between two looks that make the first rates */
#define DELAY_S_MIN 0.5 /* the daemons do not sample more often */
#define DELAY_S_MAX 3600.0
#define SAMPLES_MAX 1000000

struct top {
    struct tool *tool;
    bool once, json;
    long samples; /* to be printed; 0: the whole screen, or one where there is none */
    int delay_ms;
    struct load_list hosts;
    struct work_list tasks;
    struct display_view view;
    char trouble[200];
};

static const struct args_option options[] = {
    {"once", '1', NULL, "print tables and end"},
    {"samples", 'n', "NUMBER", "print tables so often and end"},
    {"json", 'j', NULL, "print JSON, for scripts, and end"},
    {"delay", 'd', "SECONDS", "time between two pictures (2)"},
    {"sort", 's', "COLUMN", "by host, cpu, memory, network and the like: see covey(1)"},
    {"filter", 'f', "TEXT", "only tasks of which something shows the text"},
    {NULL, 0, NULL, NULL}};

/* ---- JSON ---- */

/* The figures under their names in covey.h. */
struct figure {
    const char *name;
    size_t offset;
};
#define FIGURE(field)                                                                              \
    {                                                                                              \
#field, offsetof(struct covey_host_stat, field)                                            \
    }
static const struct figure figures[] = {FIGURE(age_s),
                                        FIGURE(interval_s),
                                        FIGURE(load_1m),
                                        FIGURE(load_5m),
                                        FIGURE(load_15m),
                                        FIGURE(cpu_busy),
                                        FIGURE(cpu_pressure),
                                        FIGURE(demand),
                                        FIGURE(memory_total_bytes),
                                        FIGURE(memory_used_bytes),
                                        FIGURE(memory_free_bytes),
                                        FIGURE(interrupts_per_s),
                                        FIGURE(switches_per_s),
                                        FIGURE(disk_read_bytes_per_s),
                                        FIGURE(disk_written_bytes_per_s),
                                        FIGURE(net_received_bytes_per_s),
                                        FIGURE(net_sent_bytes_per_s),
                                        FIGURE(tasks),
                                        FIGURE(tasks_young),
                                        FIGURE(integer_per_s),
                                        FIGURE(float_per_s),
                                        FIGURE(pack_bytes_per_s),
                                        FIGURE(measured_age_s),
                                        FIGURE(swap_in_bytes_per_s),
                                        FIGURE(swap_out_bytes_per_s),
                                        FIGURE(major_faults_per_s),
                                        FIGURE(memory_pressure),
                                        FIGURE(disk_busy),
                                        FIGURE(interrupt_busy),
                                        FIGURE(net_rate_bytes_per_s)};

static double figure_value(const struct covey_host_stat *stat, const struct figure *figure)
{
    double value;
    memcpy(&value, (const char *)stat + figure->offset, sizeof value);
    return value;
}

static json_t *row_json(const struct load *row)
{
    char state[COLUMN_CELL_BYTES];
    const struct covey_host_stat *stat = &row->stat;
    load_columns.list[1].print(row, state);
    json_t *object = json_pack("{s:o, s:i, s:s, s:b, s:b, s:f}", "name",
                               report_text(row->host.name), "index", (int)row->host.index, "state",
                               state, "known", (int)stat->known, "pages", covey_host_pages(stat),
                               "cores", stat->cores > 0 ? stat->cores : (double)row->host.cores);
    for (size_t i = 0; object && i < sizeof figures / sizeof figures[0]; i++) {
        double value = figure_value(stat, &figures[i]);
        json_object_set_new(object, figures[i].name, report_not_negative(value));
    }
    return object;
}

/* An object a sample. */
static int print_sample_json(const struct top *top)
{
    json_t *hosts = json_array(), *tasks = json_array();
    for (int i = 0; i < top->hosts.count; i++)
        report_add(&hosts, row_json(&top->hosts.rows[i]));
    for (int i = 0; i < top->tasks.shown; i++)
        report_add(&tasks, work_json(&top->tasks.rows[i]));
    if (!hosts || !tasks) {
        json_decref(hosts);
        json_decref(tasks);
        return report_print("top", NULL);
    }
    return report_print("top", json_pack("{s:o, s:o, s:i}", "hosts", hosts, "tasks", tasks,
                                         "tasks_left_out", top->tasks.left_out));
}

/* ---- tables ---- */

static int print_sample_tables(const struct top *top)
{
    struct table *hosts = columns_table(&load_columns), *tasks = columns_table(&work_columns);
    for (int i = 0; i < top->hosts.count; i++)
        columns_add(hosts, &load_columns, &top->hosts.rows[i]);
    for (int i = 0; i < top->tasks.shown; i++)
        columns_add(tasks, &work_columns, &top->tasks.rows[i]);
    int status = report_table("top", hosts);
    putchar('\n');
    int other = report_table("top", tasks);
    if (top->tasks.left_out > 0)
        printf("%d tasks more were not asked for\n", top->tasks.left_out);
    return status == TOOL_OK ? other : status;
}

/* ---- samples ---- */

static void sort_all(struct top *top)
{
    const struct display_view *view = &top->view;
    load_sort(&top->hosts, view->host_order, view->reverse);
    work_sort(&top->tasks, view->filter, view->task_order, view->reverse);
}

static int look_at_all(struct top *top)
{
    int error = load_ask(top->tool->vm, LISTING_PATIENCE_US, &top->hosts);
    if (error == 0)
        error = work_ask(top->tool->vm, LISTING_PATIENCE_US, &top->tasks);
    if (error == 0)
        sort_all(top);
    return error;
}

static void pause_ms(int ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

/* Rates are of the time since the look before; the first look of all is not printed. */
static int print_samples(struct top *top)
{
    int error = look_at_all(top), status = TOOL_OK;
    for (long i = 0; i < top->samples && error == 0 && status == TOOL_OK; i++) {
        pause_ms(i == 0 ? FIRST_MS : top->delay_ms);
        error = look_at_all(top);
        if (error < 0)
            break;
        if (i > 0 && !top->json)
            putchar('\n');
        status = top->json ? print_sample_json(top) : print_sample_tables(top);
        if (fflush(stdout) != 0)
            status = TOOL_FAILED;
    }
    return error < 0 ? tool_failed(top->tool, "top", error) : status;
}

/* ---- the screen ---- */

static void look_for_screen(struct top *top)
{
    int error = look_at_all(top);
    top->view.trouble = NULL;
    if (error == 0)
        return;
    snprintf(top->trouble, sizeof top->trouble, "the VM does not answer: %s", covey_error_text());
    top->view.trouble = top->trouble;
}

/* A key belongs to the filter that is being typed. */
static void type_filter(struct display_view *view, int key)
{
    size_t size = strlen(view->filter);
    if (key == DISPLAY_ENTER || key == DISPLAY_ESCAPE)
        view->typing = false;
    if (key == DISPLAY_ESCAPE)
        view->filter[0] = '\0';
    else if (key == DISPLAY_ERASE && size > 0)
        view->filter[size - 1] = '\0';
    else if (key >= ' ' && key < 0x7f && size + 1 < sizeof view->filter)
        snprintf(view->filter + size, sizeof view->filter - size, "%c", key);
}

static void set_order(struct display_view *view, int key)
{
    int host = load_order_of_key(key), task = work_order_of_key(key);
    if (host >= 0)
        view->host_order = (enum load_order)host;
    if (task >= 0)
        view->task_order = (enum work_order)task;
}

static void obey(struct display_view *view, int key)
{
    switch (key) {
    case 'r':
        view->reverse = !view->reverse;
        break;
    case 'v':
        view->part = (view->part + 1) % DISPLAY_PARTS;
        view->first = 0;
        break;
    case '/':
        view->typing = true;
        break;
    case '?':
        view->help = true;
        break;
    case DISPLAY_ESCAPE:
        view->filter[0] = '\0';
        break;
    case DISPLAY_UP:
    case DISPLAY_PAGE_UP:
        view->first -= key == DISPLAY_UP ? 1 : view->page;
        break;
    case DISPLAY_DOWN:
    case DISPLAY_PAGE_DOWN:
        view->first += key == DISPLAY_DOWN ? 1 : view->page;
        break;
    default:
        set_order(view, key);
    }
}

/* Does what a key says; false: the end. */
static bool take_key(struct display_view *view, int key)
{
    if (key == DISPLAY_INTERRUPT || key == DISPLAY_GONE)
        return false;
    if (view->typing)
        type_filter(view, key);
    else if (view->help)
        view->help = key == DISPLAY_RESIZED;
    else if (key == 'q' || key == 'Q')
        return false;
    else
        obey(view, key);
    return true;
}

/* Until it is time for the next picture; false: the end. */
static bool follow_keys(struct top *top, struct display *display, int for_ms)
{
    int64_t end = clock_ms() + for_ms;
    for (int64_t now; (now = clock_ms()) < end;) {
        int key = display_key(display, (int)(end - now));
        if (key == DISPLAY_NONE)
            continue;
        if (!take_key(&top->view, key))
            return false;
        sort_all(top);
        display_draw(display, &top->hosts, &top->tasks, &top->view);
    }
    return true;
}

/* The first picture, whose rates are since the tasks began, is followed soon by one of now. */
static int show_screen(struct top *top)
{
    struct display *display = display_open();
    if (!display)
        return tool_error("top", "TERM names no terminal that is known; use --once or --json");
    int for_ms = FIRST_MS;
    do {
        look_for_screen(top);
        display_draw(display, &top->hosts, &top->tasks, &top->view);
        if (!follow_keys(top, display, for_ms))
            break;
        for_ms = top->delay_ms;
    } while (true);
    display_close(display);
    return TOOL_OK;
}

/* ---- the command ---- */

static int take_sort(struct display_view *view, const char *value)
{
    int host = load_order_of_name(value), task = work_order_of_name(value);
    if (host < 0 && task < 0)
        return tool_usage("top",
                          "--sort %s: must be host, cpu, memory or network; of hosts also load, "
                          "disk or tasks; of tasks also tid, computing, communicating, idle, "
                          "messages, wait or command",
                          value);
    if (host >= 0)
        view->host_order = (enum load_order)host;
    if (task >= 0)
        view->task_order = (enum work_order)task;
    return TOOL_OK;
}

static int take_top_argument(void *context, int key, const char *value)
{
    struct top *top = context;
    double seconds;
    if (key == ARGS_OPERAND)
        return tool_usage("top", "%s: takes no argument", value);
    if (key == 's')
        return take_sort(&top->view, value);
    if (key == 'n')
        return args_number(value, 1, SAMPLES_MAX, &top->samples)
                   ? TOOL_OK
                   : tool_usage("top", "-n %s: must be a number in 1 .. %d", value, SAMPLES_MAX);
    if (key == 'f') {
        snprintf(top->view.filter, sizeof top->view.filter, "%s", value);
        return TOOL_OK;
    }
    if (!args_real(value, DELAY_S_MIN, DELAY_S_MAX, &seconds))
        return tool_usage("top", "--delay %s: must be seconds, 0.5 to 3600", value);
    top->delay_ms = (int)(seconds * 1000);
    return TOOL_OK;
}

static int top_command(struct tool *tool, int argc, char **argv)
{
    struct top top = {.tool = tool, .delay_ms = DELAY_MS, .view.task_order = WORK_BY_CPU};
    const struct arguments_place places[] = {
        {'1', .flag = &top.once}, {'j', .flag = &top.json}, {0}};
    int status =
        arguments_read(&(struct arguments){options, places, take_top_argument, &top}, argc, argv);
    if (status == TOOL_OK)
        status = tool_join(tool, "top");
    if (status != TOOL_OK)
        return status;
    bool prints = top.once || top.json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
    if (top.samples == 0 && prints)
        top.samples = 1;
    top.view.vm_name = covey_vm_name(tool->vm);
    status = top.samples > 0 ? print_samples(&top) : show_screen(&top);
    load_free(&top.hosts);
    work_free(&top.tasks);
    return status;
}

const struct command cmd_top = {
    .name = "top",
    .run = top_command,
    .usage = "[--once] [-n NUMBER] [--json] [--delay SECONDS] [--sort COLUMN] [--filter TEXT]",
    .help = "show how busy the hosts are and what the tasks do",
    .options = options,
};
