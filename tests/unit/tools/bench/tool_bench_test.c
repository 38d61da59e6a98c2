/* links: tools/bench/bench_stat.c */
/* The statistics of covey bench: spread, and ratios of pairs. */
#include <CUnit/CUnit.h>

#include "tests/unit/runner.h"
#include "tools/bench/bench_stat.h"

#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 1e-9)

static void test_spread(void)
{
    double samples[] = {5, 1, 4, 2, 3};
    struct bench_spread spread = bench_spread_of(samples, 5);
    NEAR(spread.min, 1);
    NEAR(spread.quartile1, 2);
    NEAR(spread.median, 3);
    NEAR(spread.quartile3, 4);
    NEAR(spread.max, 5);
    NEAR(samples[0], 5); /* they stay as they came: pairs are pairs */
    NEAR(samples[4], 3);
}

static void test_spread_between_samples(void)
{
    double samples[] = {4, 1, 3, 2};
    struct bench_spread spread = bench_spread_of(samples, 4);
    NEAR(spread.quartile1, 1.75);
    NEAR(spread.median, 2.5);
    NEAR(spread.quartile3, 3.25);
}

static void test_spread_of_one(void)
{
    double sample = 7;
    struct bench_spread spread = bench_spread_of(&sample, 1);
    NEAR(spread.min, 7);
    NEAR(spread.quartile1, 7);
    NEAR(spread.median, 7);
    NEAR(spread.max, 7);
}

/* A machine that becomes four times slower keeps the ratio. */
static void test_ratio_of_pairs(void)
{
    const double covey[] = {3, 6, 12}, raw[] = {2, 4, 8};
    NEAR(bench_median_ratio(covey, raw, 3), 1.5);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"spread", test_spread},
        {"spread between samples", test_spread_between_samples},
        {"spread of one sample", test_spread_of_one},
        {"ratio of pairs", test_ratio_of_pairs},
    };
    return covey_test_main("tool_bench", cases, sizeof cases / sizeof cases[0]);
}
