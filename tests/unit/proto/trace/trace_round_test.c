/* links: */
#include <CUnit/CUnit.h>

#include "proto/trace/trace_round.h"
#include "tests/unit/runner.h"

/* A ring that so many percent of go to in a millisecond: the most it was full after some rounds,
 * and after the first ten of them. */
struct fills {
    unsigned worst, settled;
    uint64_t last_us;
};

static struct fills fill(double percent_per_ms)
{
    struct fills f = {.last_us = TRACE_ROUND_US};
    for (int round = 0; round < 40; round++) {
        double full = percent_per_ms * (double)f.last_us / 1000;
        unsigned percent = full < 100 ? (unsigned)full : 100;
        f.worst = percent > f.worst ? percent : f.worst;
        if (round >= 10)
            f.settled = percent > f.settled ? percent : f.settled;
        f.last_us = trace_round_us(f.last_us, percent);
    }
    return f;
}

static void test_what_is_quiet_is_seldom_asked(void)
{
    struct fills f = fill(0.001);
    CU_ASSERT_EQUAL(f.last_us, TRACE_ROUND_MAX_US);
    f = fill(0);
    CU_ASSERT_EQUAL(f.last_us, TRACE_ROUND_MAX_US);
}

static void test_what_is_busy_is_asked_before_it_is_full(void)
{
    static const double rates[] = {0.02, 0.1, 0.5, 1, 2, 3.9};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct fills f = fill(rates[i]);
        CU_ASSERT(f.settled <= TRACE_ROUND_PERCENT + 1);
        CU_ASSERT(f.last_us >= TRACE_ROUND_MIN_US && f.last_us <= TRACE_ROUND_MAX_US);
    }
    CU_ASSERT_EQUAL(fill(1000).last_us, TRACE_ROUND_MIN_US);
}

/* A burst that fills five rings between two rounds is over: then it is seldom again. */
static void test_a_burst_is_forgotten(void)
{
    uint64_t us = trace_round_us(TRACE_ROUND_MAX_US, 100);
    CU_ASSERT(us <= TRACE_ROUND_MAX_US / 4);
    for (int round = 0; round < 3; round++)
        us = trace_round_us(us, 1);
    CU_ASSERT_EQUAL(us, TRACE_ROUND_MAX_US);
}

/* The time that passed may be any, after a pause of the program. */
static void test_any_time_and_share_have_a_round(void)
{
    const uint64_t times[] = {0, 1, TRACE_ROUND_US, UINT64_MAX};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        for (unsigned percent = 0; percent <= 255; percent++) {
            uint64_t us = trace_round_us(times[i], percent);
            CU_ASSERT(us >= TRACE_ROUND_MIN_US && us <= TRACE_ROUND_MAX_US);
        }
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"what is quiet is seldom asked", test_what_is_quiet_is_seldom_asked},
        {"what is busy is asked before it is full", test_what_is_busy_is_asked_before_it_is_full},
        {"a burst is forgotten", test_a_burst_is_forgotten},
        {"any time and share have a round", test_any_time_and_share_have_a_round},
    };
    return covey_test_main("trace_round", cases, sizeof cases / sizeof cases[0]);
}
