/* links: tools/top/work.c tools/top/work_rates.c tools/top/work_columns.c tools/top/work_json.c tools/list/columns.c tools/list/table.c tools/list/listing.c tools/list/report.c tools/list/report_value.c tools/base/tool.c tools/base/args.c tools/base/arguments.c tools/base/tid.c tools/base/logfile.c tools/base/program.c libcovey -ljansson */
/*
 * tool_work_test.c - what `covey top` and `covey ps` make of the figures of tasks: rates, order, a
 * filter, and short texts.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/runner.h"
#include "tools/top/work.h"
#include "tools/top/work_json.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static struct covey_task_stat look(double at_s)
{
    return (struct covey_task_stat){.at_s = at_s,
                                    .age_s = at_s - 90,
                                    .elapsed_s = at_s - 100,
                                    .cpu_s = at_s - 100,
                                    .memory_bytes = 1 << 20};
}

static void rates_are_between_two_looks(void)
{
    struct covey_task_stat a = look(110), b = look(112);
    struct work_rates r;
    b.cpu_s = a.cpu_s + 1;
    b.idle_s = a.idle_s + 0.5;
    b.communication_s = a.communication_s + 1;
    b.sent = 200;
    b.sent_bytes = 4000;
    work_rates(&a, &b, &r);
    CU_ASSERT(near(r.cpu, 0.5) && near(r.sent, 100) && near(r.sent_bytes, 2000));
    CU_ASSERT(near(r.idle, 0.25) && near(r.communicating, 0.5) && near(r.computing, 0.25));
    CU_ASSERT(near(r.received, 0) && near(r.received_bytes, 0));
}

static void first_rates_are_since_the_beginning(void)
{
    struct covey_task_stat b = look(110); /* began at 90, joined at 100 */
    struct work_rates r;
    b.idle_s = 10;
    b.received = 50;
    work_rates(NULL, &b, &r);
    CU_ASSERT(near(r.cpu, 0.5) && near(r.received, 5));
    CU_ASSERT(near(r.idle, 1) && near(r.communicating, 0) && near(r.computing, 0));
}

/* A wait that ended between two loads of the daemon, a clock that stands, a program without the
 * library: shares are none, or 0 to 1. */
static void odd_looks(void)
{
    struct covey_task_stat a = look(110), b = look(112);
    struct work_rates r;
    b.idle_s = 50;
    b.communication_s = 50;
    work_rates(&a, &b, &r);
    CU_ASSERT(near(r.idle, 1) && near(r.communicating, 0) && near(r.computing, 0));
    a.idle_s = a.communication_s = 100; /* they went back */
    work_rates(&a, &b, &r);
    CU_ASSERT(near(r.idle, 0) && near(r.communicating, 0) && near(r.computing, 1));
    b.elapsed_s = b.idle_s = b.communication_s = b.sent = -1;
    work_rates(&a, &b, &r);
    CU_ASSERT(r.idle < 0 && r.communicating < 0 && r.computing < 0 && r.sent < 0 && r.cpu >= 0);
    b = a;
    work_rates(&a, &b, &r);
    CU_ASSERT(r.cpu >= 0); /* since it began, then */
}

/* ---- lists ---- */

enum { ROWS = 4 };

static void fill(struct work rows[ROWS], struct work_list *list)
{
    static const char *const commands[ROWS] = {"/bin/solve x", "sleep", "/bin/Render", "solve"};
    static const char *const hosts[ROWS] = {"h2", "h1", "h1", "h3"};
    static const double cpu[ROWS] = {0.5, -1, 0.9, 0.5};
    memset(rows, 0, ROWS * sizeof *rows);
    *list = (struct work_list){.rows = rows, .count = ROWS, .shown = ROWS};
    for (int i = 0; i < ROWS; i++) {
        rows[i].task.tid = 0x40001 + i;
        rows[i].task.state = COVEY_TASK_RUNNING;
        rows[i].rates.cpu = cpu[i];
        snprintf(rows[i].host, sizeof rows[i].host, "%s", hosts[i]);
        snprintf(rows[i].task.command, sizeof rows[i].task.command, "%s", commands[i]);
    }
    rows[1].stat.waits = COVEY_WAITS_CALL;
    strcpy(rows[1].stat.call, "covey_barrier");
    rows[1].stat.waits_s = 3;
}

static void expect_order(enum work_order order, bool reverse, const char *filter, const char *want)
{
    struct work rows[ROWS];
    struct work_list list;
    char got[ROWS + 1] = "";
    fill(rows, &list);
    work_sort(&list, filter, order, reverse);
    for (int i = 0; i < list.shown; i++)
        got[i] = (char)('1' + list.rows[i].task.tid - 0x40001);
    CU_ASSERT_STRING_EQUAL(got, want);
    CU_ASSERT_EQUAL(list.count, ROWS);
}

static void rows_are_sorted(void)
{
    expect_order(WORK_BY_TID, false, NULL, "1234");
    expect_order(WORK_BY_TID, true, NULL, "4321");
    expect_order(WORK_BY_CPU, false, NULL, "3142");
    expect_order(WORK_BY_CPU, true, NULL, "1432"); /* who has no figure comes last */
    expect_order(WORK_BY_HOST, false, "", "2314");
    expect_order(WORK_BY_HOST, true, "", "4123");
    expect_order(WORK_BY_COMMAND, false, NULL, "3124");
    expect_order(WORK_BY_WAIT, false, NULL, "2134");
}

static void rows_are_filtered(void)
{
    expect_order(WORK_BY_TID, false, "SOLVE", "14");
    expect_order(WORK_BY_CPU, false, "h1", "32");
    expect_order(WORK_BY_TID, false, "t40004", "4");
    expect_order(WORK_BY_TID, false, "barrier", "2");
    expect_order(WORK_BY_TID, false, "running", "1234");
    expect_order(WORK_BY_TID, false, "nothing of this", "");
}

/* Filtered again and again, no row is lost or doubled. */
static void a_filter_loses_nothing(void)
{
    static const char *const filters[] = {"solve", "h1", "", "x", "sleep", NULL};
    struct work rows[ROWS];
    struct work_list list;
    fill(rows, &list);
    for (int i = 0; i < 30; i++)
        work_sort(&list, filters[i % 6], (enum work_order)(i % WORK_ORDER_COUNT), i % 2);
    work_sort(&list, NULL, WORK_BY_TID, false);
    CU_ASSERT_EQUAL(list.shown, ROWS);
    for (int i = 0; i < ROWS; i++)
        CU_ASSERT_EQUAL(list.rows[i].task.tid, 0x40001 + i);
}

static void orders_have_keys_and_names(void)
{
    for (int i = 0; i < WORK_ORDER_COUNT; i++)
        CU_ASSERT_EQUAL(work_order_of_name(work_order_name((enum work_order)i)), i);
    CU_ASSERT_EQUAL(work_order_of_key('w'), WORK_BY_WAIT);
    for (const char *key = "qrv/?"; *key; key++)
        CU_ASSERT_EQUAL(work_order_of_key(*key), -1);
    CU_ASSERT_EQUAL(work_order_of_name("colour"), -1);
}

/* ---- texts ---- */

static void waits_are_named(void)
{
    static const struct {
        struct covey_task_stat stat;
        const char *text;
    } rows[] = {
        {{.waits = COVEY_WAITS_NOT}, "-"},
        {{.waits = COVEY_WAITS_MESSAGE, .call = "recv", .peer = 0x40003, .tag = 11},
         "recv from t40003 tag 11"},
        {{.waits = COVEY_WAITS_MESSAGE, .call = "recv_array", .peer = -1, .tag = -1},
         "recv from any"},
        {{.waits = COVEY_WAITS_MESSAGE, .call = "covey_wait", .peer = -1, .tag = 2},
         "wait from any tag 2"},
        {{.waits = COVEY_WAITS_SEND, .call = "send_array", .peer = 0x40003, .tag = 0},
         "send to t40003 tag 0"},
        {{.waits = COVEY_WAITS_CREDIT, .call = "send", .peer = 0x40003}, "credit of t40003"},
        {{.waits = COVEY_WAITS_TURN, .call = "send", .peer = 0x40003}, "turn at t40003"},
        {{.waits = COVEY_WAITS_NAME, .call = "lock", .name = "gate"}, "lock gate"},
        {{.waits = COVEY_WAITS_CALL, .call = "covey_barrier"}, "barrier"},
        {{.waits = COVEY_WAITS_CALL}, "an answer"},
        {{.waits = 99, .call = "later"}, "later"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char cell[COLUMN_CELL_BYTES];
        work_print_wait(&rows[i].stat, cell);
        CU_ASSERT_STRING_EQUAL(cell, rows[i].text);
    }
}

/* What is not known is a dash, and the longest of all texts fit. */
static void every_cell_can_be_unknown_or_long(void)
{
    struct work row = {.rates = {-1, -1, -1, -1, -1, -1, -1, -1}, .stat = {.memory_bytes = -1}};
    char cell[COLUMN_CELL_BYTES];
    int dashes = 0;
    for (size_t i = 0; i < work_columns.count; i++) {
        work_columns.list[i].print(&row, cell);
        dashes += strcmp(cell, "-") == 0;
    }
    CU_ASSERT_EQUAL(dashes, 11);
    memset(row.task.command, 'c', sizeof row.task.command - 1);
    memset(row.stat.call, 'a', sizeof row.stat.call - 1);
    memset(row.stat.name, 'n', sizeof row.stat.name - 1);
    memset(row.host, 'h', sizeof row.host - 1);
    row.stat.waits = COVEY_WAITS_NAME;
    for (size_t i = 0; i < work_ps_columns.count; i++) {
        work_ps_columns.list[i].print(&row, cell);
        CU_ASSERT_TRUE(strlen(cell) < sizeof cell && cell[0] != '\0');
    }
}

/* A line is never wider than the screen, and no control character of another host gets there. */
static void lines_fit_and_are_harmless(void)
{
    struct work row = {.task = {.tid = 0x40001,
                                .command = "a\033[2Jb\xc2\x9b"
                                           "31m\rc"},
                       .host = "h\n0"};
    bool shown[COLUMNS_MAX];
    char line[300];
    for (int width = 1; width < 250; width++) {
        columns_choose(&work_columns, width, shown);
        columns_line(&work_columns, shown, &row, width, line, sizeof line);
        int first = work_columns.list[0].width;
        CU_ASSERT_TRUE((int)strlen(line) <= (width > first ? width : first));
        for (const char *c = line; *c; c++)
            CU_ASSERT_TRUE((unsigned char)*c >= 0x20 && *c != 0x7f && (unsigned char)*c != 0xc2);
    }
}

static void a_usual_terminal_shows_what_matters(void)
{
    static const char *const wanted[] = {"TID",   "HOST",  "CPU%",  "MEM",    "COMP%",
                                         "COMM%", "IDLE%", "WAITS", "COMMAND"};
    bool shown[COLUMNS_MAX];
    columns_choose(&work_columns, 80, shown);
    for (size_t w = 0; w < sizeof wanted / sizeof wanted[0]; w++) {
        bool found = false;
        for (size_t i = 0; i < work_columns.count; i++)
            found = found || (shown[i] && strcmp(work_columns.list[i].heading, wanted[w]) == 0);
        CU_ASSERT_TRUE(found);
    }
}

static void json_has_null_for_what_is_unknown(void)
{
    struct work row = {.rates = {-1, 0.5, -1, -1, -1, -1, -1, -1}, .task = {.tid = 0x40001}};
    strcpy(row.task.command, "\xff\x01");
    json_t *object = work_json(&row);
    CU_ASSERT_PTR_NOT_NULL_FATAL(object);
    CU_ASSERT_TRUE(json_is_null(json_object_get(object, "cpu")));
    CU_ASSERT_TRUE(json_is_null(json_object_get(object, "waits")));
    CU_ASSERT_EQUAL(json_real_value(json_object_get(object, "computing")), 0.5);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(object, "tid")), "t40001");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(object, "command")), "?\x01");
    json_decref(object);
}

static const struct test_case cases[] = {
    {"rates are between two looks", rates_are_between_two_looks},
    {"first rates are since the beginning", first_rates_are_since_the_beginning},
    {"odd looks", odd_looks},
    {"rows are sorted", rows_are_sorted},
    {"rows are filtered", rows_are_filtered},
    {"a filter loses nothing", a_filter_loses_nothing},
    {"orders have keys and names", orders_have_keys_and_names},
    {"waits are named", waits_are_named},
    {"every cell can be unknown, or long", every_cell_can_be_unknown_or_long},
    {"lines fit and are harmless", lines_fit_and_are_harmless},
    {"a usual terminal shows what matters", a_usual_terminal_shows_what_matters},
    {"JSON has null for what is unknown", json_has_null_for_what_is_unknown},
};

int main(void)
{
    return covey_test_main("tool_work", cases, sizeof cases / sizeof cases[0]);
}
