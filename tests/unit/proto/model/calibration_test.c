/* links: proto/model/calibration.c */
/*
 * The file of a calibration, read and written.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/model/calibration.h"
#include "tests/unit/runner.h"

#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 1e-9)

static struct calibration calibration, again;
static char error[CALIBRATION_ERROR_BYTES];

static int parse(const char *text)
{
    error[0] = '\0';
    return calibration_parse(&calibration, text, strlen(text), "cal", error);
}

static const char good[] = "# measured\n"
                           "date 2026-11-21T22:15:00Z\n"
                           "vm lab\n"
                           "route tcp 1e-4 8.5e-8 0.999 0.02 3e-9 9e-8 # of one pair\n"
                           "all tcp 8 7e-9 1e-7\n"
                           "uneven tcp 0.1 0.25\n"
                           "start tcp 6e-6\n"
                           "inside tcp 2e-5 4e-10 0.99 0.1 2e-10\n"
                           "together 1.9\n"
                           "host h1 2 1.98 0.2\n"
                           "matmul h1 64 5e-10\n"
                           "matmul h1 128 4e-10\n"
                           "matmul h1 256 3e-10\r\n"
                           "matmul h1 512 2e-10\n"
                           "matmul h1 1024 1e-10\n"
                           "matmul h1 2048 1e-10\n"
                           "\tsort h1 2e-9 1e-9\n"
                           "mandel h1 1.5e-9\n"
                           "touch h1 6e-9\n"
                           "order h1 little\n"
                           "packing h1 int64 pack 1e-7 2e-10 0.99 0.1\n"
                           "packing h1 int64 convert 2e-7 4e-10 0.98 0.2\n"
                           "host h2 1 1 1\n"
                           "order h2 big\n"
                           "peers tcp h1 h2 4e-5 8e-8";

static void test_reads(void)
{
    CU_ASSERT_EQUAL(parse(good), 0);
    CU_ASSERT_STRING_EQUAL(error, "");
    CU_ASSERT_STRING_EQUAL(calibration.date, "2026-11-21T22:15:00Z");
    CU_ASSERT_STRING_EQUAL(calibration.vm, "lab");
    CU_ASSERT_EQUAL(calibration.routes[3].known, 1);
    CU_ASSERT_EQUAL(calibration.routes[2].known, 0);
    NEAR(calibration.routes[3].line.beta_s * 1e9, 85);
    NEAR(calibration.routes[3].load.drag_s * 1e9, 3);
    NEAR(calibration.routes[3].load.busy_s * 1e9, 90);
    NEAR(calibration.routes[3].load.all_hosts, 8);
    NEAR(calibration.routes[3].load.all_drag_s * 1e9, 7);
    NEAR(calibration.routes[3].load.all_busy_s * 1e9, 100);
    NEAR(calibration.routes[3].load.spread, 0.1);
    NEAR(calibration.routes[3].load.all_spread, 0.25);
    NEAR(calibration.routes[3].start_s * 1e6, 6);
    CU_ASSERT_EQUAL(calibration.routes[3].inside_known, 1);
    NEAR(calibration.routes[3].inside.beta_s * 1e10, 4);
    NEAR(calibration.routes[3].inside_drag_s * 1e10, 2);
    CU_ASSERT_EQUAL(calibration.peer_count, 1);
    CU_ASSERT_EQUAL(calibration.peers[0].route, 3);
    CU_ASSERT_EQUAL(calibration.peers[0].hosts[1], 1);
    NEAR(calibration.peers[0].alpha_s * 1e5, 4);
    NEAR(calibration.together, 1.9);
    CU_ASSERT_EQUAL(calibration.host_count, 2);
    NEAR(calibration.hosts[0].speed.madd_s[4] * 1e10, 1);
    NEAR(calibration.hosts[0].speed.share, 0.2);
    NEAR(calibration.hosts[0].speed.merge_s * 1e9, 1);
    NEAR(calibration.hosts[0].speed.touch_s * 1e9, 6);
    CU_ASSERT_EQUAL(calibration.hosts[0].order, MODEL_ORDER_LITTLE);
    CU_ASSERT_EQUAL(calibration.hosts[1].order, MODEL_ORDER_BIG);
    const struct model_line *ways = calibration.packing[0].lines[MODEL_PACKING_INT64];
    NEAR(ways[MODEL_PACKING_PACK].alpha_s * 1e7, 1);
    NEAR(ways[MODEL_PACKING_CONVERT].beta_s * 1e10, 4);
    NEAR(ways[MODEL_PACKING_CONVERT].worst, 0.2);
    CU_ASSERT_EQUAL(ways[MODEL_PACKING_UNPACK].beta_s, 0);
    CU_ASSERT_EQUAL(calibration.packing[1].lines[MODEL_PACKING_INT64][0].beta_s, 0);
    CU_ASSERT_EQUAL(calibration_find(&calibration, "h2"), 1);
    CU_ASSERT_EQUAL(calibration_find(&calibration, "h3"), -1);
}

/* As older versions wrote it. */
static void test_reads_without_touch_and_order(void)
{
    CU_ASSERT_EQUAL(parse("host h1 2 1 0.5\nsort h1 2e-9 1e-9\n"), 0);
    CU_ASSERT_EQUAL(calibration.hosts[0].speed.touch_s, 0);
    CU_ASSERT_EQUAL(calibration.hosts[0].order, MODEL_ORDER_UNKNOWN);
}

static void test_round_trip(void)
{
    char text[4096], second[4096];
    CU_ASSERT_EQUAL_FATAL(parse(good), 0);
    size_t length = calibration_print(&calibration, text, sizeof text);
    CU_ASSERT_EQUAL(length, strlen(text));
    CU_ASSERT_EQUAL_FATAL(calibration_parse(&again, text, length, "cal", error), 0);
    CU_ASSERT_EQUAL(memcmp(&again, &calibration, sizeof again), 0);
    calibration_print(&again, second, sizeof second);
    CU_ASSERT_STRING_EQUAL(text, second);
}

static void test_print_says_what_it_needs(void)
{
    char little[8];
    CU_ASSERT_EQUAL_FATAL(parse(good), 0);
    CU_ASSERT(calibration_print(&calibration, little, sizeof little) > 200);
    CU_ASSERT_EQUAL(little[7], '\0');
    CU_ASSERT_EQUAL(calibration_print(&calibration, NULL, 0),
                    calibration_print(&calibration, little, 1));
}

/* Each with the line that is to blame and a word of the reason. */
static const struct {
    const char *text, *begin, *reason;
} nonsense[] = {
    {"", "cal:0:", "no host"},
    {"hello\n", "cal:1:", "begins no line"},
    {"host h1 2 1 0.5\nhost h1 2 1 0.5\n", "cal:2:", "already"},
    {"host h1 0 1 0.5\n", "cal:1:", "not between"},
    {"all tcp 8 7e-9 1e-7\n", "cal:1:", "stands before it"},
    {"route tcp 0 0 0 0 0 0\nall tcp 1 0 0\n", "cal:2:", "not between"},
    {"route tcp 0 0 0 0 0 0\nall tcp 2 0 0\nall tcp 2 0 0\n", "cal:3:", "already"},
    {"uneven tcp 0.1 0.2\n", "cal:1:", "stands before it"},
    {"route tcp 0 0 0 0 0 0\nuneven tcp 1 -1\n", "cal:2:", "not between"},
    {"route tcp 0 0 0 0 0 0\nuneven tcp 1 1\nuneven tcp 1 1\n", "cal:3:", "already"},
    {"start tcp 1e-6\n", "cal:1:", "no line 'route tcp"},
    {"route tcp 0 0 0 0 0 0\nstart tcp 0\n", "cal:2:", "not between"},
    {"route tcp 0 0 0 0 0 0\nstart tcp 1\nstart tcp 1\n", "cal:3:", "already"},
    {"route tcp 0 0 0 0 0 0\ninside tcp 0 0 0 0\n", "cal:2:", "7 words, not 6"},
    {"route tcp 0 0 0 0 0 0\ninside tcp 0 0 0 0 0\ninside tcp 0 0 0 0 0\n", "cal:3:", "already"},
    {"packing h1 int64 pack 0 1e-9 1 0\n", "cal:1:", "stands before it"},
    {"host h1 1 1 1\npacking h1 int65 pack 0 1e-9 1 0\n", "cal:2:", "no type of packing"},
    {"host h1 1 1 1\npacking h1 int64 wrap 0 1e-9 1 0\n", "cal:2:", "no way of packing"},
    {"host h1 1 1 1\npacking h1 int64 pack 0 0 1 0\n", "cal:2:", "not between"},
    {"host h1 1 1 1\npacking h1 int64 pack 0 1 1 0\npacking h1 int64 pack 0 1 1 0\n",
     "cal:3:", "already"},
    {"host h1 2 nan 0.5\n", "cal:1:", "no number"},
    {"host h1 2 0x2 0.5\n", "cal:1:", "no number"},
    {"host h1 2 1 1.5\n", "cal:1:", "not between"},
    {"host h1 2 1\n", "cal:1:", "5 words, not 4"},
    {"host -x 2 1 1\n", "cal:1:", "no name"},
    {"\n\nmandel h1 1e-9\n", "cal:3:", "stands before it"},
    {"host h1 1 1 1\nmandel h1 0\n", "cal:2:", "not between"},
    {"host h1 1 1 1\nmandel h1 -1e-9\n", "cal:2:", "not between"},
    {"host h1 1 1 1\nmandel h1 1e-9\nmandel h1 1e-9\n", "cal:3:", "already"},
    {"touch h1 1e-9\n", "cal:1:", "stands before it"},
    {"host h1 1 1 1\ntouch h1 0\n", "cal:2:", "not between"},
    {"host h1 1 1 1\ntouch h1 1e-9\ntouch h1 1e-9\n", "cal:3:", "already"},
    {"order h1 big\n", "cal:1:", "stands before it"},
    {"host h1 1 1 1\norder h1 middle\n", "cal:2:", "no byte order"},
    {"host h1 1 1 1\norder h1 big\norder h1 little\n", "cal:3:", "already"},
    {"host h1 1 1 1\nmatmul h1 100 1e-9\n", "cal:2:", "not measured"},
    {"host h1 1 1 1\nmatmul h1 64 1e-9\n", "cal:2:", "lacks 5 of 6"},
    {"route pigeon 1 1 1 1 1 1\n", "cal:1:", "none of the routes"},
    {"route tcp 1 2 1 1 1 1\n", "cal:1:", "not between"},
    {"route tcp 1 inf 1 1 1 1\n", "cal:1:", "no number"},
    {"route tcp 1 0 1 1 0 0\nroute tcp 1 0 1 1 0 0\n", "cal:2:", "already"},
    {"date yesterday\n", "cal:1:", "no date"},
    {"date 2026\ndate 2026\n", "cal:2:", "already"},
    {"vm a b\n", "cal:1:", "2 words, not 3"},
    {"vm /etc\n", "cal:1:", "no name"},
    {"a b c d e f g h i\n", "cal:1:", "more than 8"},
    {"mandel aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1\n",
     "cal:1:", "longer than"},
};

static void test_refuses(void)
{
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        CU_ASSERT_EQUAL(parse(nonsense[i].text), -1);
        CU_ASSERT_EQUAL(strncmp(error, nonsense[i].begin, strlen(nonsense[i].begin)), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, nonsense[i].reason));
        if (!strstr(error, nonsense[i].reason))
            printf("%s: %s\n", nonsense[i].text, error);
    }
}

static void test_refuses_too_many_hosts(void)
{
    char *text = malloc(MODEL_HOSTS_MAX * 32 + 32);
    size_t used = 0;
    for (int i = 0; i <= MODEL_HOSTS_MAX; i++)
        used += (size_t)sprintf(text + used, "host h%d 1 1 1\n", i);
    CU_ASSERT_EQUAL(calibration_parse(&calibration, text, used, "cal", error), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "cal:257:"));
    free(text);
}

static void test_refuses_bytes_that_are_no_text(void)
{
    static const char text[] = "host h\0a 1 1 1\n";
    CU_ASSERT_EQUAL(calibration_parse(&calibration, text, sizeof text - 1, "c\033l", error), -1);
    CU_ASSERT_EQUAL(strncmp(error, "c?l:1:", 6), 0);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"reads", test_reads},
        {"reads without touch and order", test_reads_without_touch_and_order},
        {"round trip", test_round_trip},
        {"print says what it needs", test_print_says_what_it_needs},
        {"refuses nonsense", test_refuses},
        {"refuses too many hosts", test_refuses_too_many_hosts},
        {"refuses bytes that are no text", test_refuses_bytes_that_are_no_text},
    };
    return covey_test_main("calibration", cases, sizeof cases / sizeof cases[0]);
}
