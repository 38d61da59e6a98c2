/* links: tools/bench_stat.c */
/* The statistics of covey bench: spread, ratios of pairs, and the line through the times. */
#include <CUnit/CUnit.h>

#include "tests/unit/runner.h"
#include "tools/bench_stat.h"

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

static void test_line(void)
{
    const double bytes[] = {1, 1000, 100000, 1000000};
    double us[4];
    struct bench_fit fit;
    for (int i = 0; i < 4; i++)
        us[i] = 20 + 0.001 * bytes[i];
    CU_ASSERT_EQUAL(bench_fit_line(bytes, us, 4, &fit), 0);
    NEAR(fit.alpha_us, 20);
    NEAR(fit.beta_us, 0.001);
    NEAR(fit.r2, 1);
    NEAR(fit.worst, 0);
}

/* A percent of the largest time must not hide alpha. */
static void test_line_of_noisy_points(void)
{
    const double bytes[] = {1, 100, 1000000};
    const double us[] = {10, 10.01, 1010 * 1.01};
    struct bench_fit fit;
    CU_ASSERT_EQUAL(bench_fit_line(bytes, us, 3, &fit), 0);
    CU_ASSERT_DOUBLE_EQUAL(fit.alpha_us, 10, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(fit.beta_us, 0.00101, 0.00001);
    CU_ASSERT(fit.r2 > 0.99 && fit.r2 <= 1);
    CU_ASSERT(fit.worst > 0 && fit.worst < 0.02);
}

static void test_no_line(void)
{
    const double same[] = {64, 64}, us[] = {1, 2}, none[] = {0, 1};
    const double bytes[] = {1, 2};
    struct bench_fit fit;
    CU_ASSERT_EQUAL(bench_fit_line(same, us, 2, &fit), -1);
    CU_ASSERT_EQUAL(bench_fit_line(bytes, us, 1, &fit), -1);
    CU_ASSERT_EQUAL(bench_fit_line(bytes, none, 2, &fit), -1);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"spread", test_spread},
        {"spread between samples", test_spread_between_samples},
        {"spread of one sample", test_spread_of_one},
        {"ratio of pairs", test_ratio_of_pairs},
        {"line", test_line},
        {"line of noisy points", test_line_of_noisy_points},
        {"no line", test_no_line},
    };
    return covey_test_main("tool_bench", cases, sizeof cases / sizeof cases[0]);
}
