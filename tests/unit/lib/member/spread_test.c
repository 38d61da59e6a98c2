/* links: lib/member/spread.c */
/*
 * spread_test.c - when a task looks for an idle processor, and that it may use all of them after it
 * has moved.
 */
#include <CUnit/CUnit.h>

#include <sched.h>

#include "lib/member/spread.h"
#include "tests/unit/runner.h"

#define MS 1000000u

/* So many offers that are taken, one each microsecond; how many of them until it is due, or 0. */
static int offers_until_due(struct spread *spread, int most, uint64_t *now_ns)
{
    for (int i = 1; i <= most; i++) {
        *now_ns += 1000;
        if (spread_is_due(spread, true, *now_ns))
            return i;
    }
    return 0;
}

static void one_offer_that_nobody_takes_begins_anew(void)
{
    struct spread spread = {0};
    uint64_t now_ns = 0;
    int due = offers_until_due(&spread, 100, &now_ns);
    CU_ASSERT(due > 1 && due < 100);
    spread = (struct spread){0};
    for (int i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(offers_until_due(&spread, due - 1, &now_ns), 0);
        CU_ASSERT(!spread_is_due(&spread, false, ++now_ns));
    }
}

static void looks_in_vain_become_rare(void)
{
    struct spread spread = {0};
    uint64_t now_ns = 0;
    int looks = 0;
    while (now_ns < 10000 * (uint64_t)MS) /* ten seconds in which all offers are taken */
        if (offers_until_due(&spread, 1000, &now_ns) > 0) {
            spread_looked(&spread, false, now_ns);
            looks++;
        }
    CU_ASSERT(looks > 10 && looks < 30);
}

static void moves_that_do_not_help_become_rare(void)
{
    struct spread spread = {0};
    uint64_t now_ns = 0, last_ns = 0, apart_ns = 0;
    while (now_ns < 10000 * (uint64_t)MS)
        if (offers_until_due(&spread, 1000, &now_ns) > 0) {
            spread_looked(&spread, true, now_ns);
            apart_ns = now_ns - last_ns;
            last_ns = now_ns;
        }
    CU_ASSERT(apart_ns > 500 * MS);
    now_ns +=
        10000 * (uint64_t)MS; /* it was alone for long: then the next look counts as the first */
    CU_ASSERT(offers_until_due(&spread, 100, &now_ns) > 0);
    spread_looked(&spread, true, now_ns);
    now_ns += 11 * MS;
    CU_ASSERT(offers_until_due(&spread, 100, &now_ns) > 0);
}

static void the_kernel_says_how_many_want_to_run(void)
{
    CU_ASSERT(spread_is_room("0.20 0.18 0.12 2/80 11206\n", 2));
    CU_ASSERT(!spread_is_room("0.20 0.18 0.12 3/80 11206\n", 2));
    CU_ASSERT(spread_is_room("0.20 0.18 0.12 3/80 11206\n", 64));
    CU_ASSERT(!spread_is_room("", 64));
    CU_ASSERT(!spread_is_room("0.20 0.18", 64));
    CU_ASSERT(!spread_is_room("0.20 0.18 0.12 -1/80 1", 64));
    CU_ASSERT(!spread_is_room("0.20 0.18 0.12 2", 64));
    CU_ASSERT(!spread_is_room("0.20 0.18 0.12 99999999999999999999/80", 64));
}

static void who_has_moved_may_run_everywhere(void)
{
    cpu_set_t before, after;
    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof before, &before), 0);
    bool moved = spread_move();
    CU_ASSERT_EQUAL(moved, CPU_COUNT(&before) > 1);
    CU_ASSERT_EQUAL(sched_getaffinity(0, sizeof after, &after), 0);
    CU_ASSERT(CPU_EQUAL(&before, &after));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"one offer that nobody takes begins anew", one_offer_that_nobody_takes_begins_anew},
        {"looks in vain become rare", looks_in_vain_become_rare},
        {"moves that do not help become rare", moves_that_do_not_help_become_rare},
        {"the kernel says how many want to run", the_kernel_says_how_many_want_to_run},
        {"who has moved may run everywhere", who_has_moved_may_run_everywhere},
    };
    return covey_test_main("spread", cases, sizeof cases / sizeof cases[0]);
}
