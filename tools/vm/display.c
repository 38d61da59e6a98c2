/*
 * display.c - the screen of `covey top` by curses. display_open() takes the terminal over and
 * display_close() gives it back.
 */
#include "tools/vm/display.h"

#include <curses.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_LINES 4 /* title, sum, keys, headings */
#define CONTROL_C 3

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

int display_lines(const struct display *display)
{
    (void)display;
    return LINES > HEAD_LINES ? LINES - HEAD_LINES : 0;
}

/* ---- drawing ---- */

/* A line, cut at the screen's edge; control characters, which come from other hosts, do no harm. */
static void put_line(int y, attr_t look, const char *text)
{
    char line[512];
    int size = snprintf(line, sizeof line, "%.*s", COLS, text);
    for (int i = 0; i < size && i < (int)sizeof line; i++) {
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
    }
    move(y, 0);
    clrtoeol();
    attrset((int)look);
    addnstr(line, COLS);
    attrset(A_NORMAL);
}

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

static void draw_sum(const struct load_list *list)
{
    char text[256], used[LOAD_CELL_BYTES], total[LOAD_CELL_BYTES];
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
    load_print_bytes(memory_used, used);
    load_print_bytes(memory, total);
    snprintf(text, sizeof text, "%.1f of %.3g cores busy, %s of %s memory used", busy, cores, used,
             total);
    put_line(1, A_NORMAL, text);
}

static void draw_keys(const struct display_view *view)
{
    char text[256];
    snprintf(text, sizeof text,
             "by %s%s; sort: h)ost c)pu l)oad m)emory n)etwork d)isk t)asks, r)everse; q)uit",
             load_order_name(view->order), view->reverse ? ", reversed" : "");
    put_line(2, A_DIM, text);
}

/* Appends a cell, in the width of its column. */
static int put_cell(char *line, size_t size, int used, const struct load_column *column,
                    const char *cell)
{
    int width = column->width;
    int n = column->left ? snprintf(line + used, size - (size_t)used, "%-*.*s ", width, width, cell)
                         : snprintf(line + used, size - (size_t)used, "%*.*s ", width, width, cell);
    return used + n < (int)size ? used + n : (int)size - 1;
}

/* A row, or the headings for NULL. */
static void draw_row(int y, const struct load *row, const bool *shown)
{
    char line[512] = "", cell[LOAD_CELL_BYTES];
    int used = 0;
    for (size_t i = 0; i < load_column_count; i++) {
        if (!shown[i])
            continue;
        snprintf(cell, sizeof cell, "%s", load_columns[i].heading);
        if (row)
            load_columns[i].print(row, cell);
        used = put_cell(line, sizeof line, used, &load_columns[i], cell);
    }
    bool silent = row && !row->stat.known;
    put_line(y, !row ? A_REVERSE : silent ? A_DIM : A_NORMAL, line);
}

void display_draw(struct display *display, const struct load_list *list, struct display_view *view)
{
    bool *shown = calloc(load_column_count, sizeof *shown);
    if (!shown)
        return;
    erase();
    int last = list->count - display_lines(display);
    if (view->first > last)
        view->first = last;
    if (view->first < 0)
        view->first = 0;
    load_layout(COLS, shown);
    char text[256];
    int up = 0;
    double tasks = 0;
    for (int i = 0; i < list->count; i++) {
        up += list->rows[i].host.state == COVEY_HOST_UP;
        tasks += list->rows[i].stat.tasks > 0 ? list->rows[i].stat.tasks : 0;
    }
    snprintf(text, sizeof text, "covey top - VM %s: %d host%s, %d up, %.0f task%s", view->vm_name,
             list->count, list->count == 1 ? "" : "s", up, tasks, tasks == 1 ? "" : "s");
    put_line(0, A_BOLD, text);
    if (view->trouble)
        put_line(1, A_BOLD, view->trouble);
    else
        draw_sum(list);
    draw_keys(view);
    draw_row(HEAD_LINES - 1, NULL, shown);
    for (int i = 0; i < display_lines(display) && view->first + i < list->count; i++)
        draw_row(HEAD_LINES + i, &list->rows[view->first + i], shown);
    refresh();
    free(shown);
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
                {KEY_RESIZE, DISPLAY_RESIZED}, {CONTROL_C, DISPLAY_INTERRUPT}};
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
