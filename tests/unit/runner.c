/*
 * runner.c - one CUnit suite a program, reported in the words that `make check` adds up.
 *
 * CUnit keeps its registry and the running test in globals of its own and calls back without an
 * argument, so the counts live in one static struct here; nothing else of the project does that.
 */
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <CUnit/TestDB.h>
#include <CUnit/TestRun.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    unsigned passed;
    unsigned failed;
    unsigned skipped;
    const char *skip_reason;
} counts;

void covey_test_skip(const char *why)
{
    counts.skip_reason = why;
}

static void on_test_start(const CU_pTest test, const CU_pSuite suite)
{
    (void)suite;
    counts.skip_reason = NULL;
    printf("%s ... ", test->pName);
    fflush(stdout);
}

static void print_failures(const struct CU_FailureRecord *failure)
{
    for (; failure; failure = failure->pNext)
        printf("    %s:%u: %s\n", failure->strFileName ? failure->strFileName : "?",
               failure->uiLineNumber, failure->strCondition ? failure->strCondition : "?");
}

static void on_test_complete(const CU_pTest test, const CU_pSuite suite,
                             const CU_pFailureRecord failure)
{
    (void)suite;
    if (failure) {
        counts.failed++;
        printf("FAILED: %s\n", test->pName);
        print_failures(failure);
    } else if (counts.skip_reason) {
        counts.skipped++;
        printf("skipped: %s\n", counts.skip_reason);
    } else {
        counts.passed++;
        printf("ok\n");
    }
    fflush(stdout);
}

static int add_cases(CU_pSuite suite, const struct test_case *cases, size_t n)
{
    const char *wanted = getenv("TEST");

    for (size_t i = 0; i < n; i++) {
        if (wanted && !strstr(cases[i].name, wanted))
            continue;
        if (!CU_add_test(suite, cases[i].name, cases[i].run))
            return -1;
    }
    return 0;
}

static int run_suite(const char *name, const struct test_case *cases, size_t n)
{
    CU_pSuite suite = CU_add_suite(name, NULL, NULL);

    if (!suite || add_cases(suite, cases, n) < 0) {
        fprintf(stderr, "%s: CUnit cannot add the tests: %s\n", name, CU_get_error_msg());
        return -1;
    }
    CU_set_test_start_handler(on_test_start);
    CU_set_test_complete_handler(on_test_complete);
    CU_run_suite(suite);
    return 0;
}

int covey_test_main(const char *suite, const struct test_case *cases, size_t n)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        fprintf(stderr, "%s: CUnit cannot start: %s\n", suite, CU_get_error_msg());
        return EXIT_FAILURE;
    }
    int rc = run_suite(suite, cases, n);
    CU_cleanup_registry();
    if (rc < 0)
        return EXIT_FAILURE;
    printf("%u passed, %u failed, %u skipped\n", counts.passed, counts.failed, counts.skipped);
    return counts.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
