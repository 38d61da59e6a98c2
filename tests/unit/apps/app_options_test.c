/* links: apps/options.c */
#include "apps/options.h"

#include "covey.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
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

/* ---- a program's command line ---- */

struct program {
    struct app_options common;
    int size; /* its own option */
};

static int take(void *context, int key, const char *argument)
{
    struct program *program = context;
    return key == 'N' ? app_parse_int("--size", argument, 1, 100, &program->size) : -1;
}

#define ARGUMENTS_MAX 8
#define PARSE(program, ...) parse(program, (const char *[]){__VA_ARGS__, NULL})

static int parse(struct program *program, const char *const *arguments)
{
    static const struct option longs[] = {
        APP_LONG_OPTIONS, {"size", required_argument, NULL, 'N'}, {NULL, 0, NULL, 0}};
    static const struct app_syntax syntax = {"", APP_SHORT_OPTIONS "N:", longs, take};
    char name[] = "program", *argv[ARGUMENTS_MAX + 2] = {name};
    int argc = 1;
    for (; *arguments != NULL && argc <= ARGUMENTS_MAX; arguments++)
        argv[argc++] = strdup(*arguments);
    optind = 0; /* getopt_long() begins anew */
    opterr = 0;
    int result = app_options_parse(&program->common, argc, argv, &syntax, program);
    while (argc > 1)
        free(argv[--argc]);
    return result;
}

static int in_kernel(void)
{
    return 3;
}

static int in_worker(void)
{
    return 4;
}

static int in_coordinator(const void *program)
{
    return ((const struct program *)program)->size;
}

static int run(int parsed, struct program *program)
{
    static const struct app_roles roles = {in_kernel, in_worker, in_coordinator};
    return app_run(parsed, &program->common, &roles, program);
}

static void test_host_lists(void)
{
    struct program p;
    CU_ASSERT_EQUAL(PARSE(&p, "-Hh0,h1,berta"), 0);
    CU_ASSERT_EQUAL_FATAL(p.common.host_count, 3);
    CU_ASSERT_STRING_EQUAL(p.common.hosts[0], "h0");
    CU_ASSERT_STRING_EQUAL(p.common.hosts[2], "berta");
    run(-1, &p);
    CU_ASSERT_EQUAL(PARSE(&p, "-Hh0,h1", "--hosts=h7"), 0); /* the last one counts */
    CU_ASSERT_EQUAL(p.common.host_count, 1);
    run(-1, &p);
    CU_ASSERT_EQUAL(PARSE(&p, "-Hh0,,h1"), -1);
    run(-1, &p);
    CU_ASSERT_EQUAL(PARSE(&p, "--hosts="), -1);
    run(-1, &p);
}

static void test_common_options(void)
{
    struct program p;
    CU_ASSERT_EQUAL(PARSE(&p, "-n4"), 0);
    CU_ASSERT(p.common.baseline_s == APP_BASELINE_MEASURE);
    CU_ASSERT_EQUAL(PARSE(&p, "-n4", "-rudp", "-b2.5", "-c"), 0);
    CU_ASSERT_EQUAL(p.common.tasks, 4);
    CU_ASSERT_EQUAL(p.common.route, COVEY_ROUTE_UDP);
    CU_ASSERT_EQUAL(p.common.baseline_s, 2.5);
    CU_ASSERT(p.common.check);
    CU_ASSERT_EQUAL(PARSE(&p, "-n0"), -1);
    CU_ASSERT_EQUAL(PARSE(&p, "-rpigeon"), -1);
    CU_ASSERT_EQUAL(PARSE(&p, "-s-1"), -1);
}

static void test_own_options(void)
{
    struct program p = {.size = 1};
    CU_ASSERT_EQUAL(PARSE(&p, "-n4", "-N7"), 0);
    CU_ASSERT_EQUAL(p.size, 7);
    CU_ASSERT_EQUAL(PARSE(&p, "--size", "101"), -1);
    CU_ASSERT_EQUAL(PARSE(&p, "-x"), -1);
    CU_ASSERT_EQUAL(PARSE(&p, "--size"), -1);
    CU_ASSERT_EQUAL(PARSE(&p, "-c", "rest"), -1);
    CU_ASSERT_EQUAL(p.size, 7);
}

static void test_roles(void)
{
    struct program p = {.size = 5};
    CU_ASSERT_EQUAL(run(PARSE(&p, "-c"), &p), 5);
    CU_ASSERT_EQUAL(run(PARSE(&p, "--kernel"), &p), 3);
    CU_ASSERT_EQUAL(run(PARSE(&p, "--worker"), &p), 4);
    CU_ASSERT_EQUAL(run(PARSE(&p, "--wrong"), &p), 2);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"integers with suffixes", test_integers_with_suffixes},
        {"broken integers are refused", test_broken_integers_are_refused},
        {"numbers are finite and within bounds", test_numbers_are_finite_and_within_bounds},
        {"host lists", test_host_lists},
        {"common options", test_common_options},
        {"a program's own options", test_own_options},
        {"what a process is", test_roles},
    };
    return covey_test_main("app_options", cases, sizeof cases / sizeof cases[0]);
}
