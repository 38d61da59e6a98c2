/*
 * load.c - the hosts with their load for `covey top`: asked for, sorted by any column, and put
 * into short texts.
 */
#include "tools/top/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void print_host(const void *of, char *cell)
{
    const struct load *row = of;
    snprintf(cell, COLUMN_CELL_BYTES, "%s", row->host.name);
}

static void print_state(const void *of, char *cell)
{
    const struct load *row = of;
    static const char *const names[] = {[COVEY_HOST_JOINING] = "joining",
                                        [COVEY_HOST_UP] = "up",
                                        [COVEY_HOST_SUSPECT] = "suspect",
                                        [COVEY_HOST_DOWN] = "down"};
    int state = row->host.state;
    bool known = state >= COVEY_HOST_JOINING && state <= COVEY_HOST_DOWN;
    snprintf(cell, COLUMN_CELL_BYTES, "%s", known ? names[state] : "?");
}

static void print_cores(const void *of, char *cell)
{
    const struct load *row = of;
    if (row->stat.cores > 0)
        snprintf(cell, COLUMN_CELL_BYTES, "%.3g", row->stat.cores);
    else
        snprintf(cell, COLUMN_CELL_BYTES, "%d", (int)row->host.cores);
}

static void print_memory(const void *of, char *cell)
{
    const struct load *row = of;
    const struct covey_host_stat *s = &row->stat;
    column_number(s->memory_total_bytes > 0 ? s->memory_used_bytes / s->memory_total_bytes * 100
                                            : -1,
                  0, cell);
}

/* A cell that one of the functions above prints. */
#define PRINT(name, function, ...)                                                                 \
    static void print_##name(const void *of, char *cell)                                           \
    {                                                                                              \
        const struct load *row = of;                                                               \
        function(row->stat.__VA_ARGS__, cell);                                                     \
    }
PRINT(cpu, column_number, cpu_busy * 100, 0)
PRINT(wait, column_number, cpu_pressure * 100, 0)
PRINT(load, column_number, load_1m, 2)
PRINT(load_15m, column_number, load_15m, 2)
PRINT(free, column_bytes, memory_free_bytes)
PRINT(total, column_bytes, memory_total_bytes)
PRINT(received, column_bytes, net_received_bytes_per_s)
PRINT(sent, column_bytes, net_sent_bytes_per_s)
PRINT(read, column_bytes, disk_read_bytes_per_s)
PRINT(written, column_bytes, disk_written_bytes_per_s)
PRINT(interrupts, column_count, interrupts_per_s)
PRINT(switches, column_count, switches_per_s)
PRINT(tasks, column_number, tasks, 0)
PRINT(faults, column_count, major_faults_per_s)
PRINT(memory_wait, column_number, memory_pressure * 100, 0)
PRINT(disk, column_number, disk_busy * 100, 0)
PRINT(interrupting, column_number, interrupt_busy * 100, 0)

static void print_swap(const void *of, char *cell)
{
    const struct load *row = of;
    column_bytes(sum_known(row->stat.swap_in_bytes_per_s, row->stat.swap_out_bytes_per_s), cell);
}

/* Whoever pages gets no tasks. */
static void print_pages(const void *of, char *cell)
{
    const struct load *row = of;
    snprintf(cell, COLUMN_CELL_BYTES, "%s",
             !row->stat.known               ? "-"
             : covey_host_pages(&row->stat) ? "yes"
                                            : "no");
}

static const struct column list[] = {
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
const struct columns load_columns = {list, sizeof list / sizeof list[0]};
