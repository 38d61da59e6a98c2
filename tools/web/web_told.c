/*
 * web_told.c - the board as events for one viewer. An event is made when the viewer can take it,
 * never before: who is slow is told less often, and nothing is queued for it. Each has a largest
 * size, for it has so many rows at most, and each text of a row has one.
 */
#include "tools/web/web_told.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/tid.h"
#include "tools/list/report.h"

#define ROWS_AN_EVENT 32
#define LINES_AN_EVENT 20
#define PAST_BYTES 9000 /* of samples in an event of the past; before base64 */
#define BEHIND_MAX 30   /* who is so many samples behind gets the newest, and a gap */

/* ---- the budget ---- */

void web_budget_begin(struct web_budget *budget, int64_t bytes_per_s, int64_t now_ms)
{
    *budget = (struct web_budget){bytes_per_s, WEB_BURST_BYTES, now_ms};
}

void web_budget_spend(struct web_budget *budget, size_t bytes)
{
    budget->left -= (int64_t)bytes;
}

int web_budget_wait(struct web_budget *budget, int64_t now_ms)
{
    int64_t more = (now_ms - budget->at_ms) * budget->bytes_per_s / 1000;
    if (more > 0) {
        budget->left += more;
        budget->at_ms = now_ms;
    }
    if (budget->left > WEB_BURST_BYTES)
        budget->left = WEB_BURST_BYTES;
    return budget->left > 0 ? 0 : (int)(-budget->left * 1000 / budget->bytes_per_s + 1);
}

/* ---- what is to be told ---- */

void web_told_begin(struct web_told *told, const struct board *board)
{
    uint64_t lines = board->line_count;
    *told = (struct web_told){.hello = true,
                              .next = board->count,
                              .past = board->count,
                              .lines = lines < BOARD_LINES ? 0 : lines - BOARD_LINES,
                              .now = true,
                              .figures = board->tasks_used > 0,
                              .waits = true,
                              .flights = board->flights.before != NULL,
                              .matrix = board->matrix.count > 0,
                              .bags = board->bags.count > 0,
                              .held = board->held.count > 0};
    for (int i = 0; i < board->hosts_used; i++)
        told->rows[i] = true;
    for (int i = 0; i < board->tasks_used; i++)
        told->rows[BOARD_HOSTS + i] = true;
}

void web_told_look(struct web_told *told, const struct board *board)
{
    for (int i = 0; i < BOARD_ROWS; i++)
        told->rows[i] = told->rows[i] || board->changed[i];
    told->now = told->waits = true;
    told->figures = board->tasks_used > 0;
    told->bags = board->bags.count > 0 || told->bags_before > 0;
    told->flights = board->flights.pairs > 0 || told->flights_before > 0;
    told->matrix = board->matrix.count > 0; /* cells go only where others come */
    told->held = board->held.count > 0 || told->held_before > 0;
}

/* ---- events ---- */

static json_t *hello_json(const struct board *board)
{
    return json_pack("{s:o,s:i,s:i,s:i,s:i,s:I}", "vm", report_text(board->vm), "period",
                     board->period_ms, "samples", BOARD_SAMPLES, "hosts", BOARD_HOSTS, "tasks",
                     BOARD_TASKS, "count", (json_int_t)board->count);
}

static json_t *host_json(int i, const struct board_host *row)
{
    return json_pack("{s:i,s:o,s:i,s:o,s:o,s:o,s:b}", "i", i, "name", report_text(row->is.name),
                     "state", (int)row->is.state, "cores", report_positive(row->cores), "memory",
                     report_positive(row->memory_bytes), "rate", report_positive(row->net_rate),
                     "pages", (int)row->pages);
}

static json_t *task_json(int i, const struct board_task *row)
{
    char tid[16], parent[16] = "";
    snprintf(tid, sizeof tid, "t%x", (unsigned)row->is.tid);
    if (row->is.parent > 0)
        snprintf(parent, sizeof parent, "t%x", (unsigned)row->is.parent);
    return json_pack("{s:i,s:s,s:s,s:o,s:o,s:I,s:b}", "i", i, "tid", tid, "parent", parent, "host",
                     report_text(row->host), "command", report_text(row->is.command), "first",
                     (json_int_t)row->first, "ended", (int)row->ended);
}

static json_t *rows_json(struct web_told *told, const struct board *board)
{
    json_t *rows = NULL;
    for (int i = 0; i < BOARD_ROWS && json_array_size(rows) < ROWS_AN_EVENT; i++) {
        if (!told->rows[i])
            continue;
        if (rows == NULL && (rows = json_array()) == NULL)
            return NULL;
        told->rows[i] = false;
        json_array_append_new(rows, i < BOARD_HOSTS ? host_json(i, &board->hosts[i])
                                                    : task_json(i, &board->tasks[i - BOARD_HOSTS]));
    }
    return rows;
}

/* Bytes of several samples, `size` of each. */
static json_t *base64_json(const uint8_t *bytes, size_t step, size_t size, uint64_t first,
                           uint64_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t all = (size_t)n * size, used = 0;
    char *text = malloc(all / 3 * 4 + 5);
    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < all; i += 3) {
        uint32_t bits = 0;
        for (size_t k = i; k < i + 3; k++) {
            size_t sample = (size_t)((first + k / (size ? size : 1)) % BOARD_SAMPLES);
            bits = bits << 8 | (k < all ? bytes[sample * step + k % size] : 0);
        }
        for (size_t k = 0; k < 4; k++)
            text[used++] = i + k > all ? '=' : digits[bits >> (18 - 6 * k) & 63];
    }
    json_t *json = json_stringn(text, used);
    free(text);
    return json;
}

static json_t *samples_json(const struct board *board, uint64_t first, uint64_t n)
{
    size_t hosts = (size_t)board->hosts_used, tasks = (size_t)board->tasks_used;
    return json_pack("{s:I,s:I,s:i,s:i,s:o,s:o,s:o}", "first", (json_int_t)first, "n",
                     (json_int_t)n, "hosts", (int)hosts, "tasks", (int)tasks, "all",
                     base64_json(board->all[0], BOARD_HOST_BYTES, BOARD_HOST_BYTES, first, n), "h",
                     base64_json(board->host_samples[0][0], sizeof board->host_samples[0],
                                 hosts * BOARD_HOST_BYTES, first, n),
                     "t", base64_json(board->task_samples[0], BOARD_TASKS, tasks, first, n));
}

static json_t *live_json(struct web_told *told, const struct board *board)
{
    if (told->next == board->count)
        return NULL;
    if (board->count - told->next > BEHIND_MAX)
        told->next = board->count - 1;
    return samples_json(board, told->next++, 1);
}

static json_t *past_json(struct web_told *told, const struct board *board)
{
    uint64_t oldest = board->count < BOARD_SAMPLES ? 0 : board->count - BOARD_SAMPLES;
    size_t size = BOARD_HOST_BYTES * (1 + (size_t)board->hosts_used) + (size_t)board->tasks_used;
    if (told->past <= oldest)
        return NULL;
    uint64_t n = told->past - oldest, most = PAST_BYTES / size + 1;
    if (n > most)
        n = most;
    told->past -= n;
    return samples_json(board, told->past, n);
}

static json_t *now_json(const struct board *board)
{
    return json_pack("{s:i,s:i,s:i,s:i,s:o}", "hosts", board->host_count, "tasks",
                     board->task_count, "hostsLeftOut", board->hosts_left_out, "tasksLeftOut",
                     board->tasks_left_out, "trouble", report_text(board->trouble));
}

static json_t *figures_json(const struct board *board)
{
    uint8_t all[BOARD_TASKS][WEB_FIGURES];
    size_t n = (size_t)board->tasks_used;
    for (size_t i = 0; i < n; i++)
        memcpy(all[i], board->tasks[i].figures, WEB_FIGURES);
    return json_pack("{s:i,s:o}", "tasks", (int)n, "f",
                     base64_json(all[0], sizeof all, n * WEB_FIGURES, 0, 1));
}

static json_t *bags_json(struct web_told *told, const struct board *board)
{
    json_t *rows = json_array();
    for (int i = 0; i < board->bags.count; i++) {
        const struct covey_bag_info *b = &board->bags.rows[i].is;
        json_array_append_new(rows, json_pack("[o,o,b,I,I,I,I,I,o]", report_text(b->name),
                                              report_text(board->bags.rows[i].holder),
                                              (int)b->closed, (json_int_t)b->put,
                                              (json_int_t)b->done, (json_int_t)b->ready,
                                              (json_int_t)b->leased, (json_int_t)b->set_aside,
                                              report_not_negative(board->bags.rows[i].rate)));
    }
    told->bags_before = board->bags.count;
    return json_pack("{s:i,s:o}", "leftOut", board->bags.left_out, "rows", rows);
}

static json_t *held_json(struct web_told *told, const struct board *board)
{
    static const char *const kinds[] = {[COVEY_HELD_LOCK] = "lock",
                                        [COVEY_HELD_TOKEN] = "token",
                                        [COVEY_HELD_RENDEZVOUS] = "rendezvous"};
    json_t *rows = json_array();
    for (int i = 0; i < board->held.count; i++) {
        const struct covey_held *held = &board->held.rows[i];
        bool known = held->kind >= COVEY_HELD_LOCK && held->kind <= COVEY_HELD_RENDEZVOUS;
        char holder[16] = "";
        if (held->holder > 0)
            snprintf(holder, sizeof holder, "t%x", (unsigned)held->holder);
        json_array_append_new(rows, json_pack("[s,o,s,i]", known ? kinds[held->kind] : "unknown",
                                              report_text(held->name), holder, (int)held->waiting));
    }
    told->held_before = board->held.count;
    return json_pack("{s:i,s:o}", "leftOut", board->held.left_out, "rows", rows);
}

static json_t *wait_json(const struct web_wait *wait)
{
    char tid[TID_TEXT_BYTES];
    return json_pack("[s,o,o,o,f]", tid_format(wait->tid, tid), report_text(wait->host),
                     report_text(wait->program), report_text(wait->what), wait->since_s);
}

static json_t *waits_json(const struct board *board)
{
    const struct web_waits *waits = &board->waits;
    json_t *rows = json_array();
    for (int i = 0; i < waits->count; i++)
        json_array_append_new(rows, wait_json(&waits->rows[i]));
    return json_pack("{s:i,s:i,s:i,s:o,s:i,s:o}", "all", waits->all, "unknown", waits->unknown,
                     "leftOut", waits->left_out, "first",
                     waits->for_first == 0 ? json_null() : wait_json(&waits->first), "forFirst",
                     waits->for_first, "rows", rows);
}

/* Of one look: it does not come twice. */
static json_t *flights_json(struct web_told *told, const struct board *board)
{
    const struct web_flights *flights = &board->flights;
    char from[TID_TEXT_BYTES], to[TID_TEXT_BYTES];
    json_t *rows = json_array();
    for (int i = 0; i < flights->count; i++) {
        const struct web_flight *f = &flights->rows[i];
        json_array_append_new(rows, json_pack("[s,s,f,f]", tid_format(f->from, from),
                                              tid_format(f->to, to), (double)f->messages,
                                              (double)f->bytes));
    }
    told->flights_before = flights->pairs;
    return json_pack("{s:i,s:f,s:f,s:b,s:o}", "pairs", flights->pairs, "messages",
                     (double)flights->messages, "bytes", (double)flights->bytes, "leftOut",
                     (int)flights->some_left_out, "rows", rows);
}

static json_t *matrix_json(const struct board *board)
{
    enum { CELL_BYTES = 4 };
    const struct web_matrix *matrix = &board->matrix;
    uint8_t all[WEB_MATRIX_CELLS][CELL_BYTES];
    for (int i = 0; i < matrix->count; i++) {
        const struct web_cell *cell = &matrix->cells[i];
        all[i][0] = cell->from;
        all[i][1] = cell->to;
        all[i][2] = web_rate_byte((double)cell->now * 1000 / board->period_ms);
        all[i][3] = web_rate_byte((double)cell->all);
    }
    return json_pack("{s:i,s:o,s:f}", "cells", matrix->count, "c",
                     base64_json(all[0], sizeof all, (size_t)matrix->count * CELL_BYTES, 0, 1),
                     "leftOut", (double)matrix->left_out);
}

static json_t *lines_json(struct web_told *told, const struct board *board)
{
    uint64_t oldest = board->line_count < BOARD_LINES ? 0 : board->line_count - BOARD_LINES, lost;
    if (told->lines == board->line_count)
        return NULL;
    lost = told->lines < oldest ? oldest - told->lines : 0;
    told->lines += lost;
    json_t *rows = json_array();
    for (int n = 0; n < LINES_AN_EVENT && told->lines < board->line_count; n++, told->lines++) {
        const struct web_line *line = &board->lines[told->lines % BOARD_LINES];
        json_array_append_new(rows,
                              json_pack("[o,o]", report_text(line->host), report_text(line->text)));
    }
    return json_pack("{s:I,s:o}", "leftOut", (json_int_t)lost, "rows", rows);
}

static json_t *network_json(struct web_told *told, const struct board *board)
{
    const struct board_network *network = board->network;
    if (network == NULL || told->network == network->version)
        return NULL;
    told->network = network->version;
    json_t *nodes = json_array(), *links = json_array();
    for (int i = 0; i < network->node_count; i++)
        json_array_append_new(nodes, json_pack("[o,b]", report_text(network->nodes[i].name),
                                               (int)network->nodes[i].is_switch));
    for (int i = 0; i < network->link_count; i++)
        json_array_append_new(links, json_pack("[i,i,I]", (int)network->links[i].a,
                                               (int)network->links[i].b,
                                               (json_int_t)network->links[i].rate_bps));
    return json_pack("{s:i,s:o,s:o}", "leftOut", network->left_out, "nodes", nodes, "links", links);
}

/* ---- the next one ---- */

/* JSON of ASCII has no line end in it: it is one line of data. */
static char *event_text(const char *name, json_t *json, size_t *size)
{
    char *data = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
    char *text = NULL;
    int n = data == NULL ? -1 : asprintf(&text, "event: %s\ndata: %s\n\n", name, data);
    json_decref(json);
    free(data);
    *size = n < 0 ? 0 : (size_t)n;
    return n < 0 ? NULL : text;
}

static bool take(bool *flag)
{
    bool was = *flag;
    *flag = false;
    return was;
}

char *web_told_next(struct web_told *told, const struct board *board, size_t *size)
{
    json_t *json;
    if (take(&told->hello))
        return event_text("hello", hello_json(board), size);
    if ((json = rows_json(told, board)) != NULL)
        return event_text("rows", json, size);
    if ((json = live_json(told, board)) != NULL)
        return event_text("samples", json, size);
    if (take(&told->now))
        return event_text("now", now_json(board), size);
    if (take(&told->waits))
        return event_text("waits", waits_json(board), size);
    if (take(&told->flights))
        return event_text("flights", flights_json(told, board), size);
    if (take(&told->matrix))
        return event_text("matrix", matrix_json(board), size);
    if (take(&told->figures))
        return event_text("figures", figures_json(board), size);
    if (take(&told->bags))
        return event_text("bags", bags_json(told, board), size);
    if (take(&told->held))
        return event_text("held", held_json(told, board), size);
    if ((json = network_json(told, board)) != NULL)
        return event_text("network", json, size);
    if ((json = lines_json(told, board)) != NULL)
        return event_text("lines", json, size);
    if ((json = past_json(told, board)) != NULL)
        return event_text("samples", json, size);
    return NULL;
}
