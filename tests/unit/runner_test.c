/* links: */
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>

static void test_passes(void)
{
    CU_ASSERT_EQUAL(1 + 1, 2);
}

static void test_skips(void)
{
    covey_test_skip("shows that a case can be skipped");
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a case passes", test_passes},
        {"a case is skipped with its reason", test_skips},
    };

    return covey_test_main("runner", cases, sizeof cases / sizeof cases[0]);
}
