/* links: proto/window/window_rtt.c */
#include "proto/window/window_rtt.h"

#include <CUnit/CUnit.h>

#include "tests/unit/runner.h"

static void test_first_sample(void)
{
    struct rtt r;
    rtt_init(&r);
    CU_ASSERT_FALSE(r.sampled);
    CU_ASSERT_EQUAL(rtt_probe_us(&r, 2000, 0), RTT_INITIAL_US + 2 * RTT_INITIAL_US + 2000);
    rtt_sample(&r, 800, 500);
    CU_ASSERT_EQUAL(r.smoothed_us, 800);
    CU_ASSERT_EQUAL(r.variance_us, 400);
    CU_ASSERT_EQUAL(r.min_us, 800);
}

/* RFC 9002 section 5.3 */
static void test_peer_delay_is_taken_off(void)
{
    struct rtt r;
    rtt_init(&r);
    rtt_sample(&r, 1000, 0);
    rtt_sample(&r, 2600, 800);
    CU_ASSERT_EQUAL(r.smoothed_us, (7 * 1000 + 1800) / 8);
    CU_ASSERT_EQUAL(r.variance_us, (3 * 500 + 800) / 4);
    rtt_sample(&r, 1000, 4000); /* cannot be true: faster than the path */
    CU_ASSERT_EQUAL(r.latest_us, 1000);
    CU_ASSERT_EQUAL(r.min_us, 1000);
}

static void test_backs_off_up_to_a_second(void)
{
    struct rtt r;
    rtt_init(&r);
    rtt_sample(&r, 1000, 0);
    for (int i = 0; i < 100; i++)
        rtt_sample(&r, 1000, 0);
    CU_ASSERT_EQUAL(rtt_probe_us(&r, 2000, 0), 1000 + RTT_GRANULARITY_US + 2000);
    CU_ASSERT_EQUAL(rtt_probe_us(&r, 2000, 3), 8 * 4000);
    CU_ASSERT_EQUAL(rtt_probe_us(&r, 2000, 40), RTT_PROBE_MAX_US);
}

static const struct test_case cases[] = {
    {"the first sample", test_first_sample},
    {"the peer's delay is taken off", test_peer_delay_is_taken_off},
    {"backs off up to a second", test_backs_off_up_to_a_second},
};

int main(void)
{
    return covey_test_main("window rtt", cases, sizeof cases / sizeof cases[0]);
}
