/* links: lib/member/giving.c lib/member/spread.c */
/*
 * giving_test.c - how often a wait offers the processor to others, as what they did with it before
 * has taught it.
 */
#include <CUnit/CUnit.h>

#include "lib/member/giving.h"
#include "tests/unit/runner.h"

#define SLICE_NS 3000000
#define ROUND_NS 20000 /* of tasks that wait for each other */

/* Waits until one may offer the processor again. */
static unsigned slept_through(struct giving *giving)
{
    unsigned count = 0;
    while (!giving_may(giving))
        count++;
    return count;
}

static void whoever_passes_it_on_gets_it_again(void)
{
    struct giving giving = {0};
    for (int i = 0; i < 1000; i++) {
        CU_ASSERT(giving_may(&giving));
        CU_ASSERT(!giving_learn(&giving, ROUND_NS));
    }
}

static void one_lost_slice_costs_few_waits(void)
{
    struct giving giving = {0};
    for (int i = 0; i < 20; i++) { /* daemons wake now and then */
        for (int waits = 0; waits < 200; waits++)
            CU_ASSERT(giving_may(&giving));
        CU_ASSERT(giving_learn(&giving, SLICE_NS));
        unsigned slept = slept_through(&giving);
        CU_ASSERT(slept > 0 && slept <= 32);
    }
}

static void where_slices_are_lost_again_and_again_nearly_all_waits_sleep(void)
{
    struct giving giving = {0};
    unsigned slept = 0, lost = 0;
    while (slept < 10000) { /* somebody computes: each offer costs a slice */
        giving_learn(&giving, SLICE_NS);
        lost++;
        slept += slept_through(&giving);
    }
    CU_ASSERT(lost <= 16);
}

static void there_is_a_limit(void)
{
    struct giving giving = {0};
    for (int i = 0; i < 100; i++) {
        giving_learn(&giving, SLICE_NS);
        CU_ASSERT(slept_through(&giving) <= 4096);
    }
}

static void lost_slices_are_forgotten(void)
{
    struct giving giving = {0};
    for (int i = 0; i < 10; i++) {
        giving_learn(&giving, SLICE_NS);
        slept_through(&giving);
    }
    for (int i = 0; i < 1000; i++)
        CU_ASSERT(giving_may(&giving));
    giving_learn(&giving, SLICE_NS);
    CU_ASSERT(slept_through(&giving) <= 256);
}

static void a_slice_was_wanted_and_nothing_was_not(void)
{
    CU_ASSERT(giving_wanted(SLICE_NS));
    CU_ASSERT(!giving_wanted(0));
    CU_ASSERT(giving_offer() > 0);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"whoever passes it on gets it again", whoever_passes_it_on_gets_it_again},
        {"one lost slice costs few waits", one_lost_slice_costs_few_waits},
        {"where slices are lost again and again nearly all waits sleep",
         where_slices_are_lost_again_and_again_nearly_all_waits_sleep},
        {"there is a limit", there_is_a_limit},
        {"lost slices are forgotten", lost_slices_are_forgotten},
        {"a slice was wanted and nothing was not", a_slice_was_wanted_and_nothing_was_not},
    };
    return covey_test_main("giving", cases, sizeof cases / sizeof cases[0]);
}
