/* links: tools/top/load.c tools/list/columns.c tools/list/table.c libcovey */
/*
 * tool_load_test.c - what `covey top` makes of figures: texts, order and columns.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/runner.h"
#include "tools/top/load.h"

static void sizes_are_short(void)
{
    static const struct {
        double bytes;
        const char *text;
    } rows[] = {{-1, "-"},      {0, "0"},         {999, "999"},      {1000, "1.0K"},
                {1536, "1.5K"}, {10240, "10K"},   {1023900, "1.0M"}, {123456789, "118M"},
                {5e9, "4.7G"},  {3.3e12, "3.0T"}, {1e18, "888P"},    {1e30, "867361737988E"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char cell[COLUMN_CELL_BYTES];
        column_bytes(rows[i].bytes, cell);
        CU_ASSERT_STRING_EQUAL(cell, rows[i].text);
    }
}

/* Hosts a, b ... with the CPU share given; -1: not known. */
static void expect_order(const double *busy, enum load_order order, bool reverse, const char *names)
{
    struct load rows[8];
    struct load_list list = {.rows = rows, .count = (int)strlen(names)};
    memset(rows, 0, sizeof rows);
    for (int i = 0; i < list.count; i++) {
        rows[i].host.name[0] = (char)('a' + i);
        rows[i].stat.cpu_busy = busy[i];
        rows[i].stat.net_received_bytes_per_s = busy[i];
        rows[i].stat.net_sent_bytes_per_s = -1;
    }
    load_sort(&list, order, reverse);
    for (int i = 0; i < list.count; i++)
        CU_ASSERT_EQUAL(rows[i].host.name[0], names[i]);
}

static void rows_are_sorted(void)
{
    static const double busy[] = {0.1, -1, 0.9, 0.5, 0.9};
    expect_order(busy, LOAD_BY_CPU, false, "cedab");
    expect_order(busy, LOAD_BY_CPU, true, "adceb");
    expect_order(busy, LOAD_BY_NETWORK, false, "cedab");
    expect_order(busy, LOAD_BY_HOST, false, "abcde");
    expect_order(busy, LOAD_BY_HOST, true, "edcba");
    expect_order(busy, LOAD_BY_TASKS, false, "abcde"); /* equals: by name */
}

static void orders_have_keys_and_names(void)
{
    CU_ASSERT_EQUAL(load_order_of_key('c'), LOAD_BY_CPU);
    CU_ASSERT_EQUAL(load_order_of_name("memory"), LOAD_BY_MEMORY);
    CU_ASSERT_EQUAL(load_order_of_key('q'), -1);
    CU_ASSERT_EQUAL(load_order_of_name(""), -1);
    for (int i = 0; i < LOAD_ORDER_COUNT; i++)
        CU_ASSERT_EQUAL(load_order_of_name(load_order_name((enum load_order)i)), i);
}

/* Whatever the width: what is shown fits, and nothing that would fit beside it is left out. */
static void columns_fit(void)
{
    bool shown[COLUMNS_MAX];
    for (int width = 1; width < 300; width++) {
        int used = -1, least = 1000;
        columns_choose(&load_columns, width, shown);
        for (size_t i = 0; i < load_columns.count; i++) {
            if (shown[i])
                used += load_columns.list[i].width + 1;
            else if (load_columns.list[i].width < least)
                least = load_columns.list[i].width;
        }
        CU_ASSERT_TRUE(shown[0]);
        CU_ASSERT_TRUE(used <= width || used == load_columns.list[0].width);
        CU_ASSERT_TRUE(used + 1 + least > width);
    }
}

static void a_usual_terminal_shows_what_matters(void)
{
    static const char *const wanted[] = {"HOST",    "CPU%",   "LOAD",   "MEM%", "NET-IN",
                                         "NET-OUT", "DISK-R", "DISK-W", "TASKS"};
    bool shown[COLUMNS_MAX];
    columns_choose(&load_columns, 80, shown);
    for (size_t w = 0; w < sizeof wanted / sizeof wanted[0]; w++) {
        bool found = false;
        for (size_t i = 0; i < load_columns.count; i++)
            found = found || (shown[i] && strcmp(load_columns.list[i].heading, wanted[w]) == 0);
        CU_ASSERT_TRUE(found);
    }
}

static void every_cell_can_be_unknown(void)
{
    struct load row = {.host = {.name = "h"}, .stat = {.host = 1}};
    memset(&row.stat.age_s, 0xff, sizeof row.stat - offsetof(struct covey_host_stat, age_s));
    for (double *figure = &row.stat.age_s; figure <= &row.stat.local_clock_s; figure++)
        *figure = -1;
    for (size_t i = 0; i < load_columns.count; i++) {
        char cell[COLUMN_CELL_BYTES] = "";
        load_columns.list[i].print(&row, cell);
        CU_ASSERT_TRUE(cell[0] != '\0');
        if (i > 2)
            CU_ASSERT_STRING_EQUAL(cell, "-");
    }
}

/* The rule of covey_host_stats(3), at both sides of each threshold. */
static void what_pages(void)
{
    struct covey_host_stat at_rest = {
        .known = 1, .memory_total_bytes = 100, .memory_free_bytes = 5};
    struct covey_host_stat s = at_rest;
    CU_ASSERT_EQUAL(covey_host_pages(NULL), 0);
    CU_ASSERT_EQUAL(covey_host_pages(&s), 0);
    s.swap_in_bytes_per_s = 1048575;
    s.swap_out_bytes_per_s = -1; /* not known */
    CU_ASSERT_EQUAL(covey_host_pages(&s), 0);
    s.swap_out_bytes_per_s = 1;
    CU_ASSERT_EQUAL(covey_host_pages(&s), 1);
    s.known = 0;
    CU_ASSERT_EQUAL(covey_host_pages(&s), 0);
    s = at_rest;
    s.memory_pressure = 0.09;
    CU_ASSERT_EQUAL(covey_host_pages(&s), 0);
    s.memory_pressure = 0.1;
    CU_ASSERT_EQUAL(covey_host_pages(&s), 1);
    s = at_rest;
    s.major_faults_per_s = 99;
    CU_ASSERT_EQUAL(covey_host_pages(&s), 0);
    s.major_faults_per_s = 100;
    CU_ASSERT_EQUAL(covey_host_pages(&s), 1);
    s.memory_free_bytes = 10; /* room enough: a program was read for the first time */
    CU_ASSERT_EQUAL(covey_host_pages(&s), 0);
}

static const struct test_case cases[] = {
    {"sizes are short", sizes_are_short},
    {"rows are sorted", rows_are_sorted},
    {"orders have keys and names", orders_have_keys_and_names},
    {"columns fit", columns_fit},
    {"a usual terminal shows what matters", a_usual_terminal_shows_what_matters},
    {"every cell can be unknown", every_cell_can_be_unknown},
    {"what pages", what_pages},
};

int main(void)
{
    return covey_test_main("tool_load", cases, sizeof cases / sizeof cases[0]);
}
