/*
 * covey top: the hosts and how busy they are, on the whole screen, once as a table, or as JSON.
 *
 * The daemons are asked anew with each picture and do nothing in between. A VM that does not answer
 * leaves the last picture and a line that says so.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/list/listing.h"
#include "tools/list/report.h"
#include "tools/list/table.h"
#include "tools/vm/display.h"
#include "tools/vm/load.h"

#define DELAY_MS 2000
#define DELAY_S_MIN 0.5 /* the daemons do not sample more often */
#define DELAY_S_MAX 3600.0
#define HEADINGS_MAX 64

struct top {
    struct tool *tool;
    bool once, json; /* neither: the whole screen */
    int delay_ms;
    struct load_list list;
    struct display_view view;
    char trouble[200];
};

static const struct args_option options[] = {
    {"once", '1', NULL, "print a table and end"},
    {"json", 'j', NULL, "print JSON, for scripts, and end"},
    {"delay", 'd', "SECONDS", "time between two pictures (2)"},
    {"sort", 's', "COLUMN", "by host, cpu, load, memory, network, disk or tasks"},
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
    char state[LOAD_CELL_BYTES];
    const struct covey_host_stat *stat = &row->stat;
    load_columns[1].print(row, state);
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

static int print_loads_json(const struct load_list *list)
{
    json_t *array = json_array();
    for (int i = 0; i < list->count; i++)
        report_add(&array, row_json(&list->rows[i]));
    return report_print("top", array);
}

/* ---- a table ---- */

static void add_load_row(struct table *table, const struct load *row)
{
    char cells[HEADINGS_MAX][LOAD_CELL_BYTES];
    const char *texts[HEADINGS_MAX];
    for (size_t i = 0; i < load_column_count; i++) {
        load_columns[i].print(row, cells[i]);
        texts[i] = cells[i];
    }
    table_add(table, texts);
}

static int print_loads_table(const struct load_list *list)
{
    char texts[HEADINGS_MAX][16];
    const char *headings[HEADINGS_MAX + 1] = {NULL};
    for (size_t i = 0; i < load_column_count; i++) {
        const struct load_column *column = &load_columns[i];
        snprintf(texts[i], sizeof texts[i], "%s%s", column->left ? "" : ">", column->heading);
        headings[i] = texts[i];
    }
    struct table *table = table_create(headings);
    for (int i = 0; i < list->count; i++)
        add_load_row(table, &list->rows[i]);
    return report_table("top", table);
}

static int print_once(struct top *top)
{
    int error = load_ask_twice(top->tool->vm, LISTING_PATIENCE_US, &top->list);
    if (error < 0)
        return tool_failed(top->tool, "top", error);
    load_sort(&top->list, top->view.order, false);
    return top->json ? print_loads_json(&top->list) : print_loads_table(&top->list);
}

/* ---- the screen ---- */

static void look_at_hosts(struct top *top)
{
    int error = load_ask(top->tool->vm, LISTING_PATIENCE_US, &top->list);
    top->view.trouble = NULL;
    if (error == 0)
        return;
    snprintf(top->trouble, sizeof top->trouble, "the VM does not answer: %s", covey_error_text());
    top->view.trouble = top->trouble;
}

/* Does what a key says; false: the end. */
static bool obey(struct top *top, struct display *display, int key)
{
    int page = display_lines(display);
    switch (key) {
    case 'q':
    case 'Q':
    case DISPLAY_INTERRUPT:
    case DISPLAY_GONE:
        return false;
    case 'r':
        top->view.reverse = !top->view.reverse;
        break;
    case DISPLAY_UP:
    case DISPLAY_PAGE_UP:
        top->view.first -= key == DISPLAY_UP ? 1 : page;
        break;
    case DISPLAY_DOWN:
    case DISPLAY_PAGE_DOWN:
        top->view.first += key == DISPLAY_DOWN ? 1 : page;
        break;
    default:
        if (load_order_of_key(key) >= 0)
            top->view.order = (enum load_order)load_order_of_key(key);
    }
    return true;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until it is time for the next picture; false: the end. */
static bool follow_keys(struct top *top, struct display *display)
{
    for (int64_t end = now_ms() + top->delay_ms, now; (now = now_ms()) < end;) {
        int key = display_key(display, (int)(end - now));
        if (key == DISPLAY_NONE)
            continue;
        if (!obey(top, display, key))
            return false;
        load_sort(&top->list, top->view.order, top->view.reverse);
        display_draw(display, &top->list, &top->view);
    }
    return true;
}

static int show_screen(struct top *top)
{
    struct display *display = display_open();
    if (!display)
        return tool_error("top", "this is no terminal, or TERM names none; use --once or --json");
    do {
        look_at_hosts(top);
        load_sort(&top->list, top->view.order, top->view.reverse);
        display_draw(display, &top->list, &top->view);
    } while (follow_keys(top, display));
    display_close(display);
    return TOOL_OK;
}

/* ---- the command ---- */

static int take_top_argument(void *context, int key, const char *value)
{
    struct top *top = context;
    double seconds;
    if (key == ARGS_OPERAND)
        return tool_usage("top", "%s: takes no argument", value);
    if (key == 's') {
        int order = load_order_of_name(value);
        if (order < 0)
            return tool_usage(
                "top", "--sort %s: must be host, cpu, load, memory, network, disk or tasks", value);
        top->view.order = (enum load_order)order;
        return TOOL_OK;
    }
    if (!args_real(value, DELAY_S_MIN, DELAY_S_MAX, &seconds))
        return tool_usage("top", "--delay %s: must be seconds, 0.5 to 3600", value);
    top->delay_ms = (int)(seconds * 1000);
    return TOOL_OK;
}

static int top_command(struct tool *tool, int argc, char **argv)
{
    struct top top = {.tool = tool, .delay_ms = DELAY_MS};
    const struct arguments_place places[] = {
        {'1', .flag = &top.once}, {'j', .flag = &top.json}, {0}};
    int status =
        arguments_read(&(struct arguments){options, places, take_top_argument, &top}, argc, argv);
    if (status == TOOL_OK)
        status = tool_join(tool, "top");
    if (status != TOOL_OK)
        return status;
    top.view.vm_name = covey_vm_name(tool->vm);
    status = top.once || top.json ? print_once(&top) : show_screen(&top);
    load_free(&top.list);
    return status;
}

const struct command cmd_top = {
    .name = "top",
    .run = top_command,
    .usage = "[--once] [--json] [--delay SECONDS] [--sort COLUMN]",
    .help = "show how busy the hosts are",
    .options = options,
};
