/* links: lib/domain/door/door_options.c lib/domain/door/door_order.c lib/domain/door/door_choose.c lib/domain/door/door_places.c lib/domain/base/error.c lib/domain/place/network.c lib/domain/place/place.c lib/domain/base/figures.c lib/domain/base/cache.c lib/domain/base/history.c lib/domain/base/chooser.c libcovey */
/*
 * What calls of sequential programs read, write and decide, without a virtual machine: their
 * options, the orders to workers, and on how many tasks a problem is solved.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/door/door_choose.h"
#include "lib/domain/door/door_crew.h"
#include "lib/domain/door/door_options.h"
#include "lib/domain/door/door_order.h"
#include "tests/unit/runner.h"

static struct door_options options;

static int read_options(const char *text, const char *environment)
{
    if (environment == NULL)
        unsetenv("COVEY_DOOR");
    else
        setenv("COVEY_DOOR", environment, 1);
    return door_options_read(text, &options);
}

static void nothing_is_forced(void)
{
    CU_ASSERT_EQUAL(read_options(NULL, NULL), 0);
    CU_ASSERT_EQUAL(options.hosts, -1);
    CU_ASSERT_EQUAL(options.tasks, -1);
    CU_ASSERT_EQUAL(options.retry, 0);
    CU_ASSERT_EQUAL(options.explain, 0);
    CU_ASSERT_DOUBLE_EQUAL(options.keep_s, 10, 0);
    CU_ASSERT_DOUBLE_EQUAL(options.limit_s, 0, 0);
    CU_ASSERT_STRING_EQUAL(options.rest, "");
    CU_ASSERT_EQUAL(read_options("", ",,"), 0);
}

static void all_is_forced(void)
{
    CU_ASSERT_EQUAL(
        read_options("hosts=3,lu=tournament,tasks=7,retry=2,keep=0.5,limit=2.5,explain,NB=64",
                     NULL),
        0);
    CU_ASSERT_EQUAL(options.hosts, 3);
    CU_ASSERT_EQUAL(options.tasks, 7);
    CU_ASSERT_EQUAL(options.retry, 2);
    CU_ASSERT_EQUAL(options.explain, 1);
    CU_ASSERT_DOUBLE_EQUAL(options.keep_s, 0.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(options.limit_s, 2.5, 1e-12);
    CU_ASSERT_STRING_EQUAL(options.rest, "lu=tournament,NB=64");
    CU_ASSERT_EQUAL(read_options("hosts=3,retry=1", "hosts=2,keep=1"), 0);
    CU_ASSERT_EQUAL(options.hosts, 2);
    CU_ASSERT_EQUAL(options.retry, 1);
    CU_ASSERT_DOUBLE_EQUAL(options.keep_s, 1, 0);
    CU_ASSERT_EQUAL(read_options("hostsof=3,explains", NULL), 0);
    CU_ASSERT_STRING_EQUAL(options.rest, "hostsof=3,explains");
}

static void refused(const char *text, const char *cause)
{
    CU_ASSERT_EQUAL(read_options(text, NULL), COVEY_EINVAL);
    CU_ASSERT_STRING_EQUAL(covey_domain_error_text(), cause);
}

static void what_is_wrong(void)
{
    char longest[400];
    refused("hosts=x", "hosts has no 'x': allowed are whole numbers from 0 to 4096");
    refused("hosts=4097", "hosts has no '4097': allowed are whole numbers from 0 to 4096");
    refused("tasks=0", "tasks has no '0': allowed are whole numbers from 1 to 4096");
    refused("retry=nan", "retry has no 'nan': allowed are whole numbers from 0 to 100");
    refused("keep=-1", "keep has no '-1': allowed are numbers from 0 to 86400");
    refused("limit=no", "limit has no 'no': allowed are numbers from 0 to 86400");
    refused("keep=", "keep has no '': allowed are numbers from 0 to 86400");
    refused("tasks=2,hosts=3", "2 tasks cannot be on 3 hosts");
    refused("tasks=2,hosts=0", "2 tasks cannot be the caller alone");
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    refused(longest, "the options have more than 254 characters");
    CU_ASSERT_EQUAL(read_options(NULL, "retry=many"), COVEY_EINVAL);
}

static void an_order_is_read_as_it_was_written(void)
{
    covey_tid_t tids[] = {7, 8, 9};
    struct door_message order = {.kind = DOOR_RUN,
                                 .number = 5,
                                 .keep_us = 123456789012,
                                 .tids = tids,
                                 .tid_count = 3,
                                 .op = DOOR_SORT,
                                 .args = {.n = {1, -2, INT64_MAX}, .x = {0.5}},
                                 .network = {.members = 4,
                                             .hosts = 2,
                                             .alpha_s = 1e-5,
                                             .beta_s = 1e-9,
                                             .one_alpha_s = 1e-6,
                                             .one_beta_s = 2e-9},
                                 .options = "sort=sample"};
    struct door_message read;
    covey_msg_t *msg = NULL;
    CU_ASSERT_EQUAL_FATAL(door_order_pack(&order, &msg), 0);
    CU_ASSERT_EQUAL_FATAL(door_order_unpack(msg, &read), 0);
    CU_ASSERT_EQUAL(read.kind, DOOR_RUN);
    CU_ASSERT_EQUAL(read.number, 5);
    CU_ASSERT_EQUAL(read.keep_us, 123456789012);
    CU_ASSERT_EQUAL(read.tid_count, 3);
    CU_ASSERT_EQUAL(memcmp(read.tids, tids, sizeof tids), 0);
    CU_ASSERT_EQUAL(read.op, DOOR_SORT);
    CU_ASSERT_EQUAL(memcmp(read.args.n, order.args.n, sizeof read.args.n), 0);
    CU_ASSERT_EQUAL(memcmp(read.args.x, order.args.x, sizeof read.args.x), 0);
    CU_ASSERT_PTR_NULL(read.args.out[0]);
    CU_ASSERT_EQUAL(memcmp(&read.network, &order.network, sizeof read.network), 0);
    CU_ASSERT_STRING_EQUAL(read.options, "sort=sample");
    free(read.tids);
    covey_msg_free(msg);
}

static void refuses(struct door_message order)
{
    struct door_message read;
    covey_msg_t *msg = NULL;
    CU_ASSERT_EQUAL_FATAL(door_order_pack(&order, &msg), 0);
    CU_ASSERT_EQUAL(door_order_unpack(msg, &read), COVEY_EPROTO);
    CU_ASSERT_PTR_NULL(read.tids);
    covey_msg_free(msg);
}

static void orders_that_make_no_sense(void)
{
    struct door_message read;
    covey_msg_t *msg = covey_msg_new();
    refuses((struct door_message){.kind = 0});
    refuses((struct door_message){.kind = DOOR_END + 1});
    refuses((struct door_message){.kind = DOOR_RUN, .op = DOOR_OPS});
    refuses((struct door_message){.kind = DOOR_RUN, .op = -1});
    refuses((struct door_message){.kind = DOOR_END, .keep_us = -1});
    CU_ASSERT(door_order_unpack(msg, &read) < 0);
    CU_ASSERT_PTR_NULL(read.tids);
    covey_pack_string(msg, "something else");
    CU_ASSERT(door_order_unpack(msg, &read) < 0);
    covey_msg_free(msg);
}

/* ---- the choice ---- */

/* x[0] seconds of work that is divided, and x[1] for each further task. */
static double cost(const struct door_args *args, const struct door_setting *s)
{
    return args->x[0] / s->tasks * s->place.load + args->x[1] * (s->tasks - 1);
}

static const struct door_op op = {.name = "a_test", .cost = cost};
static struct door_host hosts[] = {{.index = 1, .idle = 1}, {.index = 2, .idle = 2}};
static int32_t at[] = {0, 0, 1, 1, 1, 1};
static struct door_knowledge known;
static struct covey_door_report report;

static int choose(double work_s, double each_s, int ranks, int there)
{
    const struct door_args args = {.x = {work_s, each_s}};
    const struct door_places places = {
        .host_count = 2, .hosts = hosts, .rank_count = ranks, .at = at};
    const struct door_question question = {
        .op = &op, .args = &args, .options = &options, .places = &places, .there = there};
    return door_choose_tasks(&known, &question, &report);
}

static void begin(const char *text)
{
    known = (struct door_knowledge){.start_s = 0.045};
    CU_ASSERT_EQUAL(read_options(text, NULL), 0);
}

static void as_many_as_are_worth_it(void)
{
    begin(NULL);
    CU_ASSERT_EQUAL(choose(10, 0, 1, 0), 1);
    CU_ASSERT_STRING_EQUAL(report.why, "no other processor is idle");
    CU_ASSERT_EQUAL(choose(10, 0, 4, 0), 4);
    CU_ASSERT_EQUAL(report.hosts, 2);
    CU_ASSERT_DOUBLE_EQUAL(report.predicted_s, 2.5, 1e-9);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.table, "4 tasks on   2 hosts     2500.000 ms"));
    CU_ASSERT_EQUAL(choose(10, 2, 4, 0), 2); /* 10, 7, 7.3, 8.5 */
    CU_ASSERT_EQUAL(report.hosts, 1);
    CU_ASSERT_EQUAL(choose(10, 4.5, 4, 0), 1); /* 10, 9.5: less than a tenth */
    CU_ASSERT_PTR_NOT_NULL(strstr(report.why, "more tasks save nothing"));
    CU_ASSERT_EQUAL(choose(10, 0, 6, 0), 4); /* 5 and 6 share processors with others */
}

static void a_start_has_to_pay(void)
{
    int calls = 1;
    begin(NULL);
    CU_ASSERT_EQUAL(choose(0.02, 0, 2, 2), 2); /* they are there */
    while (choose(0.02, 0, 2, 0) == 1)
        calls++;
    CU_ASSERT_EQUAL(calls, 5); /* of which each misses 10 ms */
    begin(NULL);
    CU_ASSERT_EQUAL(choose(0.2, 0, 2, 0), 2);
    begin(NULL);
    CU_ASSERT_EQUAL(choose(0.02, 1, 2, 0), 1);
    CU_ASSERT_DOUBLE_EQUAL(known.missed_s, 0, 0);
}

/* Two tasks were expected to be twice as fast, and are slower. */
static void calls_teach(void)
{
    begin(NULL);
    CU_ASSERT_EQUAL(choose(3, 0, 2, 2), 2);
    for (int i = 0; i < 3; i++)
        door_choose_note(&known, 2, 3.5);
    CU_ASSERT_EQUAL(choose(3, 0, 2, 2), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.table, "2 tasks on   1 host      3500.000 ms"));
    for (int i = 0; i < 2; i++)
        door_choose_note(&known, 1, 4);
    CU_ASSERT_EQUAL(choose(3, 0, 2, 2), 2);
    CU_ASSERT_EQUAL(choose(300, 0, 2, 2), 2); /* another problem */
}

static void a_force_counts(void)
{
    begin("tasks=3");
    CU_ASSERT_EQUAL(choose(0.001, 1, 3, 0), 3);
    CU_ASSERT_STRING_EQUAL(report.why, "3 tasks on 2 hosts are forced");
    CU_ASSERT_PTR_NOT_NULL(strstr(report.table, "1 task  on   1 host "));
    begin("hosts=2");
    CU_ASSERT_EQUAL(choose(0.001, 1, 4, 0), 2);
}

static int is_short(double work_s)
{
    const struct door_args args = {.x = {work_s}};
    const struct door_question question = {.op = &op, .args = &args, .options = &options};
    return door_choose_short(&question, &report);
}

static void what_is_short_asks_nobody(void)
{
    begin(NULL);
    CU_ASSERT_TRUE(is_short(0.001));
    CU_ASSERT_EQUAL(report.tasks, 1);
    CU_ASSERT_STRING_EQUAL(report.table, "   1 task  on   1 host         1.000 ms\n");
    CU_ASSERT_FALSE(is_short(0.01));
    CU_ASSERT_FALSE(is_short(NAN));
    begin("tasks=2");
    CU_ASSERT_FALSE(is_short(0.001));
    begin("explain");
    CU_ASSERT_FALSE(is_short(0.001));
}

static void places_are_counted(void)
{
    const struct door_places places = {.host_count = 2, .hosts = hosts, .rank_count = 6, .at = at};
    CU_ASSERT_EQUAL(door_places_hosts(&places, 2), 1);
    CU_ASSERT_EQUAL(door_places_hosts(&places, 3), 2);
    CU_ASSERT_TRUE(door_places_is_inside(&places, 2));
    CU_ASSERT_FALSE(door_places_is_inside(&places, 3));
    CU_ASSERT_DOUBLE_EQUAL(door_places_share(&places, 4), 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(door_places_share(&places, 6), 0.5, 0);
    hosts[0].machine = hosts[1].machine = 7;
    CU_ASSERT_TRUE(door_places_is_inside(&places, 6));
    hosts[0].machine = hosts[1].machine = 0;
}

int main(void)
{
    static const struct test_case cases[] = {
        {"nothing is forced", nothing_is_forced},
        {"all is forced", all_is_forced},
        {"what is wrong is refused", what_is_wrong},
        {"an order is read as it was written", an_order_is_read_as_it_was_written},
        {"orders that make no sense are refused", orders_that_make_no_sense},
        {"as many tasks as are worth it", as_many_as_are_worth_it},
        {"a start has to pay", a_start_has_to_pay},
        {"calls teach", calls_teach},
        {"a force counts", a_force_counts},
        {"what is short asks nobody", what_is_short_asks_nobody},
        {"places are counted", places_are_counted},
    };
    setenv("COVEY_SOLVERS", "", 1); /* no earlier run counts */
    return covey_test_main("door", cases, sizeof cases / sizeof cases[0]);
}
