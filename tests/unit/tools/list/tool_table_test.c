/* links: tools/list/table.c tools/list/cells.c tools/run/outlet.c tools/base/tid.c */
#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/runner.h"
#include "tools/list/cells.h"
#include "tools/list/table.h"
#include "tools/run/outlet.h"

static void expect_table(struct table *table, const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL(table_print(table, out), 0);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
    table_destroy(table);
}

static void test_columns_are_aligned(void)
{
    struct table *table = table_create((const char *const[]){"NAME", ">CORES", "STATE", NULL});
    table_add(table, (const char *const[]){"h0", "2", "up"});
    table_add(table, (const char *const[]){"workstation", "128000", "joining"});
    table_add(table, (const char *const[]){"", "7", ""});
    expect_table(table, "NAME          CORES  STATE\n"
                        "h0                2  up\n"
                        "workstation  128000  joining\n"
                        "                  7\n");
}

static void test_foreign_text_stays_in_its_cell(void)
{
    struct table *table = table_create((const char *const[]){"A", "B", NULL});
    table_add(table, (const char *const[]){"x\n\033[2J", "1"});
    table_add(table, (const char *const[]){"\xc3\xa4\xc3\xb6", "2"});
    expect_table(table, "A       B\n"
                        "x??[2J  1\n"
                        "\xc3\xa4\xc3\xb6      2\n");
}

static void test_many_rows(void)
{
    struct table *table = table_create((const char *const[]){"A", NULL});
    for (int i = 0; i < 1000; i++)
        table_add(table, (const char *const[]){"x"});
    FILE *out = fopen("/dev/null", "w");
    CU_ASSERT_EQUAL(table_print(table, out), 0);
    fclose(out);
    table_destroy(table);
}

static void test_no_table_is_an_error(void)
{
    CU_ASSERT_EQUAL(table_print(NULL, stdout), -1);
    table_add(NULL, NULL);
    table_destroy(NULL);
}

/* What the outlet writes to standard output lands in a pipe. */
struct capture {
    struct outlet outlet;
    int saved;
    int pipe[2];
};

static void capture_open(struct capture *capture)
{
    memset(capture, 0, sizeof *capture);
    fflush(stdout);
    CU_ASSERT_EQUAL_FATAL(pipe(capture->pipe), 0);
    capture->saved = dup(STDOUT_FILENO);
    dup2(capture->pipe[1], STDOUT_FILENO);
}

static void capture_put(struct capture *capture, covey_tid_t tid, const char *text)
{
    CU_ASSERT_EQUAL(outlet_write(&capture->outlet, 1, tid, text, strlen(text)), 0);
}

static void capture_expect(struct capture *capture, const char *expected)
{
    char text[512];
    dup2(capture->saved, STDOUT_FILENO);
    close(capture->saved);
    close(capture->pipe[1]);
    ssize_t length = read(capture->pipe[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    close(capture->pipe[0]);
    outlet_fini(&capture->outlet);
    CU_ASSERT_STRING_EQUAL(text, expected);
}

static void capture_end(struct capture *capture, covey_tid_t tid)
{
    CU_ASSERT_EQUAL(outlet_end(&capture->outlet, tid), 0);
}

static void test_output_is_passed_on_as_it_is(void)
{
    struct capture capture;
    capture_open(&capture);
    capture_put(&capture, 1, "a\nb\n");
    capture_put(&capture, 2, "");
    capture_put(&capture, 2, "half");
    capture_put(&capture, 2, " line");
    capture_end(&capture, 2);
    capture_end(&capture, 1);
    capture_expect(&capture, "a\nb\nhalf line");
}

static void test_line_in_pieces_is_not_torn(void)
{
    struct capture capture;
    capture_open(&capture);
    capture_put(&capture, 1, "first\none ");
    capture_put(&capture, 2, "whole\n");
    capture_put(&capture, 2, "three ");
    capture_put(&capture, 1, "two");
    capture_put(&capture, 1, "\nnext\nl");
    capture_put(&capture, 2, "four\n");
    capture_end(&capture, 2);
    capture_end(&capture, 1);
    capture_expect(&capture, "first\nwhole\none two\nnext\nthree four\nl");
}

static void test_unfinished_last_line_is_ended_for_another_task(void)
{
    struct capture capture;
    capture_open(&capture);
    capture_put(&capture, 1, "unfinished");
    capture_put(&capture, 2, "also");
    capture_end(&capture, 1);
    capture_put(&capture, 2, " unfinished");
    capture_end(&capture, 2);
    capture_expect(&capture, "unfinished\nalso unfinished");
}

static void test_what_is_held_is_bounded(void)
{
    static char text[OUTLET_HELD_MAX / 4];
    struct outlet outlet = {0};
    int null = open("/dev/null", O_WRONLY);
    int saved = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(null, STDOUT_FILENO);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(outlet_write(&outlet, 1, 1, text, sizeof text), 0);
    CU_ASSERT_EQUAL(outlet.open[1], 0);
    CU_ASSERT_EQUAL(outlet_write(&outlet, 1, 1, text, sizeof text), 0);
    CU_ASSERT_EQUAL(outlet.open[1], 1);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(null);
    outlet_fini(&outlet);
}

static void test_tags_stand_before_each_line(void)
{
    struct capture capture;
    capture_open(&capture);
    capture.outlet.tagged = true;
    capture_put(&capture, 0x40001, "a\n\nb");
    capture_put(&capture, 0x40001, "c\nd");
    capture_put(&capture, 0x40002, "e\n");
    capture_end(&capture, 0x40001);
    capture_expect(&capture, "[t40001] a\n[t40001] \n[t40001] bc\n[t40002] e\n[t40001] d");
}

static void test_unknown_streams_are_dropped(void)
{
    struct outlet outlet = {0};
    CU_ASSERT_EQUAL(outlet_write(&outlet, 0, 1, "x", 1), 0);
    CU_ASSERT_EQUAL(outlet_write(&outlet, 3, 1, "x", 1), 0);
}

static void test_cells(void)
{
    struct cells headings = {.count = 0}, cells = {.count = 0};
    cells_add(&headings, ">%s", "US");
    cells_add(&headings, "WHAT");
    cells_add_figure(&cells, 12.345);
    cells_add(&cells, "all %d", 3);
    struct table *table = table_create(headings.list);
    table_add(table, cells.list);
    expect_table(table, "  US  WHAT\n12.3  all 3\n");
}

static void test_cells_that_do_not_fit(void)
{
    struct cells cells = {.count = 0};
    for (int i = 0; i < CELLS_MAX + 1; i++)
        cells_add(&cells, "%0100d", i);
    CU_ASSERT_EQUAL(cells.count, CELLS_MAX);
    CU_ASSERT_PTR_NULL(cells.list[CELLS_MAX]);
    CU_ASSERT_EQUAL(strlen(cells.list[0]), 100);
    CU_ASSERT_STRING_EQUAL(cells.list[CELLS_MAX - 1], "");
}

int main(void)
{
    static const struct test_case cases[] = {
        {"columns are aligned", test_columns_are_aligned},
        {"foreign text stays in its cell", test_foreign_text_stays_in_its_cell},
        {"a table of 1000 rows", test_many_rows},
        {"no table is an error", test_no_table_is_an_error},
        {"output is passed on as it is", test_output_is_passed_on_as_it_is},
        {"a line in pieces is not torn", test_line_in_pieces_is_not_torn},
        {"an unfinished last line is ended for another task",
         test_unfinished_last_line_is_ended_for_another_task},
        {"what is held back is bounded", test_what_is_held_is_bounded},
        {"tags stand before each line", test_tags_stand_before_each_line},
        {"unknown streams are dropped", test_unknown_streams_are_dropped},
        {"cells", test_cells},
        {"cells that do not fit", test_cells_that_do_not_fit},
    };
    return covey_test_main("tool_table", cases, sizeof cases / sizeof cases[0]);
}
