/*
 * runner.h - runs the cases of one suite and reports them as `make check` wants it.
 *
 * Each test program names its cases and ends with
 *
 *     int main(void)
 *     {
 *         return covey_test_main("window", cases, sizeof cases / sizeof cases[0]);
 *     }
 *
 * The cases use CUnit's CU_ASSERT macros (<CUnit/CUnit.h>). The last line printed is
 * `N passed, N failed, N skipped`; failing cases are named with file, line and condition above it.
 * With TEST=text in the environment only the cases whose names contain the text run.
 */
#ifndef COVEY_TESTS_UNIT_RUNNER_H
#define COVEY_TESTS_UNIT_RUNNER_H

#include <stddef.h>

struct test_case {
    const char *name;
    void (*run)(void);
};

/* Runs n cases in order; returns what main() should return: 0 when none failed. */
int covey_test_main(const char *suite, const struct test_case *cases, size_t n);

/* Called inside a case: counts it as skipped for that reason, unless an assertion failed. The case
 * returns by itself. */
void covey_test_skip(const char *why);

#endif
