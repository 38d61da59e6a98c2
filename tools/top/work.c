/*
 * work.c - what the tasks of a VM do: asked for, made rates of, filtered, and sorted by any column.
 */
#include "tools/top/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/base/tid.h"
#include "tools/list/listing.h"

/* ---- asking ---- */

void work_free(struct work_list *list)
{
    free(list->rows);
    covey_free(list->hosts);
    *list = (struct work_list){.rows = NULL};
}

static int compare_tids(const void *a, const void *b)
{
    const struct work *x = a, *y = b;
    return (x->task.tid > y->task.tid) - (x->task.tid < y->task.tid);
}

/* The earlier look at the same process; NULL: there was none. The list is sorted by tid. */
static const struct covey_task_stat *look_before(const struct work_list *before,
                                                 const struct covey_task *task)
{
    const struct work key = {.task = *task};
    const struct work *row = before->count == 0 ? NULL
                                                : bsearch(&key, before->rows, (size_t)before->count,
                                                          sizeof *before->rows, compare_tids);
    return row && row->task.pid == task->pid ? &row->stat : NULL;
}

static void rows_fill(struct work *rows, const struct work_list *before,
                      const struct covey_task_stats *all)
{
    for (int i = 0; i < all->task_count; i++) {
        struct work *row = &rows[i];
        row->task = all->tasks[i];
        row->stat = all->stats[i];
        snprintf(row->host, sizeof row->host, "%s",
                 listing_host_name(all->hosts, all->host_count, row->task.host));
        work_rates(look_before(before, &row->task), &row->stat, &row->rates);
    }
}

int work_ask(covey_t *vm, int64_t timeout_us, struct work_list *list)
{
    struct covey_task_stats all;
    int error = covey_task_stats(vm, timeout_us, WORK_TASKS_MAX, &all);
    if (error < 0)
        return error;
    struct work *rows = calloc((size_t)all.task_count + 1, sizeof *rows);
    if (rows) {
        if (list->count > 1)
            qsort(list->rows, (size_t)list->count, sizeof *list->rows, compare_tids);
        rows_fill(rows, list, &all);
        work_free(list);
        *list = (struct work_list){.rows = rows,
                                   .count = all.task_count,
                                   .shown = all.task_count,
                                   .left_out = all.left_out,
                                   .hosts = all.hosts,
                                   .host_count = all.host_count};
    } else {
        covey_free(all.hosts);
    }
    covey_free(all.tasks);
    covey_free(all.stats);
    return rows ? 0 : COVEY_ENOMEM;
}

/* ---- filtering ---- */

static bool has_text(const char *text, const char *part)
{
    size_t size = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, size) == 0)
            return true;
    return size == 0;
}

static bool passes(const struct work *row, const char *filter)
{
    char tid[TID_TEXT_BYTES], wait[COLUMN_CELL_BYTES];
    work_print_wait(&row->stat, wait);
    return has_text(row->task.command, filter) || has_text(row->host, filter) ||
           has_text(tid_format(row->task.tid, tid), filter) || has_text(wait, filter) ||
           has_text(work_state_name(row->task.state), filter);
}

static void filter_rows(struct work_list *list, const char *filter)
{
    int shown = 0;
    for (int i = 0; i < list->count; i++) {
        if (filter && filter[0] && !passes(&list->rows[i], filter))
            continue;
        struct work row = list->rows[shown];
        list->rows[shown++] = list->rows[i];
        list->rows[i] = row;
    }
    list->shown = shown;
}

/* ---- sorting ---- */

static const struct {
    int key;
    const char *name;
} orders[WORK_ORDER_COUNT] = {
#define WORK_ROW(letter, id, text) {.key = letter, .name = text},
    WORK_ORDERS(WORK_ROW)
#undef WORK_ROW
};

int work_order_of_key(int key)
{
    for (int i = 0; i < WORK_ORDER_COUNT; i++) {
        if (orders[i].key == key)
            return i;
    }
    return -1;
}

int work_order_of_name(const char *name)
{
    for (int i = 0; i < WORK_ORDER_COUNT; i++) {
        if (strcmp(orders[i].name, name) == 0)
            return i;
    }
    return -1;
}

const char *work_order_name(enum work_order order)
{
    return orders[order].name;
}

static double weight(const struct work *row, enum work_order order)
{
    const struct work_rates *r = &row->rates;
    switch (order) {
    case WORK_BY_CPU:
        return r->cpu;
    case WORK_BY_MEMORY:
        return row->stat.memory_bytes;
    case WORK_BY_COMPUTING:
        return r->computing;
    case WORK_BY_COMMUNICATING:
        return r->communicating;
    case WORK_BY_IDLE:
        return r->idle;
    case WORK_BY_MESSAGES:
        return r->sent < 0 ? -1 : r->sent + r->received;
    case WORK_BY_NETWORK:
        return r->sent_bytes < 0 ? -1 : r->sent_bytes + r->received_bytes;
    case WORK_BY_WAIT:
        return row->stat.waits == COVEY_WAITS_NOT ? -1 : row->stat.waits_s;
    default:
        return 0;
    }
}

struct sorting {
    enum work_order order;
    int sign;
};

static int compare_work(const void *a, const void *b, void *context)
{
    const struct work *x = a, *y = b;
    const struct sorting *sorting = context;
    double p = weight(x, sorting->order), q = weight(y, sorting->order);
    int by_text = sorting->order == WORK_BY_HOST      ? strcmp(x->host, y->host)
                  : sorting->order == WORK_BY_COMMAND ? strcmp(x->task.command, y->task.command)
                                                      : 0;
    if ((p < 0) != (q < 0))
        return p < 0 ? 1 : -1;
    if (p < q || p > q)
        return p < q ? sorting->sign : -sorting->sign;
    if (by_text != 0)
        return by_text * sorting->sign;
    return compare_tids(a, b) * (sorting->order == WORK_BY_TID ? sorting->sign : 1);
}

void work_sort(struct work_list *list, const char *filter, enum work_order order, bool reverse)
{
    struct sorting sorting = {.order = order, .sign = reverse ? -1 : 1};
    filter_rows(list, filter);
    if (list->shown > 1)
        qsort_r(list->rows, (size_t)list->shown, sizeof *list->rows, compare_work, &sorting);
}
