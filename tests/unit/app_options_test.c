/* links: apps/options.c */
#include "apps/options.h"

#include "covey.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/unit/runner.h"

/* What the options need of the library. */
int covey_route_parse(const char *name)
{
    return strcmp(name, "udp") == 0 ? COVEY_ROUTE_UDP : COVEY_EINVAL;
}

const char *covey_version(void)
{
    return "0";
}

static void test_integers_with_suffixes(void)
{
    int64_t value = -1;
    CU_ASSERT_EQUAL(app_parse_integer("x", "12", 0, 100, &value), 0);
    CU_ASSERT_EQUAL(value, 12);
    CU_ASSERT_EQUAL(app_parse_integer("x", "8M", 0, INT64_MAX, &value), 0);
    CU_ASSERT_EQUAL(value, 8 << 20);
    CU_ASSERT_EQUAL(app_parse_integer("x", "-1K", -2000, 0, &value), 0);
    CU_ASSERT_EQUAL(value, -1024);
}

static void test_broken_integers_are_refused(void)
{
    static const char *const broken[] = {"",   "x",   "1.5", "4KK",  "4k",
                                         "1 ", "0x1", "101", "-101", "99999999999G"};
    int64_t value = 7;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        CU_ASSERT_EQUAL(app_parse_integer("x", broken[i], -100, 100, &value), -1);
    CU_ASSERT_EQUAL(value, 7);
}

static void test_numbers_are_finite_and_within_bounds(void)
{
    static const char *const broken[] = {"", "x", "nan", "inf", "1e999", "2", "-1", "0.5x"};
    double value = 7;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        CU_ASSERT_EQUAL(app_parse_double("x", broken[i], 0, 1, &value), -1);
    CU_ASSERT_EQUAL(value, 7);
    CU_ASSERT_EQUAL(app_parse_double("x", "0.25", 0, 1, &value), 0);
    CU_ASSERT_EQUAL(value, 0.25);
}

static void test_host_lists(void)
{
    struct app_options options;
    app_options_init(&options);
    CU_ASSERT_EQUAL(app_option(&options, 'H', "h0,h1,berta"), 1);
    CU_ASSERT_EQUAL_FATAL(options.host_count, 3);
    CU_ASSERT_STRING_EQUAL(options.hosts[0], "h0");
    CU_ASSERT_STRING_EQUAL(options.hosts[2], "berta");
    CU_ASSERT_EQUAL(app_option(&options, 'H', "h7"), 1); /* the last one counts */
    CU_ASSERT_EQUAL(options.host_count, 1);
    CU_ASSERT_EQUAL(app_option(&options, 'H', "h0,,h1"), -1);
    CU_ASSERT_EQUAL(app_option(&options, 'H', ""), -1);
    app_options_fini(&options);
}

static void test_common_options(void)
{
    struct app_options options;
    app_options_init(&options);
    CU_ASSERT(options.baseline_s == APP_BASELINE_MEASURE);
    CU_ASSERT_EQUAL(app_option(&options, 'n', "4"), 1);
    CU_ASSERT_EQUAL(app_option(&options, 'r', "udp"), 1);
    CU_ASSERT_EQUAL(app_option(&options, 'b', "2.5"), 1);
    CU_ASSERT_EQUAL(app_option(&options, 'c', NULL), 1);
    CU_ASSERT_EQUAL(options.tasks, 4);
    CU_ASSERT_EQUAL(options.route, COVEY_ROUTE_UDP);
    CU_ASSERT_EQUAL(options.baseline_s, 2.5);
    CU_ASSERT(options.check);
    CU_ASSERT_EQUAL(app_option(&options, 'n', "0"), -1);
    CU_ASSERT_EQUAL(app_option(&options, 'r', "pigeon"), -1);
    CU_ASSERT_EQUAL(app_option(&options, 's', "-1"), -1);
    CU_ASSERT_EQUAL(app_option(&options, APP_OPTION_OWN, NULL), 0);
    CU_ASSERT_EQUAL(app_option(&options, '?', NULL), 0);
    app_options_fini(&options);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"integers with suffixes", test_integers_with_suffixes},
        {"broken integers are refused", test_broken_integers_are_refused},
        {"numbers are finite and within bounds", test_numbers_are_finite_and_within_bounds},
        {"host lists", test_host_lists},
        {"common options", test_common_options},
    };
    return covey_test_main("app_options", cases, sizeof cases / sizeof cases[0]);
}
