/* links: daemon/base/part.c daemon/base/failure.c */
/*
 * part_test.c - when a round steps a part, and in which order parts are made, told and ended. The
 * table of parts is this file's: three of them do something.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "daemon/base/daemon.h"
#include "tests/unit/runner.h"

static struct {
    struct daemon daemon;
    const struct part *table[PARTS];
    uint64_t now_us, next_us; /* what the first part's step returns */
    bool wants_again, fails;
    char trace[64]; /* what was called, a letter each */
} world;

uint64_t loop_now_us(void)
{
    return world.now_us;
}

static void trace(char what)
{
    size_t n = strlen(world.trace);
    CU_ASSERT_TRUE_FATAL(n + 1 < sizeof world.trace);
    world.trace[n] = what;
}

/* What was called since the last look. */
static const char *traced(void)
{
    static char text[sizeof world.trace];
    memcpy(text, world.trace, sizeof text);
    memset(world.trace, 0, sizeof world.trace);
    return text;
}

/* ---- the parts ---- */

struct hosts {
    uint64_t zero;
};

static int first_create(struct daemon *d, struct failure *why)
{
    (void)why;
    CU_ASSERT_EQUAL(d->own.hosts->zero, 0);
    trace('a');
    return 0;
}

static void first_destroy(struct daemon *d)
{
    CU_ASSERT_PTR_NOT_NULL(d->own.hosts);
    trace('A');
}

static uint64_t first_settle(struct daemon *d, uint64_t now_us)
{
    CU_ASSERT_EQUAL(now_us, world.now_us);
    trace('s');
    if (world.wants_again)
        part_want(d, PART_hosts);
    return world.next_us;
}

static void first_task_gone(struct daemon *d, const struct control_gone *gone,
                            const struct task *own)
{
    (void)d, (void)gone;
    CU_ASSERT_PTR_NULL(own);
    trace('g');
}

static bool first_task_closed(struct task *task)
{
    (void)task;
    trace('c');
    return true;
}

static int second_create(struct daemon *d, struct failure *why)
{
    (void)d;
    trace('b');
    return world.fails ? failure_memory(why) : 0;
}

static void second_destroy(struct daemon *d)
{
    (void)d;
    trace('B');
}

static uint64_t second_settle(struct daemon *d, uint64_t now_us)
{
    (void)d, (void)now_us;
    trace('t');
    return UINT64_MAX;
}

static bool second_task_closed(struct task *task)
{
    (void)task;
    trace('x');
    return false;
}

static bool second_full(const struct daemon *d)
{
    (void)d;
    return world.fails;
}

static const struct part first = {.name = "first",
                                  .state_bytes = sizeof(struct hosts),
                                  .create = first_create,
                                  .destroy = first_destroy,
                                  .settle = first_settle,
                                  .task_gone = first_task_gone,
                                  .task_closed = first_task_closed};
static const struct part second = {.name = "second",
                                   .create = second_create,
                                   .destroy = second_destroy,
                                   .settle = second_settle,
                                   .task_closed = second_task_closed,
                                   .full = second_full};
static const struct part idle = {.name = "idle"};

static void begin(void)
{
    struct failure why;
    memset(&world, 0, sizeof world);
    for (size_t i = 0; i < PARTS; i++)
        world.table[i] = &idle;
    world.table[PART_hosts] = &first;
    world.table[PART_stats] = &second;
    world.daemon.parts = world.table;
    world.next_us = UINT64_MAX;
    CU_ASSERT_EQUAL(parts_create(&world.daemon, &why), 0);
    CU_ASSERT_STRING_EQUAL(traced(), "ab");
}

/* ---- stories ---- */

static void a_part_that_has_nothing_to_do_is_not_stepped(void)
{
    begin();
    CU_ASSERT_EQUAL(parts_settle(&world.daemon), UINT64_MAX);
    CU_ASSERT_STRING_EQUAL(traced(), "st"); /* each once, to begin with */
    CU_ASSERT_EQUAL(parts_settle(&world.daemon), UINT64_MAX);
    CU_ASSERT_STRING_EQUAL(traced(), "");
    part_want(&world.daemon, PART_stats);
    parts_settle(&world.daemon);
    CU_ASSERT_STRING_EQUAL(traced(), "t");
    parts_destroy(&world.daemon);
}

static void a_part_is_stepped_when_its_time_has_come(void)
{
    begin();
    world.next_us = 50;
    CU_ASSERT_EQUAL(parts_settle(&world.daemon), 50);
    world.now_us = 49;
    CU_ASSERT_EQUAL(parts_settle(&world.daemon), 50);
    CU_ASSERT_STRING_EQUAL(traced(), "st");
    world.now_us = 50;
    world.next_us = 70;
    CU_ASSERT_EQUAL(parts_settle(&world.daemon), 70);
    CU_ASSERT_STRING_EQUAL(traced(), "s");
    part_want(&world.daemon, PART_hosts); /* a step may put the time off */
    world.next_us = UINT64_MAX;
    CU_ASSERT_EQUAL(parts_settle(&world.daemon), UINT64_MAX);
    parts_destroy(&world.daemon);
}

static void a_part_may_want_each_round(void)
{
    begin();
    world.wants_again = true;
    parts_settle(&world.daemon);
    parts_settle(&world.daemon);
    world.wants_again = false;
    CU_ASSERT_EQUAL(parts_settle(&world.daemon), UINT64_MAX); /* which is no reason to wake up */
    parts_settle(&world.daemon);
    CU_ASSERT_STRING_EQUAL(traced(), "stss");
    parts_destroy(&world.daemon);
}

static void an_end_is_told_and_wants_who_hears_it(void)
{
    begin();
    parts_settle(&world.daemon);
    traced();
    parts_task_gone(&world.daemon, &(struct control_gone){.tid = 1}, NULL);
    parts_settle(&world.daemon);
    CU_ASSERT_STRING_EQUAL(traced(), "gs");
    parts_task_closed(&world.daemon, NULL); /* the first has seen to it: the task may be gone */
    CU_ASSERT_STRING_EQUAL(traced(), "c");
    parts_destroy(&world.daemon);
}

static void any_part_may_be_full(void)
{
    begin();
    CU_ASSERT_FALSE(parts_full(&world.daemon));
    world.fails = true;
    CU_ASSERT_TRUE(parts_full(&world.daemon));
    CU_ASSERT_TRUE(parts_passed(&world.daemon));
    parts_destroy(&world.daemon);
    CU_ASSERT_STRING_EQUAL(traced(), "BA");
}

static void what_cannot_be_made_is_ended_as_far_as_it_is_there(void)
{
    struct failure why = {""};
    begin();
    parts_destroy(&world.daemon);
    traced();
    world.fails = true;
    CU_ASSERT_EQUAL(parts_create(&world.daemon, &why), -1);
    CU_ASSERT_STRING_EQUAL(why.text, "memory is exhausted");
    parts_destroy(&world.daemon);
    CU_ASSERT_STRING_EQUAL(traced(), "abBA");
    CU_ASSERT_PTR_NULL(world.daemon.own.hosts);
    parts_destroy(&world.daemon); /* nothing is there: the first is not asked */
    CU_ASSERT_STRING_EQUAL(traced(), "B");
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a part that has nothing to do is not stepped",
         a_part_that_has_nothing_to_do_is_not_stepped},
        {"a part is stepped when its time has come", a_part_is_stepped_when_its_time_has_come},
        {"a part may want each round", a_part_may_want_each_round},
        {"an end is told, and wants who hears it", an_end_is_told_and_wants_who_hears_it},
        {"any part may be full", any_part_may_be_full},
        {"what cannot be made is ended as far as it is there",
         what_cannot_be_made_is_ended_as_far_as_it_is_there},
    };
    return covey_test_main("part", cases, sizeof cases / sizeof cases[0]);
}
