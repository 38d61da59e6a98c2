/*
 * web_board.c - looks become rows and samples. A row is a host's or a task's from when it is first
 * seen; what ended keeps its row until something new needs it, the one that ended first going
 * first, and the samples of a row that changes hands are wiped. If there are more tasks than rows,
 * each host has as many rows as every other, as far as it has tasks.
 */
#include "tools/web/web_board.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(BOARD_HOSTS <= WEB_MATRIX_HOSTS, "each row of a host has one in the matrix");

#define EVENTS_A_LOOK 16 /* lines of the board's own */

struct board *board_create(const char *vm, int period_ms)
{
    struct board *board = calloc(1, sizeof *board);
    if (board == NULL)
        return NULL;
    snprintf(board->vm, sizeof board->vm, "%s", vm);
    board->period_ms = period_ms;
    memset(board->all, WEB_UNKNOWN, sizeof board->all);
    memset(board->host_samples, WEB_UNKNOWN, sizeof board->host_samples);
    memset(board->task_samples, WEB_UNKNOWN, sizeof board->task_samples);
    return board;
}

void board_destroy(struct board *board)
{
    if (board != NULL) {
        free(board->network);
        web_flights_end(&board->flights);
    }
    free(board);
}

__attribute__((format(printf, 3, 4))) static void add_line(struct board *board, const char *host,
                                                           const char *format, ...)
{
    struct web_line *line = &board->lines[board->line_count++ % BOARD_LINES];
    va_list words;
    snprintf(line->host, sizeof line->host, "%s", host);
    va_start(words, format);
    vsnprintf(line->text, sizeof line->text, format, words);
    va_end(words);
}

static int compare_index(const void *key, const void *host)
{
    int32_t index = *(const int32_t *)key, other = ((const struct covey_host *)host)->index;
    return (index > other) - (index < other);
}

/* The place of the host with that index in the look, -1: it is not there. */
static int find_in_look(const struct web_look *look, int32_t index)
{
    const struct covey_host *host =
        look->host_count == 0
            ? NULL
            : bsearch(&index, look->hosts, (size_t)look->host_count, sizeof *host, compare_index);
    return host == NULL ? -1 : (int)(host - look->hosts);
}

/* ---- figures as bytes ---- */

static uint8_t share_byte(double share)
{
    return share < 0 || isnan(share) ? WEB_UNKNOWN : (uint8_t)lround((share > 1 ? 1 : share) * 200);
}

static void put_tasks(uint8_t *bytes, double tasks)
{
    int n = tasks < 0 || isnan(tasks) ? 65535 : (int)(tasks > 65534 ? 65534 : tasks);
    bytes[BOARD_TASKS_LOW] = (uint8_t)(n & 255);
    bytes[BOARD_TASKS_HIGH] = (uint8_t)(n >> 8);
}

static double memory_share(const struct covey_host_stat *stat)
{
    return stat->memory_total_bytes > 0 ? stat->memory_used_bytes / stat->memory_total_bytes : -1;
}

static void put_host(uint8_t bytes[BOARD_HOST_BYTES], const struct covey_host_stat *stat)
{
    memset(bytes, WEB_UNKNOWN, BOARD_HOST_BYTES);
    if (!stat->known)
        return;
    bytes[BOARD_CPU] = share_byte(stat->cpu_busy);
    bytes[BOARD_MEMORY] = share_byte(memory_share(stat));
    bytes[BOARD_NET_IN] = web_rate_byte(stat->net_received_bytes_per_s);
    bytes[BOARD_NET_OUT] = web_rate_byte(stat->net_sent_bytes_per_s);
    put_tasks(bytes, stat->tasks);
}

struct mean {
    double sum;
    int count;
};

static void mean_add(struct mean *mean, double value)
{
    if (value < 0 || isnan(value))
        return;
    mean->sum += value;
    mean->count++;
}

static void put_all(struct board *board, const struct web_look *look)
{
    uint8_t *bytes = board->all[board->count % BOARD_SAMPLES];
    struct mean cpu = {0}, memory = {0}, in = {0}, out = {0};
    for (int i = 0; i < look->host_count; i++) {
        const struct covey_host_stat *stat = &look->stats[i];
        if (!stat->known)
            continue;
        mean_add(&cpu, stat->cpu_busy);
        mean_add(&memory, memory_share(stat));
        mean_add(&in, stat->net_received_bytes_per_s);
        mean_add(&out, stat->net_sent_bytes_per_s);
    }
    bytes[BOARD_CPU] = share_byte(cpu.count == 0 ? -1 : cpu.sum / cpu.count);
    bytes[BOARD_MEMORY] = share_byte(memory.count == 0 ? -1 : memory.sum / memory.count);
    bytes[BOARD_NET_IN] = web_rate_byte(in.count == 0 ? -1 : in.sum);
    bytes[BOARD_NET_OUT] = web_rate_byte(out.count == 0 ? -1 : out.sum);
    put_tasks(bytes, look->host_count == 0 ? -1 : look->task_count + look->tasks_left_out);
}

/* ---- hosts ---- */

/* A row for something new: one that was never used, or else the one that ended first. -1: none. */
static int row_for_host(struct board *board)
{
    int oldest = -1;
    if (board->hosts_used < BOARD_HOSTS)
        return board->hosts_used++;
    for (int i = 0; i < BOARD_HOSTS; i++)
        if (board->hosts[i].last < board->count &&
            (oldest < 0 || board->hosts[i].last < board->hosts[oldest].last))
            oldest = i;
    for (int s = 0; oldest >= 0 && s < BOARD_SAMPLES; s++)
        memset(board->host_samples[s][oldest], WEB_UNKNOWN, BOARD_HOST_BYTES);
    if (oldest >= 0)
        web_matrix_forget(&board->matrix, oldest);
    return oldest;
}

static int find_host(const struct board *board, const struct covey_host *host)
{
    for (int i = 0; i < board->hosts_used; i++)
        if (board->hosts[i].is.index == host->index &&
            board->hosts[i].is.incarnation == host->incarnation)
            return i;
    return -1;
}

static void tell_host(struct board *board, const struct covey_host *host)
{
    static const char *const states[] = {[COVEY_HOST_JOINING] = "is joining",
                                         [COVEY_HOST_UP] = "is there",
                                         [COVEY_HOST_SUSPECT] = "does not answer",
                                         [COVEY_HOST_DOWN] = "is down"};
    if (board->count > 0 && host->state >= COVEY_HOST_JOINING && host->state <= COVEY_HOST_DOWN)
        add_line(board, host->name, "the host %s", states[host->state]);
}

static void take_host(struct board *board, const struct covey_host *host,
                      const struct covey_host_stat *stat)
{
    int i = find_host(board, host);
    bool fresh = i < 0;
    if (fresh && host->state == COVEY_HOST_DOWN)
        return; /* it was down before anybody looked */
    if (fresh)
        i = row_for_host(board);
    if (i < 0) {
        board->hosts_left_out++;
        return;
    }
    struct board_host *row = &board->hosts[i];
    struct board_host now = *row;
    now.used = true;
    now.last = board->count + 1;
    now.is = *host;
    if (stat->known) {
        now.pages = covey_host_pages(stat) == 1;
        now.cores = stat->cores > 0 ? stat->cores : host->cores;
        now.memory_bytes = stat->memory_total_bytes;
        now.net_rate = stat->net_rate_bytes_per_s;
    }
    if (fresh || row->is.state != now.is.state)
        tell_host(board, host);
    board->changed[i] = fresh || row->is.state != now.is.state || row->pages != now.pages ||
                        fabs(row->cores - now.cores) > 0.001 ||
                        fabs(row->memory_bytes - now.memory_bytes) > 1e6 ||
                        fabs(row->net_rate - now.net_rate) > 1e3;
    *row = now;
    put_host(board->host_samples[board->count % BOARD_SAMPLES][i], stat);
}

static void take_hosts(struct board *board, const struct web_look *look)
{
    memset(board->host_samples[board->count % BOARD_SAMPLES], WEB_UNKNOWN,
           sizeof board->host_samples[0]);
    board->host_count = 0;
    board->hosts_left_out = 0;
    for (int i = 0; i < look->host_count; i++) {
        board->host_count += look->hosts[i].state != COVEY_HOST_DOWN;
        take_host(board, &look->hosts[i], &look->stats[i]);
    }
    for (int i = 0; i < board->hosts_used; i++) {
        struct board_host *row = &board->hosts[i];
        if (row->last > board->count || look->host_count == 0 || row->is.state == COVEY_HOST_DOWN)
            continue;
        row->is.state = COVEY_HOST_DOWN; /* it is no more in the list */
        board->changed[i] = true;
        tell_host(board, &row->is);
    }
    put_all(board, look);
}

/* ---- tasks ---- */

/* The tasks of a look, by tid, and which of them have a row. */
struct roll {
    const struct web_look *look;
    const struct covey_task **tasks;
    bool *shown;
    int *rows; /* by host of the look: how many rows its tasks have */
    int fresh; /* rows that went over to something new */
    int events;
};

static int compare_tids(const void *a, const void *b)
{
    covey_tid_t x = (*(const struct covey_task *const *)a)->tid;
    covey_tid_t y = (*(const struct covey_task *const *)b)->tid;
    return (x > y) - (x < y);
}

static int roll_find(const struct roll *roll, covey_tid_t tid)
{
    const struct covey_task wanted = {.tid = tid}, *key = &wanted;
    const struct covey_task **found =
        roll->look->task_count == 0 ? NULL
                                    : bsearch(&key, roll->tasks, (size_t)roll->look->task_count,
                                              sizeof *found, compare_tids);
    return found == NULL ? -1 : (int)(found - roll->tasks);
}

static void tell_task(struct board *board, struct roll *roll, const struct board_task *row)
{
    if (board->count == 0 || ++roll->events > EVENTS_A_LOOK)
        return;
    if (row->ended)
        add_line(board, row->host, "task t%x ended", (unsigned)row->is.tid);
    else
        add_line(board, row->host, "task t%x began: %s", (unsigned)row->is.tid, row->is.command);
}

/* Whether the hosts of the look say that a task which is not in it has ended. */
static bool is_silent(const struct web_look *look, int32_t host)
{
    int i = find_in_look(look, host);
    return look->host_count == 0 || (i >= 0 && look->hosts[i].state != COVEY_HOST_UP &&
                                     look->hosts[i].state != COVEY_HOST_DOWN);
}

/* A task of the look has the row from now on, or goes on to have it. */
static void put_task(struct board_task *row, const struct roll *roll, const struct covey_task *task,
                     uint8_t *sample)
{
    const struct covey_task_stat *does = &roll->look->task_stats[task - roll->look->tasks];
    struct work_rates rates;
    work_rates(row->used ? &row->did : NULL, does, &rates);
    *sample = web_task_byte(task->state, &rates);
    web_figures(does, &rates, row->figures);
    row->used = true;
    row->is = *task;
    row->did = *does;
}

static void keep_task(struct board *board, struct roll *roll, int i, int at, uint8_t *sample)
{
    struct board_task *row = &board->tasks[i];
    const struct covey_task *task = roll->tasks[at];
    int host = find_in_look(roll->look, task->host);
    roll->shown[at] = true;
    if (host >= 0)
        roll->rows[host]++;
    board->changed[BOARD_HOSTS + i] = strcmp(row->is.command, task->command) != 0;
    row->last = board->count + 1;
    put_task(row, roll, task, sample);
}

static void end_task(struct board *board, struct roll *roll, int i)
{
    board->tasks[i].ended = true;
    board->changed[BOARD_HOSTS + i] = true;
    tell_task(board, roll, &board->tasks[i]);
}

/* The tasks that have a row already; a tid may be another task's in a VM that was started anew. */
static void follow_tasks(struct board *board, struct roll *roll, uint8_t *sample)
{
    for (int i = 0; i < board->tasks_used; i++) {
        const struct board_task *row = &board->tasks[i];
        int at = row->ended ? -1 : roll_find(roll, row->is.tid);
        sample[i] = WEB_TASK_ENDED;
        if (at >= 0 && (row->is.pid == 0 || row->is.pid == roll->tasks[at]->pid)) {
            keep_task(board, roll, i, at, &sample[i]);
        } else if (at < 0 && !row->ended && is_silent(roll->look, row->is.host)) {
            sample[i] = WEB_TASK_SILENT;
        } else if (!row->ended) {
            end_task(board, roll, i);
        }
    }
}

static int row_for_task(struct board *board, struct roll *roll)
{
    int oldest = -1;
    if (board->tasks_used < BOARD_TASKS)
        return board->tasks_used++;
    if (roll->fresh == BOARD_NEW_ROWS)
        return -1;
    for (int i = 0; i < BOARD_TASKS; i++)
        if (board->tasks[i].ended &&
            (oldest < 0 || board->tasks[i].last < board->tasks[oldest].last))
            oldest = i;
    if (oldest < 0)
        return -1;
    for (int s = 0; s < BOARD_SAMPLES; s++)
        board->task_samples[s][oldest] = WEB_UNKNOWN;
    roll->fresh++;
    return oldest;
}

/* New tasks of hosts that have less than `quota` rows. */
static void add_tasks(struct board *board, struct roll *roll, uint8_t *sample, int quota)
{
    for (int at = 0, i; at < roll->look->task_count; at++) {
        const struct covey_task *task = roll->tasks[at];
        int host = find_in_look(roll->look, task->host);
        if (roll->shown[at] || (host >= 0 && roll->rows[host] >= quota))
            continue;
        if ((i = row_for_task(board, roll)) < 0)
            return;
        struct board_task *row = &board->tasks[i];
        *row = (struct board_task){.first = board->count, .last = board->count + 1};
        snprintf(row->host, sizeof row->host, "%s", host < 0 ? "?" : roll->look->hosts[host].name);
        roll->shown[at] = true;
        if (host >= 0)
            roll->rows[host]++;
        board->changed[BOARD_HOSTS + i] = true;
        put_task(row, roll, task, &sample[i]);
        tell_task(board, roll, row);
    }
}

static void take_tasks(struct board *board, const struct web_look *look)
{
    uint8_t *sample = board->task_samples[board->count % BOARD_SAMPLES];
    size_t n = (size_t)look->task_count + 1, hosts = (size_t)look->host_count + 1;
    struct roll roll = {.look = look,
                        .tasks = calloc(n, sizeof *roll.tasks),
                        .shown = calloc(n, sizeof *roll.shown),
                        .rows = calloc(hosts, sizeof *roll.rows)};
    memset(sample, WEB_UNKNOWN, BOARD_TASKS);
    if (roll.tasks != NULL && roll.shown != NULL && roll.rows != NULL) {
        for (int i = 0; i < look->task_count; i++)
            roll.tasks[i] = &look->tasks[i];
        qsort(roll.tasks, (size_t)look->task_count, sizeof *roll.tasks, compare_tids);
        follow_tasks(board, &roll, sample);
        add_tasks(board, &roll, sample, BOARD_TASKS / (int)hosts + 1);
        add_tasks(board, &roll, sample, BOARD_TASKS);
        board->task_count = look->task_count + look->tasks_left_out;
        board->tasks_left_out = look->tasks_left_out;
        for (int i = 0; i < look->task_count; i++)
            board->tasks_left_out += !roll.shown[i];
        if (roll.events > EVENTS_A_LOOK)
            add_line(board, "", "%d tasks more began or ended", roll.events - EVENTS_A_LOOK);
    }
    free(roll.tasks);
    free(roll.shown);
    free(roll.rows);
}

/* ---- bags, locks, the network, lines ---- */

static double bag_rate(const struct board *board, const struct covey_bag_info *now)
{
    for (int i = 0; i < board->bags.count; i++) {
        const struct covey_bag_info *before = &board->bags.rows[i].is;
        if (strcmp(before->name, now->name) == 0 && before->done <= now->done)
            return (double)(now->done - before->done) * 1000 / board->period_ms;
    }
    return -1;
}

static void take_bags(struct board *board, const struct web_look *look)
{
    int n = look->bag_count < BOARD_BAGS ? look->bag_count : BOARD_BAGS;
    double rates[BOARD_BAGS];
    for (int i = 0; i < n; i++)
        rates[i] = bag_rate(board, &look->bags[i]);
    for (int i = 0; i < n; i++) {
        struct board_bag *row = &board->bags.rows[i];
        int host = find_in_look(look, look->bags[i].holder);
        *row = (struct board_bag){.is = look->bags[i], .rate = rates[i]};
        snprintf(row->holder, sizeof row->holder, "%s", host < 0 ? "" : look->hosts[host].name);
    }
    board->bags.count = n;
    board->bags.left_out = look->bag_count - n;
}

static void take_held(struct board *board, const struct web_look *look)
{
    int n = look->held_count < BOARD_HELD ? look->held_count : BOARD_HELD;
    if (n > 0)
        memcpy(board->held.rows, look->held, (size_t)n * sizeof *look->held);
    board->held.count = n;
    board->held.left_out = look->held_count - n;
}

/* By index of a host: the row of the one that has it now, and 1. */
#define INDEX_MAX 4096

static void take_matrix(struct board *board)
{
    uint16_t rows[INDEX_MAX] = {0};
    web_matrix_look(&board->matrix);
    for (int i = 0; i < board->hosts_used; i++) {
        const struct board_host *row = &board->hosts[i];
        if (row->is.state != COVEY_HOST_DOWN && row->is.index >= 0 && row->is.index < INDEX_MAX)
            rows[row->is.index] = (uint16_t)(i + 1);
    }
    for (int i = 0; i < board->flights.pairs; i++) {
        const struct web_flight *f = &board->flights.all[i];
        int from = covey_tid_host(f->from), to = covey_tid_host(f->to);
        if (from >= 0 && to >= 0 && from < INDEX_MAX && to < INDEX_MAX && rows[from] != 0 &&
            rows[to] != 0)
            web_matrix_add(&board->matrix, rows[from] - 1, rows[to] - 1, f->bytes);
        else
            board->matrix.left_out += f->bytes;
    }
}

static bool same_network(const struct board_network *a, const struct board_network *b)
{
    return a->node_count == b->node_count && a->link_count == b->link_count &&
           a->left_out == b->left_out &&
           memcmp(a->nodes, b->nodes, (size_t)a->node_count * sizeof *a->nodes) == 0 &&
           memcmp(a->links, b->links, (size_t)a->link_count * sizeof *a->links) == 0;
}

static void take_network(struct board *board, const struct web_look *look)
{
    if (!look->has_topology || (look->node_count == 0 && board->network == NULL))
        return;
    struct board_network *network = calloc(1, sizeof *network);
    if (network == NULL)
        return;
    int n = look->node_count < BOARD_NODES ? look->node_count : BOARD_NODES;
    network->version = board->count + 1;
    network->node_count = n;
    network->left_out = look->node_count - n;
    if (n > 0)
        memcpy(network->nodes, look->nodes, (size_t)n * sizeof *look->nodes);
    for (int i = 0; i < look->link_count && network->link_count < BOARD_NODES; i++)
        if (look->links[i].a < n && look->links[i].b < n)
            network->links[network->link_count++] = look->links[i];
    bool same = board->network != NULL && same_network(board->network, network);
    free(same ? network : board->network);
    board->network = same ? board->network : network;
}

void board_take(struct board *board, const struct web_look *look)
{
    memset(board->changed, 0, sizeof board->changed);
    snprintf(board->trouble, sizeof board->trouble, "%s", look->trouble);
    take_hosts(board, look);
    take_tasks(board, look);
    take_bags(board, look);
    take_held(board, look);
    web_waits_take(&board->waits, look);
    web_flights_take(&board->flights, look);
    take_matrix(board);
    take_network(board, look);
    for (int i = 0; i < look->line_count; i++)
        add_line(board, look->lines[i].host, "%s", look->lines[i].text);
    board->count++;
}
