/* links: apps/mandel/strips.c apps/mandel/escape.c */
#include "apps/mandel/strips.h"

#include "apps/mandel/escape.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/unit/runner.h"

/* Takes all strips; returns their number. */
static int take_all(struct strips strips, int *largest, int *last)
{
    int count = 0;
    int next = 0;
    int first = -1;
    int rows;
    *largest = 0;
    while ((rows = strips_take(&strips, &first)) > 0) {
        CU_ASSERT_EQUAL(first, next);
        next = first + rows;
        *largest = rows > *largest ? rows : *largest;
        *last = rows;
        count++;
    }
    CU_ASSERT_EQUAL(next, strips.height);
    return count;
}

static void test_every_row_once(void)
{
    int largest;
    int last = 0;
    for (int height = 1; height < 500; height += 7)
        for (int workers = 1; workers < 20; workers += 3)
            take_all((struct strips){.height = height, .workers = workers}, &largest, &last);
}

static void test_strips_shrink(void)
{
    int largest;
    int last = 0;
    int count = take_all((struct strips){.height = 1200, .workers = 8}, &largest, &last);
    CU_ASSERT_EQUAL(largest, 1200 / 64);
    CU_ASSERT(last <= 2);
    CU_ASSERT(count < 600);
}

static void test_fixed_strips(void)
{
    int largest;
    int last = 0;
    struct strips strips = {.height = 100, .workers = 3, .fixed = 30};
    CU_ASSERT_EQUAL(take_all(strips, &largest, &last), 4);
    CU_ASSERT_EQUAL(largest, 30);
    CU_ASSERT_EQUAL(last, 10);
}

static const struct escape_view view = {-0.65, 0, 1, 61, 41, 300};

static void test_counts_of_known_points(void)
{
    uint16_t middle[61];
    uint16_t top[61];
    escape_row(&view, 20, middle); /* the real axis */
    escape_row(&view, 0, top);
    CU_ASSERT_EQUAL(middle[30], 300);
    CU_ASSERT(middle[0] < 10);
    CU_ASSERT(top[0] < 5);
}

static void test_the_set_is_symmetric(void)
{
    for (int row = 0; row < 20; row++) {
        uint16_t upper[61];
        uint16_t lower[61];
        escape_row(&view, row, upper);
        escape_row(&view, 40 - row, lower);
        CU_ASSERT_EQUAL(memcmp(upper, lower, sizeof upper), 0);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"every row once", test_every_row_once},
        {"strips shrink", test_strips_shrink},
        {"fixed strips", test_fixed_strips},
        {"counts of known points", test_counts_of_known_points},
        {"the set is symmetric", test_the_set_is_symmetric},
    };
    return covey_test_main("app_strips", cases, sizeof cases / sizeof cases[0]);
}
