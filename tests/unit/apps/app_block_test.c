/* links: apps/block.c */
#include "apps/block.h"

#include <CUnit/CUnit.h>

#include "tests/unit/runner.h"

static void expect_no_gaps(int64_t n, int parts)
{
    int64_t next = 0;
    for (int i = 0; i < parts; i++) {
        CU_ASSERT_EQUAL(block_first(n, parts, i), next);
        next += block_size(n, parts, i);
    }
    CU_ASSERT_EQUAL(next, n);
}

static void test_parts_join_without_gaps(void)
{
    for (int64_t n = 0; n < 40; n++)
        for (int parts = 1; parts < 12; parts++)
            expect_no_gaps(n, parts);
}

static void test_sizes_differ_by_one_at_most(void)
{
    for (int64_t n = 0; n < 40; n++)
        for (int parts = 1; parts < 12; parts++)
            for (int i = 0; i < parts; i++) {
                CU_ASSERT(block_size(n, parts, i) <= block_size_max(n, parts));
                CU_ASSERT(block_size(n, parts, i) >= block_size_max(n, parts) - 1);
            }
}

static void test_large_ranges_do_not_overflow(void)
{
    int64_t n = INT64_C(1) << 40;
    CU_ASSERT_EQUAL(block_first(n, 7, 7), n);
    CU_ASSERT_EQUAL(block_first(n, 1 << 20, 1 << 19), n / 2);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"parts join without gaps", test_parts_join_without_gaps},
        {"sizes differ by one at most", test_sizes_differ_by_one_at_most},
        {"large ranges do not overflow", test_large_ranges_do_not_overflow},
    };
    return covey_test_main("app_block", cases, sizeof cases / sizeof cases[0]);
}
