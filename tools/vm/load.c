/*
 * load.c - the hosts with their load for `covey top`: asked for, sorted by any column, and put
 * into short texts. It asks twice where rates need two samples.
 */
#include "tools/vm/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OLD_S 30.0 /* rates of a longer time are not of now */
#define AGAIN_NS 600000000

/* ---- asking ---- */

void load_free(struct load_list *list)
{
    free(list->rows);
    *list = (struct load_list){.rows = NULL};
}

int load_ask(covey_t *vm, int64_t timeout_us, struct load_list *list)
{
    struct covey_host *hosts;
    struct covey_host_stat *stats;
    int n = covey_host_stats(vm, timeout_us, &hosts, &stats);
    if (n < 0)
        return n;
    struct load *rows = calloc((size_t)n + 1, sizeof *rows);
    int count = 0;
    for (int i = 0; i < n && rows; i++) {
        if (hosts[i].state != COVEY_HOST_DOWN)
            rows[count++] = (struct load){.host = hosts[i], .stat = stats[i]};
    }
    covey_free(hosts);
    covey_free(stats);
    if (!rows)
        return COVEY_ENOMEM;
    load_free(list);
    *list = (struct load_list){.rows = rows, .count = count};
    return 0;
}

static bool lacks_rates(const struct load_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const struct covey_host_stat *stat = &list->rows[i].stat;
        if (stat->known && (stat->interval_s <= 0 || stat->interval_s > OLD_S))
            return true;
    }
    return false;
}

int load_ask_twice(covey_t *vm, int64_t timeout_us, struct load_list *list)
{
    const struct timespec moment = {.tv_nsec = AGAIN_NS};
    int error = load_ask(vm, timeout_us, list);
    if (error < 0 || !lacks_rates(list))
        return error;
    nanosleep(&moment, NULL);
    return load_ask(vm, timeout_us, list);
}

/* ---- sorting ---- */

struct order {
    int key;
    const char *name;
};
static const struct order orders[LOAD_ORDER_COUNT] = {
#define LOAD_ROW(letter, id, text) {.key = letter, .name = text},
    LOAD_ORDERS(LOAD_ROW)
#undef LOAD_ROW
};

int load_order_of_key(int key)
{
    for (int i = 0; i < LOAD_ORDER_COUNT; i++) {
        if (orders[i].key == key)
            return i;
    }
    return -1;
}

int load_order_of_name(const char *name)
{
    for (int i = 0; i < LOAD_ORDER_COUNT; i++) {
        if (strcmp(orders[i].name, name) == 0)
            return i;
    }
    return -1;
}

const char *load_order_name(enum load_order order)
{
    return orders[order].name;
}

static double sum_known(double a, double b)
{
    return a < 0 ? b : b < 0 ? a : a + b;
}

static double weight(const struct load *row, enum load_order order)
{
    const struct covey_host_stat *s = &row->stat;
    switch (order) {
    case LOAD_BY_CPU:
        return s->cpu_busy;
    case LOAD_BY_LOAD:
        return s->load_1m;
    case LOAD_BY_MEMORY:
        return s->memory_total_bytes > 0 ? s->memory_used_bytes / s->memory_total_bytes : -1;
    case LOAD_BY_NETWORK:
        return sum_known(s->net_received_bytes_per_s, s->net_sent_bytes_per_s);
    case LOAD_BY_DISK:
        return sum_known(s->disk_read_bytes_per_s, s->disk_written_bytes_per_s);
    case LOAD_BY_TASKS:
        return s->tasks;
    default:
        return 0;
    }
}

struct sorting {
    enum load_order order;
    int sign;
};

static int compare_loads(const void *a, const void *b, void *context)
{
    const struct load *x = a, *y = b;
    const struct sorting *sorting = context;
    double p = weight(x, sorting->order), q = weight(y, sorting->order);
    if ((p < 0) != (q < 0))
        return p < 0 ? 1 : -1;
    if (p < q || p > q)
        return p < q ? sorting->sign : -sorting->sign;
    int by_name = strcmp(x->host.name, y->host.name);
    return sorting->order == LOAD_BY_HOST ? by_name * sorting->sign : by_name;
}

void load_sort(struct load_list *list, enum load_order order, bool reverse)
{
    struct sorting sorting = {.order = order, .sign = reverse ? -1 : 1};
    if (list->count > 1)
        qsort_r(list->rows, (size_t)list->count, sizeof *list->rows, compare_loads, &sorting);
}

/* ---- cells ---- */

void load_print_bytes(double bytes, char cell[LOAD_CELL_BYTES])
{
    static const char units[] = " KMGTPE";
    int unit = 0;
    for (; bytes >= 999.5 && unit < 6; unit++)
        bytes /= 1024;
    if (bytes < 0)
        snprintf(cell, LOAD_CELL_BYTES, "-");
    else if (unit == 0)
        snprintf(cell, LOAD_CELL_BYTES, "%.0f", bytes);
    else
        snprintf(cell, LOAD_CELL_BYTES, "%.*f%c", bytes < 9.95 ? 1 : 0, bytes, units[unit]);
}

static void print_number(double value, int digits, char cell[LOAD_CELL_BYTES])
{
    if (value < 0)
        snprintf(cell, LOAD_CELL_BYTES, "-");
    else
        snprintf(cell, LOAD_CELL_BYTES, "%.*f", digits, value);
}

/* Without a thousandth of what does not fit: interrupts and context switches. */
static void print_count(double value, char cell[LOAD_CELL_BYTES])
{
    if (value >= 99999.5)
        snprintf(cell, LOAD_CELL_BYTES, "%.0fk", value / 1000);
    else
        print_number(value, 0, cell);
}

static void print_host(const struct load *row, char cell[LOAD_CELL_BYTES])
{
    snprintf(cell, LOAD_CELL_BYTES, "%s", row->host.name);
}

static void print_state(const struct load *row, char cell[LOAD_CELL_BYTES])
{
    static const char *const names[] = {[COVEY_HOST_JOINING] = "joining",
                                        [COVEY_HOST_UP] = "up",
                                        [COVEY_HOST_SUSPECT] = "suspect",
                                        [COVEY_HOST_DOWN] = "down"};
    int state = row->host.state;
    bool known = state >= COVEY_HOST_JOINING && state <= COVEY_HOST_DOWN;
    snprintf(cell, LOAD_CELL_BYTES, "%s", known ? names[state] : "?");
}

static void print_cores(const struct load *row, char cell[LOAD_CELL_BYTES])
{
    if (row->stat.cores > 0)
        snprintf(cell, LOAD_CELL_BYTES, "%.3g", row->stat.cores);
    else
        snprintf(cell, LOAD_CELL_BYTES, "%d", (int)row->host.cores);
}

static void print_memory(const struct load *row, char cell[LOAD_CELL_BYTES])
{
    const struct covey_host_stat *s = &row->stat;
    print_number(s->memory_total_bytes > 0 ? s->memory_used_bytes / s->memory_total_bytes * 100
                                           : -1,
                 0, cell);
}

/* A cell that one of the functions above prints. */
#define PRINT(name, function, ...)                                                                 \
    static void print_##name(const struct load *row, char cell[LOAD_CELL_BYTES])                   \
    {                                                                                              \
        function(row->stat.__VA_ARGS__, cell);                                                     \
    }
PRINT(cpu, print_number, cpu_busy * 100, 0)
PRINT(wait, print_number, cpu_pressure * 100, 0)
PRINT(load, print_number, load_1m, 2)
PRINT(load_15m, print_number, load_15m, 2)
PRINT(free, load_print_bytes, memory_free_bytes)
PRINT(total, load_print_bytes, memory_total_bytes)
PRINT(received, load_print_bytes, net_received_bytes_per_s)
PRINT(sent, load_print_bytes, net_sent_bytes_per_s)
PRINT(read, load_print_bytes, disk_read_bytes_per_s)
PRINT(written, load_print_bytes, disk_written_bytes_per_s)
PRINT(interrupts, print_count, interrupts_per_s)
PRINT(switches, print_count, switches_per_s)
PRINT(tasks, print_number, tasks, 0)
PRINT(faults, print_count, major_faults_per_s)
PRINT(memory_wait, print_number, memory_pressure * 100, 0)
PRINT(disk, print_number, disk_busy * 100, 0)
PRINT(interrupting, print_number, interrupt_busy * 100, 0)

static void print_swap(const struct load *row, char cell[LOAD_CELL_BYTES])
{
    load_print_bytes(sum_known(row->stat.swap_in_bytes_per_s, row->stat.swap_out_bytes_per_s),
                     cell);
}

/* Whoever pages gets no tasks. */
static void print_pages(const struct load *row, char cell[LOAD_CELL_BYTES])
{
    snprintf(cell, LOAD_CELL_BYTES, "%s",
             !row->stat.known               ? "-"
             : covey_host_pages(&row->stat) ? "yes"
                                            : "no");
}

const struct load_column load_columns[] = {
    {"HOST", 14, 100, true, print_host},       {"STATE", 7, 50, true, print_state},
    {"CORES", 5, 40, false, print_cores},      {"CPU%", 4, 99, false, print_cpu},
    {"WAIT%", 5, 30, false, print_wait},       {"LOAD", 6, 98, false, print_load},
    {"15MIN", 6, 20, false, print_load_15m},   {"MEM%", 4, 97, false, print_memory},
    {"FREE", 5, 90, false, print_free},        {"TOTAL", 5, 25, false, print_total},
    {"NET-IN", 6, 96, false, print_received},  {"NET-OUT", 7, 96, false, print_sent},
    {"DISK-R", 6, 95, false, print_read},      {"DISK-W", 6, 95, false, print_written},
    {"INT/S", 6, 35, false, print_interrupts}, {"CTX/S", 6, 15, false, print_switches},
    {"DISK%", 5, 9, false, print_disk},        {"INT%", 4, 8, false, print_interrupting},
    {"PAGES", 5, 37, false, print_pages},      {"SWAP", 5, 12, false, print_swap},
    {"FLT/S", 6, 10, false, print_faults},     {"MWAIT%", 6, 11, false, print_memory_wait},
    {"TASKS", 5, 97, false, print_tasks},
};
const size_t load_column_count = sizeof load_columns / sizeof load_columns[0];

/* ---- layout ---- */

/* The column worth most of those that are not shown and fit; -1: none does. */
static int best_left(int room, const bool *shown)
{
    int best = -1;
    for (size_t i = 0; i < load_column_count; i++) {
        const struct load_column *c = &load_columns[i];
        if (!shown[i] && c->width + 1 <= room && (best < 0 || c->worth > load_columns[best].worth))
            best = (int)i;
    }
    return best;
}

void load_layout(int width, bool *shown)
{
    int room = width - load_columns[0].width, next;
    for (size_t i = 0; i < load_column_count; i++)
        shown[i] = i == 0;
    while ((next = best_left(room, shown)) >= 0) {
        shown[next] = true;
        room -= load_columns[next].width + 1;
    }
}
