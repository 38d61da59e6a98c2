/* links: daemon/base/loop.c -lev */
/*
 * loop_test.c - when an alarm that is put off sets its timer anew. The clock and the timer are this
 * file's.
 */
#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <sys/timerfd.h>
#include <time.h>

#include "daemon/base/loop.h"
#include "tests/unit/runner.h"

static uint64_t clock_now_us = 1000000000;
static unsigned timer_calls;
static uint64_t timer_us; /* when it expires */

int clock_gettime(clockid_t which, struct timespec *t)
{
    (void)which;
    t->tv_sec = (time_t)(clock_now_us / 1000000u);
    t->tv_nsec = (long)(clock_now_us % 1000000u) * 1000;
    return 0;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *from)
{
    (void)fd, (void)flags, (void)from;
    timer_calls++;
    timer_us = (uint64_t)to->it_value.tv_sec * 1000000u + (uint64_t)to->it_value.tv_nsec / 1000u;
    return 0;
}

static void on_nothing(void *context)
{
    (void)context;
}

/* A heartbeat comes each half second, and the next is missed an eighth later. */
static void idle_daemon_is_not_woken(void)
{
    struct loop *loop = loop_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(loop);
    struct loop_alarm *alarm = loop_alarm_add(loop, on_nothing, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(alarm);
    for (int i = 0; i < 10; i++) {
        loop_alarm_set(alarm, clock_now_us + 625000);
        clock_now_us += 500000;
        CU_ASSERT(timer_us > clock_now_us);
    }
    loop_alarm_set(alarm, clock_now_us + 1000);
    CU_ASSERT_EQUAL(timer_us, clock_now_us + 1000);
    loop_alarm_remove(&alarm);
    loop_destroy(loop);
}

static void busy_daemon_makes_few_calls(void)
{
    struct loop *loop = loop_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(loop);
    struct loop_alarm *alarm = loop_alarm_add(loop, on_nothing, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(alarm);
    timer_calls = 0;
    for (int i = 0; i < 100000; i++) {
        loop_alarm_set(alarm, clock_now_us + 200000);
        clock_now_us += 10;
    }
    CU_ASSERT(timer_calls <= 11);
    loop_alarm_remove(&alarm);
    loop_destroy(loop);
}

static const struct test_case CASES[] = {
    {"an idle daemon is not woken by an alarm that was put off", idle_daemon_is_not_woken},
    {"a busy daemon makes few calls", busy_daemon_makes_few_calls},
};

int main(void)
{
    return covey_test_main("loop", CASES, sizeof CASES / sizeof CASES[0]);
}
