/* links: tests/tool/web_feed.c tools/web/web_board.c tools/web/web_work.c tools/web/web_waits.c tools/web/web_flights.c tools/web/web_matrix.c tools/top/work_rates.c tools/top/work_columns.c tools/list/columns.c tools/list/table.c tools/base/tid.c tools/web/web_told.c tools/web/web_door.c tools/list/report_value.c proto/http/http.c libcovey -ljansson */
/*
 * tool_web_test.c - the live page without sockets: who may have it, what is kept of looks, what a
 * viewer is told of it, and how much in a second.
 */
#include <CUnit/CUnit.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tool/web_feed.h"
#include "tests/unit/runner.h"
#include "tools/web/web_door.h"
#include "tools/web/web_told.h"

#define HOSTILE "</script><img src=x onerror=alert(1)>\n\ndata: \"\xff"

/* ---- the door ---- */

#define TOKEN "0123456789abcdef0123456789abcdef"

static enum http_verdict judge(const char *target, const char *host)
{
    char text[HTTP_REQUEST_MAX];
    enum web_wish wish;
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, host);
    return web_door_judge(TOKEN, text, strlen(text), &wish);
}

static void the_token_opens(void)
{
    const char *page = "GET /?token=" TOKEN " HTTP/1.1\r\nHost: [::1]:80\r\n\r\n";
    const char *events = "GET /events?a&token=" TOKEN "&b HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n";
    enum web_wish wish;
    CU_ASSERT_EQUAL(web_door_judge(TOKEN, page, strlen(page), &wish), HTTP_GET);
    CU_ASSERT_EQUAL(wish, WEB_PAGE);
    CU_ASSERT_EQUAL(web_door_judge(TOKEN, events, strlen(events), &wish), HTTP_GET);
    CU_ASSERT_EQUAL(wish, WEB_EVENTS);
    CU_ASSERT_EQUAL(judge("/other?token=" TOKEN, "localhost"), HTTP_NOT_FOUND);
}

static void nothing_else_opens(void)
{
    static const char *const targets[] = {"/",
                                          "/events",
                                          "/?token=",
                                          "/?token=" TOKEN "0",
                                          "/?" TOKEN,
                                          "/?Token=" TOKEN,
                                          "/?xtoken=" TOKEN,
                                          "/?token=0" TOKEN,
                                          "/?token",
                                          "/?token=0123456789abcdef0123456789abcdee",
                                          "/?a&b&&",
                                          "/other"};
    const char *post = "POST /?token=" TOKEN " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const char *head = "HEAD /?token=" TOKEN " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const char *none = "GET /?token=" TOKEN " HTTP/1.0\r\n\r\n";
    enum web_wish wish;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        CU_ASSERT_EQUAL(judge(targets[i], "localhost"), HTTP_FORBIDDEN);
    CU_ASSERT_EQUAL(web_door_judge(TOKEN, post, strlen(post), &wish), HTTP_METHOD);
    CU_ASSERT_EQUAL(web_door_judge(TOKEN, head, strlen(head), &wish), HTTP_METHOD);
    CU_ASSERT_EQUAL(web_door_judge(TOKEN, none, strlen(none), &wish), HTTP_FORBIDDEN);
}

static void hosts_are_addresses(void)
{
    static const char *const good[] = {"127.0.0.1",  "127.0.0.1:80", "localhost", "LocalHost:12345",
                                       "[::1]:8080", "[fe80::1]",    "10.1.2.3:1"};
    static const char *const bad[] = {"",
                                      "evil.example",
                                      "evil.example:80",
                                      "127.0.0.1.evil",
                                      "127.0.0.1:",
                                      "::1",
                                      "[::1",
                                      "[::1]x",
                                      "localhost.",
                                      "127.0.0.1:1x",
                                      "127.0.0.1:123456",
                                      "[127.0.0.1]"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CU_ASSERT_EQUAL(judge("/?token=" TOKEN, good[i]), HTTP_GET);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bool empty_port = strcmp(bad[i], "127.0.0.1:") == 0; /* RFC 3986 allows one */
        CU_ASSERT_EQUAL(judge("/?token=" TOKEN, bad[i]), empty_port ? HTTP_GET : HTTP_FORBIDDEN);
    }
}

static void tokens_differ(void)
{
    char a[WEB_TOKEN_BYTES], b[WEB_TOKEN_BYTES];
    web_token_make(a);
    web_token_make(b);
    CU_ASSERT_EQUAL(strlen(a), WEB_TOKEN_BYTES - 1);
    CU_ASSERT_STRING_NOT_EQUAL(a, b);
}

/* ---- the board ---- */

static void take(struct board *board, const struct web_feed *feed, int number)
{
    struct web_look *look = web_feed_look(feed, number);
    board_take(board, look);
    web_feed_free(look);
}

static int rows_alive(const struct board *board)
{
    int n = 0;
    for (int i = 0; i < board->tasks_used; i++)
        n += !board->tasks[i].ended;
    return n;
}

static void a_look_becomes_a_sample(void)
{
    const struct web_feed feed = {.hosts = 3, .tasks = 2};
    struct board *board = board_create("vm", 2000);
    take(board, &feed, 0);
    CU_ASSERT_EQUAL(board->count, 1);
    CU_ASSERT_EQUAL(board->hosts_used, 3);
    CU_ASSERT_EQUAL(board->tasks_used, 6);
    CU_ASSERT_EQUAL(board->host_samples[0][0][BOARD_CPU], 100);
    CU_ASSERT_EQUAL(board->host_samples[0][0][BOARD_MEMORY], 50);
    CU_ASSERT_EQUAL(board->host_samples[0][0][BOARD_TASKS_LOW], 2);
    CU_ASSERT_EQUAL(board->all[0][BOARD_TASKS_LOW], 6);
    CU_ASSERT_EQUAL(board->host_samples[0][3][BOARD_CPU], WEB_UNKNOWN);
    CU_ASSERT_TRUE(board->task_samples[0][5] >= WEB_TASK_SHARES);
    CU_ASSERT_EQUAL(board->task_samples[0][6], WEB_UNKNOWN);
    CU_ASSERT_EQUAL(board->hosts_left_out + board->tasks_left_out, 0);
    board_destroy(board);
}

static void what_is_gone_has_ended(void)
{
    const struct web_feed two = {.hosts = 2, .tasks = 1}, one = {.hosts = 1, .tasks = 1};
    struct web_look silent = {.trouble = "no answer"};
    struct board *board = board_create("vm", 2000);
    take(board, &two, 0);
    board_take(board, &silent);
    CU_ASSERT_EQUAL(board->task_samples[1][0], WEB_TASK_SILENT);
    CU_ASSERT_EQUAL(board->host_samples[1][0][BOARD_CPU], WEB_UNKNOWN);
    CU_ASSERT_EQUAL(board->hosts[1].is.state, COVEY_HOST_UP);
    take(board, &one, 2);
    CU_ASSERT_EQUAL(board->hosts[1].is.state, COVEY_HOST_DOWN);
    CU_ASSERT_TRUE(board->changed[1]);
    CU_ASSERT_TRUE(board->task_samples[2][0] >= WEB_TASK_SHARES);
    CU_ASSERT_EQUAL(board->task_samples[2][1], WEB_TASK_ENDED);
    board_destroy(board);
}

static void a_tid_that_is_another_tasks(void)
{
    const struct web_feed feed = {.hosts = 1, .tasks = 1};
    struct board *board = board_create("vm", 2000);
    for (int n = 0; n < 3; n++) {
        struct web_look *look = web_feed_look(&feed, n);
        look->tasks->pid = n == 0 ? 0 : n + 100; /* of a task that starts, it is not known yet */
        board_take(board, look);
        web_feed_free(look);
    }
    CU_ASSERT_EQUAL(board->tasks_used, 2);
    CU_ASSERT_TRUE(board->tasks[0].ended);
    CU_ASSERT_FALSE(board->tasks[1].ended);
    board_destroy(board);
}

static void a_host_that_does_not_answer_keeps_its_tasks(void)
{
    const struct web_feed feed = {.hosts = 2, .tasks = 3};
    struct board *board = board_create("vm", 2000);
    take(board, &feed, 48);
    take(board, &feed, 49); /* node00 is silent */
    CU_ASSERT_EQUAL(board->hosts[0].is.state, COVEY_HOST_SUSPECT);
    CU_ASSERT_EQUAL(rows_alive(board), 6);
    take(board, &feed, 50);
    CU_ASSERT_EQUAL(rows_alive(board), 6);
    CU_ASSERT_EQUAL(board->tasks_used, 6);
    board_destroy(board);
}

static void more_than_fits_is_counted(void)
{
    const struct web_feed feed = {.hosts = 300, .tasks = 20};
    struct board *board = board_create("vm", 2000);
    int least = BOARD_TASKS, most = 0, rows[300] = {0};
    take(board, &feed, 0);
    CU_ASSERT_EQUAL(board->host_count, 300);
    CU_ASSERT_EQUAL(board->hosts_left_out, 300 - BOARD_HOSTS);
    CU_ASSERT_EQUAL(board->tasks_left_out, 6000 - BOARD_TASKS);
    for (int i = 0; i < BOARD_TASKS; i++)
        rows[board->tasks[i].is.host - 1]++;
    for (int i = 0; i < 256; i++) {
        least = rows[i] < least ? rows[i] : least;
        most = rows[i] > most ? rows[i] : most;
    }
    CU_ASSERT_TRUE(least >= 1);
    CU_ASSERT_EQUAL(board->network->left_out, 0);
    board_destroy(board);
}

static void rows_change_hands_in_turn(void)
{
    const struct web_feed feed = {.hosts = 10, .tasks = 40, .churn = 100};
    struct board *board = board_create("vm", 2000);
    for (int n = 0; n < 3 * BOARD_SAMPLES; n++) {
        int new = 0;
        bool full = board->tasks_used == BOARD_TASKS;
        take(board, &feed, n);
        for (int i = 0; i < BOARD_TASKS; i++)
            new += board->changed[BOARD_HOSTS + i] && board->tasks[i].first == board->count - 1;
        CU_ASSERT_TRUE(!full || new <= BOARD_NEW_ROWS);
    }
    CU_ASSERT_EQUAL(board->tasks_used, BOARD_TASKS);
    for (int i = 0; i < BOARD_TASKS; i++)
        for (int s = 0; s < BOARD_SAMPLES; s++) {
            uint64_t q = board->count - BOARD_SAMPLES + (uint64_t)s;
            if (q < board->tasks[i].first)
                CU_ASSERT_EQUAL_FATAL(board->task_samples[q % BOARD_SAMPLES][i], WEB_UNKNOWN);
        }
    board_destroy(board);
}

/* ---- what tasks do ---- */

static uint8_t byte_of(double computing, double communicating, double cpu)
{
    const struct work_rates rates = {
        .computing = computing, .communicating = communicating, .cpu = cpu};
    return web_task_byte(COVEY_TASK_RUNNING, &rates);
}

static void shares_are_a_byte(void)
{
    bool seen[256] = {false};
    for (int c = 0; c <= 20; c++)
        for (int m = 0; m + c <= 20; m++) {
            uint8_t byte = byte_of(c / 20.0, m / 20.0, 1);
            CU_ASSERT_TRUE(byte >= WEB_TASK_SHARES && byte != WEB_UNKNOWN && !seen[byte]);
            seen[byte] = true;
        }
    CU_ASSERT_EQUAL(byte_of(0.525, 0.475, 1), byte_of(0.55, 0.45, 1)); /* both are rounded up */
    CU_ASSERT_EQUAL(byte_of(-1, -1, 0.52), WEB_TASK_BUSY + 5);
    CU_ASSERT_EQUAL(byte_of(-1, -1, 7), WEB_TASK_BUSY + 10);
    CU_ASSERT_EQUAL(byte_of(-1, -1, -1), COVEY_TASK_RUNNING);
    CU_ASSERT_EQUAL(web_task_byte(200, &(struct work_rates){.cpu = -1}), WEB_UNKNOWN);
}

static void figures_are_of_the_time_between_looks(void)
{
    const struct web_feed feed = {.hosts = 1, .tasks = 4};
    struct board *board = board_create("vm", 2000);
    take(board, &feed, 0);
    take(board, &feed, 1);
    CU_ASSERT_EQUAL(board->tasks[1].figures[WEB_CPU], web_rate_byte(100));
    CU_ASSERT_EQUAL(board->tasks[1].figures[WEB_MEMORY], web_rate_byte(8e6));
    CU_ASSERT_EQUAL(board->tasks[1].figures[WEB_SENT], web_rate_byte(11000));
    CU_ASSERT_EQUAL(board->tasks[1].figures[WEB_RECEIVED_BYTES], web_rate_byte(4e4));
    CU_ASSERT_EQUAL(board->tasks[3].figures[WEB_SENT], WEB_UNKNOWN); /* without the library */
    CU_ASSERT_EQUAL(board->task_samples[1][3], WEB_TASK_BUSY + 3);
    board_destroy(board);
}

static void the_longest_waits_come_first(void)
{
    const struct web_feed feed = {.hosts = 10, .tasks = 10};
    struct web_look *look = web_feed_look(&feed, 0);
    struct web_waits *waits = calloc(1, sizeof *waits);
    look->task_stats[40].waits_s = 1e6;
    look->task_stats[41].waits_s = (double)NAN;
    web_waits_take(waits, look);
    CU_ASSERT_EQUAL(waits->all, 60);
    CU_ASSERT_EQUAL(waits->unknown, 20);
    CU_ASSERT_EQUAL(waits->count, WEB_WAITS);
    CU_ASSERT_EQUAL(waits->rows[0].tid, look->tasks[40].tid);
    CU_ASSERT_STRING_EQUAL(waits->rows[0].what, "lock result");
    CU_ASSERT_STRING_EQUAL(waits->rows[0].program, "simulate --part 40");
    CU_ASSERT_STRING_EQUAL(waits->rows[0].host, "node00");
    CU_ASSERT_STRING_EQUAL(waits->rows[1].what, "recv from t40001 tag 11");
    for (int i = 1; i < WEB_WAITS; i++)
        CU_ASSERT_TRUE(waits->rows[i].since_s <= waits->rows[i - 1].since_s);
    web_feed_free(look);
    free(waits);
}

/* The first task holds the lock and sends: 20 wait for its messages, and all that want the lock. */
static void most_wait_for_one(void)
{
    const struct web_feed feed = {.hosts = 10, .tasks = 10};
    struct web_look *look = web_feed_look(&feed, 0);
    struct web_waits *waits = calloc(1, sizeof *waits);
    web_waits_take(waits, look);
    CU_ASSERT_EQUAL(waits->first.tid, 0x40001);
    CU_ASSERT_EQUAL(waits->for_first, 39); /* it waits for its own lock, too */
    CU_ASSERT_STRING_EQUAL(waits->first.what, "lock result");
    look->held_count = 0;
    for (int i = 0; i < look->task_count; i++)
        look->task_stats[i].peer = COVEY_ANY_TASK;
    web_waits_take(waits, look);
    CU_ASSERT_EQUAL(waits->for_first, 0);
    look->task_stats[7].peer = 0x7f0001; /* which is not there */
    web_waits_take(waits, look);
    CU_ASSERT_EQUAL(waits->for_first, 1);
    CU_ASSERT_STRING_EQUAL(waits->first.host, "");
    web_feed_free(look);
    free(waits);
}

static void what_flew_is_what_is_more(void)
{
    struct covey_task_peer first[] = {{1, 2, 10, 1000}, {3, 1, 7, 70}},
                           second[] = {
                               {3, 1, 2, 20}, {1, 3, 5, 50}, {1, 2, 14, 1400}, {2, 1, 0, 0}};
    struct web_look look = {.has_peers = true, .peers = first, .peer_count = 2, .task_count = 3};
    struct web_flights flights = {0};
    web_flights_take(&flights, &look);
    CU_ASSERT_EQUAL(flights.pairs, 0); /* nobody knows since when */
    look.peers = second;
    look.peer_count = 4;
    web_flights_take(&flights, &look);
    CU_ASSERT(flights.pairs == 3 && flights.count == 3 && !flights.some_left_out);
    CU_ASSERT(flights.messages == 11 && flights.bytes == 470);
    CU_ASSERT(flights.rows[0].from == 1 && flights.rows[0].to == 3 &&
              flights.rows[0].messages == 5);
    CU_ASSERT(flights.rows[1].to == 2 && flights.rows[1].messages == 4 &&
              flights.rows[1].bytes == 400);
    CU_ASSERT(flights.rows[2].from == 3 && flights.rows[2].messages == 2); /* it began anew */
    look.has_peers = false; /* the VM did not answer */
    web_flights_take(&flights, &look);
    CU_ASSERT_EQUAL(flights.pairs, 0);
    look.has_peers = true;
    web_flights_take(&flights, &look);
    CU_ASSERT_EQUAL(flights.pairs, 0);
    web_flights_end(&flights);
}

static void of_many_pairs_the_busiest_are_kept(void)
{
    const struct web_feed feed = {.hosts = 20, .tasks = 20};
    struct board *board = board_create("vm", 2000);
    take(board, &feed, 0);
    take(board, &feed, 1);
    CU_ASSERT_EQUAL(board->flights.count, WEB_FLIGHTS);
    CU_ASSERT_EQUAL(board->flights.pairs, 2 * 400 - 2);
    CU_ASSERT_TRUE(board->flights.some_left_out);
    for (int i = 1; i < WEB_FLIGHTS; i++)
        CU_ASSERT_TRUE(board->flights.rows[i].messages <= board->flights.rows[i - 1].messages);
    CU_ASSERT_EQUAL(board->flights.rows[0].messages, 7);
    board_destroy(board);
}

/* ---- bytes between hosts ---- */

static void cells_have_what_is_of_now_and_of_ever(void)
{
    struct web_matrix *matrix = calloc(1, sizeof *matrix);
    web_matrix_add(matrix, 3, 255, 10);
    web_matrix_add(matrix, 255, 3, 7);
    web_matrix_add(matrix, 3, 255, 5);
    web_matrix_add(matrix, 0, 0, 0);
    CU_ASSERT(matrix->count == 2 && matrix->cells[0].now == 15 && matrix->cells[1].all == 7);
    web_matrix_look(matrix);
    web_matrix_add(matrix, 255, 3, 1);
    CU_ASSERT(matrix->cells[0].now == 0 && matrix->cells[0].all == 15);
    CU_ASSERT(matrix->cells[1].now == 1 && matrix->cells[1].all == 8);
    web_matrix_add(matrix, 4, 5, 2);
    web_matrix_forget(matrix, 3);
    CU_ASSERT(matrix->count == 1 && matrix->cells[0].from == 4 && matrix->cells[0].to == 5);
    web_matrix_add(matrix, 3, 255, 1);
    CU_ASSERT(matrix->count == 2 && matrix->cells[1].all == 1);
    free(matrix);
}

static void who_had_least_makes_room(void)
{
    struct web_matrix *matrix = calloc(1, sizeof *matrix);
    for (int i = 0; i < WEB_MATRIX_CELLS; i++)
        web_matrix_add(matrix, i % 256, i / 256, 100 + (uint64_t)i);
    web_matrix_add(matrix, 9, 9, 100); /* no more than the least one has had */
    CU_ASSERT(matrix->count == WEB_MATRIX_CELLS && matrix->left_out == 100);
    web_matrix_add(matrix, 9, 9, 101);
    CU_ASSERT(matrix->count == WEB_MATRIX_CELLS && matrix->left_out == 200);
    CU_ASSERT_EQUAL(matrix->at[0][0], 0);
    for (int i = 0; i < WEB_MATRIX_CELLS; i++) {
        const struct web_cell *cell = &matrix->cells[i];
        CU_ASSERT_EQUAL(matrix->at[cell->from][cell->to], i + 1);
    }
    free(matrix);
}

static void a_board_has_all_bytes_that_flew(void)
{
    const struct web_feed feed = {.hosts = 3, .tasks = 2};
    struct board *board = board_create("vm", 2000);
    uint64_t now = 0, all = 0, flew = 0;
    for (int look = 0; look < 4; look++) {
        take(board, &feed, look);
        flew += board->flights.bytes;
    }
    for (int i = 0; i < board->matrix.count; i++) {
        now += board->matrix.cells[i].now;
        all += board->matrix.cells[i].all;
        CU_ASSERT(board->matrix.cells[i].from < 3 && board->matrix.cells[i].to < 3);
    }
    CU_ASSERT(now == board->flights.bytes && all == flew && flew > 0);
    CU_ASSERT_EQUAL(board->matrix.left_out, 0);
    board_destroy(board);
}

/* ---- what is told ---- */

struct heard {
    size_t bytes, events, rows, samples, past;
    bool broken;
    int64_t first_past;
};

/* Reads an event: a line of its name, one of JSON, an empty one. */
static void hear(struct heard *heard, const char *text, size_t size)
{
    const char *data = strstr(text, "\ndata: ");
    json_error_t error;
    heard->bytes += size;
    heard->events++;
    if (size != strlen(text) || data == NULL || strncmp(text, "event: ", 7) != 0 ||
        strcmp(text + size - 2, "\n\n") != 0 || strchr(data + 1, '\n') != text + size - 2) {
        heard->broken = true;
        return;
    }
    json_t *json = json_loadb(data + 7, size - 2 - (size_t)(data + 7 - text), 0, &error);
    heard->broken = heard->broken || json == NULL;
    if (strncmp(text, "event: rows", 11) == 0)
        heard->rows += json_array_size(json);
    if (strncmp(text, "event: samples", 14) == 0)
        heard->samples += (size_t)json_integer_value(json_object_get(json, "n"));
    json_decref(json);
}

static void hear_all(struct web_told *told, const struct board *board, struct heard *heard)
{
    size_t size;
    for (char *text; (text = web_told_next(told, board, &size)) != NULL;) {
        hear(heard, text, size);
        free(text);
    }
}

static void a_viewer_is_told_all_once(void)
{
    const struct web_feed feed = {.hosts = 5, .tasks = 4};
    struct board *board = board_create("vm", 2000);
    struct web_told *told = calloc(1, sizeof *told);
    struct heard heard = {0};
    for (int n = 0; n < BOARD_SAMPLES + 10; n++)
        take(board, &feed, n);
    web_told_begin(told, board);
    hear_all(told, board, &heard);
    CU_ASSERT_FALSE(heard.broken);
    CU_ASSERT_EQUAL(heard.rows, 25);
    CU_ASSERT_EQUAL(heard.samples, BOARD_SAMPLES);
    heard = (struct heard){0};
    hear_all(told, board, &heard);
    CU_ASSERT_EQUAL(heard.events, 0);
    take(board, &feed, BOARD_SAMPLES + 10);
    web_told_look(told, board);
    hear_all(told, board, &heard);
    CU_ASSERT_EQUAL(heard.samples, 1);
    CU_ASSERT_EQUAL(heard.rows, 0);
    free(told);
    board_destroy(board);
}

static void hostile_names_stay_texts(void)
{
    const struct web_feed feed = {.hosts = 2, .tasks = 2, .program = HOSTILE};
    struct board *board = board_create(HOSTILE, 2000);
    struct web_told *told = calloc(1, sizeof *told);
    struct heard heard = {0};
    take(board, &feed, 0);
    web_told_begin(told, board);
    hear_all(told, board, &heard);
    CU_ASSERT_FALSE(heard.broken);
    CU_ASSERT_EQUAL(heard.rows, 6);
    free(told);
    board_destroy(board);
}

static void a_slow_viewer_gets_the_newest(void)
{
    const struct web_feed feed = {.hosts = 1, .tasks = 1};
    struct board *board = board_create("vm", 2000);
    struct web_told *told = calloc(1, sizeof *told);
    struct heard heard = {0};
    web_told_begin(told, board);
    hear_all(told, board, &heard);
    for (int n = 0; n < 100; n++) {
        take(board, &feed, n);
        web_told_look(told, board);
    }
    heard = (struct heard){0};
    hear_all(told, board, &heard);
    CU_ASSERT_EQUAL(heard.samples, 1);
    CU_ASSERT_FALSE(heard.broken);
    free(told);
    board_destroy(board);
}

/* A while of a viewer, in the time of a clock that is made up: the most bytes in any second, in
 * steps of 10 ms, and whether it was told all samples. */
static size_t most_in_a_second(const struct web_feed *feed, int64_t seconds, size_t *samples)
{
    enum { STEP_MS = 10, STEPS = 1000 / STEP_MS };
    struct board *board = board_create("vm", 2000);
    struct web_told *told = calloc(1, sizeof *told);
    struct web_budget budget;
    struct heard heard = {0};
    size_t by_step[STEPS] = {0}, sum = 0, most = 0, size;
    int number = 0;
    while (number < BOARD_SAMPLES)
        take(board, feed, number++);
    web_told_begin(told, board);
    web_budget_begin(&budget, 48000, 0);
    for (int64_t ms = 0; ms < seconds * 1000; ms += STEP_MS) {
        size_t *now = &by_step[ms / STEP_MS % STEPS];
        if (ms % 2000 == 1990) {
            take(board, feed, number++);
            web_told_look(told, board);
        }
        sum -= *now;
        *now = 0;
        while (web_budget_wait(&budget, ms) == 0) {
            char *text = web_told_next(told, board, &size);
            if (text == NULL)
                break;
            hear(&heard, text, size);
            web_budget_spend(&budget, size);
            *now += size;
            free(text);
        }
        sum += *now;
        most = sum > most ? sum : most;
    }
    CU_ASSERT_FALSE(heard.broken);
    *samples = heard.samples;
    printf(
        "    %d hosts, %d tasks, %d of them new in each look: at most %zu bytes in a second, %.0f "
        "on the average of %d s\n",
        feed->hosts, feed->hosts * feed->tasks, feed->churn, most,
        (double)heard.bytes / (double)seconds, (int)seconds);
    free(told);
    board_destroy(board);
    return most;
}

static void a_second_is_bounded(void)
{
    const struct web_feed large = {.hosts = 100, .tasks = 40, .churn = 40},
                          larger = {.hosts = 300, .tasks = 10, .churn = 600, .program = HOSTILE};
    size_t samples;
    CU_ASSERT_TRUE(most_in_a_second(&large, 3600, &samples) < 100000);
    CU_ASSERT_TRUE(samples >= 1800 + 300 - 20); /* the oldest of the past go while they are told */
    CU_ASSERT_TRUE(most_in_a_second(&larger, 600, &samples) < 100000);
    CU_ASSERT_TRUE(samples >= 300);
}

static const struct test_case cases[] = {
    {"the token opens", the_token_opens},
    {"nothing else opens", nothing_else_opens},
    {"hosts are addresses", hosts_are_addresses},
    {"tokens differ", tokens_differ},
    {"a look becomes a sample", a_look_becomes_a_sample},
    {"what is gone has ended", what_is_gone_has_ended},
    {"a tid that is another task's", a_tid_that_is_another_tasks},
    {"a host that does not answer keeps its tasks", a_host_that_does_not_answer_keeps_its_tasks},
    {"more than fits is counted", more_than_fits_is_counted},
    {"rows change hands in turn", rows_change_hands_in_turn},
    {"shares are a byte", shares_are_a_byte},
    {"figures are of the time between looks", figures_are_of_the_time_between_looks},
    {"the longest waits come first", the_longest_waits_come_first},
    {"most wait for one", most_wait_for_one},
    {"what flew is what is more", what_flew_is_what_is_more},
    {"of many pairs the busiest are kept", of_many_pairs_the_busiest_are_kept},
    {"cells have what is of now and of ever", cells_have_what_is_of_now_and_of_ever},
    {"who had least makes room", who_had_least_makes_room},
    {"a board has all bytes that flew", a_board_has_all_bytes_that_flew},
    {"a viewer is told all once", a_viewer_is_told_all_once},
    {"hostile names stay texts", hostile_names_stay_texts},
    {"a slow viewer gets the newest", a_slow_viewer_gets_the_newest},
    {"a second is bounded", a_second_is_bounded},
};

int main(void)
{
    return covey_test_main("tool_web", cases, sizeof cases / sizeof cases[0]);
}
