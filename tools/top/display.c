/*
 * display.c - the screen of `covey top` by curses. display_open() takes the terminal over and
 * display_close() gives it back.
 */
#include "tools/top/display.h"

#include <curses.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_LINES 3       /* title, sum, keys */
#define HOSTS_LINES_MIN 12 /* a smaller screen shows tasks alone */
#define LINE_BYTES 512
#define CONTROL_C 3
#define ESCAPE 27
#define ESCAPE_MS 50 /* what follows an escape later is no part of a key */

struct display {
    SCREEN *terminal;
};

struct display *display_open(void)
{
    struct display *display =
        isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? calloc(1, sizeof *display) : NULL;
    if (!display)
        return NULL;
    display->terminal = newterm(NULL, stdout, stdin);
    if (!display->terminal) {
        free(display);
        return NULL;
    }
    raw(); /* Ctrl-C is a key: the terminal is always given back */
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    curs_set(0);
    return display;
}

void display_close(struct display *display)
{
    if (!display)
        return;
    endwin();
    delscreen(display->terminal);
    free(display);
}

/* ---- drawing ---- */

/* A line, cut at the screen's edge; control characters, which come from other hosts, do no harm. */
static void put_line(int y, attr_t look, const char *text)
{
    char line[LINE_BYTES];
    if (y >= LINES)
        return;
    snprintf(line, sizeof line, "%.*s", COLS, text);
    table_hide_controls(line);
    move(y, 0);
    clrtoeol();
    attrset((int)look);
    addnstr(line, COLS);
    attrset(A_NORMAL);
}

/* A list on the screen. */
struct section {
    const struct columns *columns;
    const char *rows; /* of `size` bytes each */
    size_t size;
    int count;
    bool (*is_dim)(const void *row); /* or NULL */
};

/* Headings, and as many rows as there are lines for, from that one on. */
static void draw_section(int y, int lines, const struct section *s, int first)
{
    bool shown[COLUMNS_MAX];
    char line[LINE_BYTES];
    columns_choose(s->columns, COLS, shown);
    columns_line(s->columns, shown, NULL, COLS, line, sizeof line);
    put_line(y, A_REVERSE, line);
    for (int i = 0; i < lines && first + i < s->count; i++) {
        const void *row = s->rows + s->size * (size_t)(first + i);
        columns_line(s->columns, shown, row, COLS, line, sizeof line);
        put_line(y + 1 + i, s->is_dim && s->is_dim(row) ? A_DIM : A_NORMAL, line);
    }
}

static bool is_silent(const void *of)
{
    const struct load *row = of;
    return !row->stat.known;
}

static struct section host_section(const struct load_list *hosts)
{
    return (struct section){.columns = &load_columns,
                            .rows = (const char *)hosts->rows,
                            .size = sizeof *hosts->rows,
                            .count = hosts->count,
                            .is_dim = is_silent};
}

static struct section task_section(const struct work_list *tasks)
{
    return (struct section){.columns = &work_columns,
                            .rows = (const char *)tasks->rows,
                            .size = sizeof *tasks->rows,
                            .count = tasks->shown};
}

/* ---- the head ---- */

/* Hosts that share a machine count once. */
static bool is_first_of_machine(const struct load_list *list, int at)
{
    for (int i = 0; i < at; i++) {
        if (list->rows[at].stat.machine != 0 &&
            list->rows[i].stat.machine == list->rows[at].stat.machine)
            return false;
    }
    return true;
}

static void draw_title(const struct load_list *hosts, const struct work_list *tasks,
                       const struct display_view *view)
{
    char text[LINE_BYTES];
    int up = 0, all = tasks->count + tasks->left_out;
    for (int i = 0; i < hosts->count; i++)
        up += hosts->rows[i].host.state == COVEY_HOST_UP;
    snprintf(text, sizeof text, "covey top - VM %s: %d host%s, %d up, %d task%s", view->vm_name,
             hosts->count, hosts->count == 1 ? "" : "s", up, all, all == 1 ? "" : "s");
    put_line(0, A_BOLD, text);
}

static void draw_sum(const struct load_list *list)
{
    char text[LINE_BYTES], used[COLUMN_CELL_BYTES], total[COLUMN_CELL_BYTES];
    double cores = 0, busy = 0, memory = 0, memory_used = 0;
    for (int i = 0; i < list->count; i++) {
        const struct covey_host_stat *s = &list->rows[i].stat;
        if (!s->known || !is_first_of_machine(list, i))
            continue;
        cores += s->cores > 0 ? s->cores : 0;
        busy += s->cores > 0 && s->cpu_busy > 0 ? s->cores * s->cpu_busy : 0;
        memory += s->memory_total_bytes > 0 ? s->memory_total_bytes : 0;
        memory_used += s->memory_used_bytes > 0 ? s->memory_used_bytes : 0;
    }
    column_bytes(memory_used, used);
    column_bytes(memory, total);
    snprintf(text, sizeof text, "%.1f of %.3g cores busy, %s of %s memory used", busy, cores, used,
             total);
    put_line(1, A_NORMAL, text);
}

static void draw_keys(const struct display_view *view)
{
    char text[LINE_BYTES];
    if (view->typing)
        snprintf(text, sizeof text, "only tasks with: %s_ (Enter: done, Esc: all)", view->filter);
    else
        snprintf(text, sizeof text,
                 "keys: c)pu m)emory w)ait and so on sort, r)everse, /) filter, v)iew, ?, q)uit");
    put_line(2, view->typing ? A_BOLD : A_DIM, text);
}

/* How the tasks are sorted, and what of them is not on the screen. */
static void draw_task_title(int y, int lines, const struct work_list *tasks,
                            const struct display_view *view)
{
    char text[LINE_BYTES];
    int last = view->first + lines < tasks->shown ? view->first + lines : tasks->shown;
    int n = snprintf(text, sizeof text, "tasks by %s%s: %d to %d of %d",
                     work_order_name(view->task_order), view->reverse ? ", reversed" : "",
                     tasks->shown > 0 ? view->first + 1 : 0, last, tasks->shown);
    if (view->filter[0] && !view->typing)
        n += snprintf(text + n, sizeof text - (size_t)n, " with '%s', of %d", view->filter,
                      tasks->count);
    if (tasks->left_out > 0)
        snprintf(text + n, sizeof text - (size_t)n, "; %d more were not asked for",
                 tasks->left_out);
    put_line(y, A_BOLD, text);
}

/* ---- the whole ---- */

static void draw_help(void)
{
    int y = HEAD_LINES;
    char text[LINE_BYTES];
    put_line(y++, A_BOLD, "Sort by:");
    for (int key = 'a'; key <= 'z'; key++) {
        int host = load_order_of_key(key), task = work_order_of_key(key);
        if (host < 0 && task < 0)
            continue;
        snprintf(text, sizeof text, "  %c  %s%s%s", key,
                 task < 0 ? "" : work_order_name((enum work_order)task),
                 task < 0   ? "hosts by "
                 : host < 0 ? ""
                            : "; hosts by ",
                 host < 0 ? "" : load_order_name((enum load_order)host));
        put_line(y++, A_NORMAL, text);
    }
    put_line(y++, A_BOLD, "Else:");
    put_line(y++, A_NORMAL, "  r  reverse     v  tasks alone, hosts alone, both");
    put_line(y++, A_NORMAL, "  /  only tasks with a text; Esc: all");
    put_line(y, A_NORMAL, "  arrows and pages move; q  quit; any key closes this");
}

static void settle_first(struct display_view *view, int count, int lines)
{
    view->page = lines > 0 ? lines : 0;
    if (view->first > count - view->page)
        view->first = count - view->page;
    if (view->first < 0)
        view->first = 0;
}

/* The hosts have a third of the screen at most, and none of a small one. */
static int draw_hosts_above(const struct load_list *hosts)
{
    struct section section = host_section(hosts);
    int lines = (LINES - HEAD_LINES - 2) / 3, y = HEAD_LINES;
    char text[LINE_BYTES];
    if (LINES < HOSTS_LINES_MIN)
        return y;
    bool all = hosts->count <= lines;
    draw_section(y, all ? lines : lines - 1, &section, 0);
    y += 1 + (all ? hosts->count : lines - 1);
    if (!all) {
        snprintf(text, sizeof text, "%d more hosts; v shows all", hosts->count - lines + 1);
        put_line(y++, A_DIM, text);
    }
    return y;
}

static void draw_tasks(int y, const struct work_list *tasks, struct display_view *view)
{
    struct section section = task_section(tasks);
    int lines = LINES - y - 2;
    settle_first(view, tasks->shown, lines);
    draw_task_title(y, view->page, tasks, view);
    draw_section(y + 1, view->page, &section, view->first);
}

static void draw_hosts(const struct load_list *hosts, struct display_view *view)
{
    struct section section = host_section(hosts);
    char text[LINE_BYTES];
    settle_first(view, hosts->count, LINES - HEAD_LINES - 1);
    snprintf(text, sizeof text,
             "hosts by %s%s; keys: c)pu m)emory l)oad, r)everse, v)iew, ?, q)uit",
             load_order_name(view->host_order), view->reverse ? ", reversed" : "");
    put_line(2, A_DIM, text);
    draw_section(HEAD_LINES, view->page, &section, view->first);
}

void display_draw(struct display *display, const struct load_list *hosts,
                  const struct work_list *tasks, struct display_view *view)
{
    (void)display;
    erase();
    draw_title(hosts, tasks, view);
    if (view->trouble)
        put_line(1, A_BOLD, view->trouble);
    else
        draw_sum(hosts);
    draw_keys(view);
    if (view->help)
        draw_help();
    else if (view->part == DISPLAY_HOSTS)
        draw_hosts(hosts, view);
    else
        draw_tasks(view->part == DISPLAY_BOTH ? draw_hosts_above(hosts) : HEAD_LINES, tasks, view);
    refresh();
}

/* ---- keys ---- */

/* curses does not tell a terminal that is gone from one where nothing is typed. */
static bool is_gone(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

int display_key(struct display *display, int timeout_ms)
{
    static const struct {
        int code, key;
    } keys[] = {{KEY_UP, DISPLAY_UP},          {KEY_DOWN, DISPLAY_DOWN},
                {KEY_PPAGE, DISPLAY_PAGE_UP},  {KEY_NPAGE, DISPLAY_PAGE_DOWN},
                {KEY_RESIZE, DISPLAY_RESIZED}, {CONTROL_C, DISPLAY_INTERRUPT},
                {KEY_ENTER, DISPLAY_ENTER},    {'\r', DISPLAY_ENTER},
                {'\n', DISPLAY_ENTER},         {KEY_BACKSPACE, DISPLAY_ERASE},
                {0x7f, DISPLAY_ERASE},         {'\b', DISPLAY_ERASE},
                {ESCAPE, DISPLAY_ESCAPE}};
    (void)display;
    timeout(timeout_ms);
    int code = getch();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i].code == code)
            return keys[i].key;
    }
    if (code == ERR)
        return is_gone() ? DISPLAY_GONE : DISPLAY_NONE;
    return code;
}
