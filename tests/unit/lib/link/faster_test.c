/* links: lib/link/faster.c */
/*
 * faster_test.c - which way a receiver advises: both are tried, the best of each counts, for each
 * size by itself, and after many messages again.
 */
#include "lib/link/faster.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>

#define BYTES (128 * 1024)

static bool several(struct faster *f, int n, uint64_t bytes, bool once, uint64_t ns)
{
    bool advice = true;
    for (int i = 0; i < n; i++)
        advice = faster_note(f, bytes, once, ns);
    return advice;
}

static void both_are_tried_first(void)
{
    struct faster f = {0};
    CU_ASSERT_FALSE(several(&f, 3, BYTES, false, 100));
    CU_ASSERT(faster_note(&f, BYTES, false, 100)); /* now once */
    CU_ASSERT(several(&f, 3, BYTES, true, 200));
    CU_ASSERT_FALSE(faster_note(&f, BYTES, true, 200));
    CU_ASSERT_FALSE(faster_note(&f, BYTES, false, 100));
}

static void the_best_counts(void)
{
    struct faster f = {0};
    several(&f, 3, BYTES, true, 1000000);
    faster_note(&f, BYTES, true, 10000);
    several(&f, 3, BYTES, false, 40000);
    CU_ASSERT_FALSE(faster_note(&f, BYTES, false, 5000));
    CU_ASSERT_FALSE(faster_note(&f, BYTES, false, 900000));
}

static void sizes_differ(void)
{
    struct faster f = {0};
    several(&f, 4, 20000, true, 20000);
    CU_ASSERT_FALSE(several(&f, 4, 20000, false, 10000));
    several(&f, 4, 5000000, true, 100000);
    CU_ASSERT(several(&f, 4, 5000000, false, 200000));
    CU_ASSERT_FALSE(faster_note(&f, 20000, false, 10000));
}

/* A class is of messages whose sizes differ by four at most: their times are of a KiB. */
static void times_are_of_a_kib(void)
{
    struct faster f = {0};
    several(&f, 4, 255 * 1024, true, 255000);
    CU_ASSERT(several(&f, 4, 64 * 1024, false, 128000));
}

static void it_is_measured_again(void)
{
    struct faster f = {0};
    several(&f, 4, BYTES, true, 20000);
    several(&f, 4, BYTES, false, 10000);
    int more = 0;
    while (!faster_note(&f, BYTES, false, 10000) && more < 10000)
        more++;
    CU_ASSERT(more < 10000);
    CU_ASSERT(several(&f, 4, BYTES, true, 5000));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"both are tried first", both_are_tried_first},
        {"the best counts", the_best_counts},
        {"sizes differ", sizes_differ},
        {"times are of a KiB", times_are_of_a_kib},
        {"it is measured again", it_is_measured_again},
    };
    return covey_test_main("faster", cases, sizeof cases / sizeof cases[0]);
}
