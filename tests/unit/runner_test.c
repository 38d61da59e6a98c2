/* links:  */
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>

static void test_passes(void)
{
    CU_ASSERT_EQUAL(1 + 1, 2);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a case passes", test_passes},
    };

    return covey_test_main("runner", cases, sizeof cases / sizeof cases[0]);
}
