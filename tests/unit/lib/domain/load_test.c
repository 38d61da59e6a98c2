/* links: lib/domain/place/used.c lib/domain/place/others.c -lm */
/*
 * What a team used of processors, and what is left of a monitor's demand for others: pure
 * functions.
 */
#include <CUnit/CUnit.h>

#include <covey.h>
#include <string.h>

#include "lib/domain/place/others.h"
#include "lib/domain/place/used.h"
#include "tests/unit/runner.h"

#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL((a), (b), 1e-9)

/* ---- What this process used ------------------------------------------------------------------ */

static void between_readings_it_is_spread(void)
{
    struct used_log log = {.count = 0};
    NEAR(used_between(&log, 0, 10), 0);
    used_note(&log, 10, 1);
    used_note(&log, 12, 2);
    used_note(&log, 13, 2);
    NEAR(used_between(&log, 10, 12), 1);
    NEAR(used_between(&log, 11, 12.5), 0.5);
    NEAR(used_between(&log, 12, 20), 0);
    NEAR(used_between(&log, 12, 12), 0);
    NEAR(used_between(&log, 9.5, 10), 0.5); /* it may have been the last half second before */
    NEAR(used_between(&log, 0, 10), 1);     /* there is no more */
}

/* Plans are made all the time, and the monitor looks twice a second. */
static void many_readings_leave_those_of_looks(void)
{
    struct used_log log = {.count = 0};
    for (int i = 0; i <= 5000; i++) {
        used_note(&log, i * 1e-3, i % 1000 < 500 ? 0.5 * (i / 1000) : 0.5 * (i / 1000 + 1));
        if (i % 500 == 0)
            used_keep(&log);
    }
    CU_ASSERT(log.count <= USED_READINGS);
    NEAR(used_between(&log, 4, 4.5), 0.5);
    NEAR(used_between(&log, 4.5, 5), 0);
    NEAR(used_between(&log, 1, 2), 0.5);
}

static void the_oldest_readings_are_forgotten(void)
{
    struct used_log log = {.count = 0};
    for (int i = 0; i < 3 * USED_READINGS; i++)
        used_note(&log, i, i / 2.0);
    CU_ASSERT_EQUAL(log.count, USED_READINGS);
    NEAR(used_between(&log, 3 * USED_READINGS - 3, 3 * USED_READINGS - 1), 1);
}

/* ---- What others use ------------------------------------------------------------------------- */

#define HOSTS 3
static struct covey_host hosts[HOSTS];
static struct covey_host_stat stats[HOSTS];
static int members[HOSTS];
static double used[HOSTS], loads[HOSTS];

static void host(int i, double cores, double demand, double busy)
{
    stats[i] = (struct covey_host_stat){
        .known = 1, .cores = cores, .demand = demand, .cpu_busy = busy, .interval_s = 1};
}

static struct covey_domain_place place_now(int n)
{
    struct covey_domain_place place = {.processors = 7, .load = 3, .load_root = 3};
    others_look(&(struct others_view){hosts, stats, members, used, n, 0, loads}, &place);
    return place;
}

static void forget(void)
{
    memset(stats, 0, sizeof stats);
    memset(members, 0, sizeof members);
    memset(used, 0, sizeof used);
}

static void what_members_used_is_no_load(void)
{
    forget();
    members[0] = 2;
    used[0] = 1.9;
    host(0, 2, 1.9, 0.95);
    struct covey_domain_place place = place_now(1);
    NEAR(place.load, 1);
    NEAR(place.load_root, 1);
    NEAR(place.processors, 2);
    host(0, 2, 3, 1); /* a third one was ready by chance, but had nothing */
    used[0] = 2;
    NEAR(place_now(1).load, 1);
    members[0] = 4; /* more than processors, and all ready */
    host(0, 2, 4, 1);
    NEAR(place_now(1).load, 1);
}

static void what_others_use_is_load(void)
{
    forget();
    members[0] = 2;
    host(0, 2, 1, 0.5); /* members are idle, another one computes */
    NEAR(place_now(1).load, 1.5);
    NEAR(place_now(1).load_root, 1);
    host(0, 2, 3, 1); /* all three compute, of which two are members */
    used[0] = 4 / 3.0;
    NEAR(place_now(1).load, 1.5);
    used[0] = 0;
    NEAR(place_now(1).load, 2.5);
    NEAR(place_now(1).load_root, 2);
}

/* One member used all of its processor, that of another host used none: not both the same. */
static void each_host_has_its_own(void)
{
    forget();
    for (int i = 0; i < 2; i++) {
        members[i] = 1;
        host(i, 1, 1, 1);
    }
    used[0] = 1;
    NEAR(place_now(2).load, 2);
    NEAR(place_now(2).load_root, 1);
    NEAR(place_now(2).capacity, 1.5); /* one of both has half of its host */
    NEAR(loads[1], 2);
    used[1] = 1;
    NEAR(place_now(2).load, 1);
    NEAR(place_now(2).capacity, 2);
}

static void hosts_may_share_a_machine(void)
{
    forget();
    for (int i = 0; i < 2; i++) {
        members[i] = 1;
        used[i] = 1;
        host(i, 2, 2, 1);
        stats[i].machine = 5;
    }
    NEAR(place_now(2).load, 1);
    NEAR(place_now(2).processors, 1);
    used[0] = used[1] = 0.5; /* half of what is busy are others, and both are ready all the time */
    host(0, 2, 4, 1);
    stats[0].machine = 5;
    NEAR(place_now(2).load, 2);
}

static void a_quota_counts_as_one(void)
{
    forget();
    members[0] = 1;
    used[0] = 0.1;
    host(0, 0.2, 1, 1); /* half of a fifth of a processor */
    NEAR(place_now(1).load, 1.5);
    used[0] = 0.2;
    NEAR(place_now(1).load, 1);
}

static void what_no_monitor_says_stays(void)
{
    forget();
    members[1] = 1;
    host(0, 2, 9, 1); /* no member is there */
    struct covey_domain_place place = place_now(2);
    NEAR(place.load, 3);
    NEAR(place.processors, 7);
    host(1, 2, -1, -1); /* there are no rates yet */
    NEAR(place_now(2).load, 1);
    NEAR(place_now(2).processors, 2);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"between readings it is spread", between_readings_it_is_spread},
        {"many readings leave those of looks", many_readings_leave_those_of_looks},
        {"the oldest readings are forgotten", the_oldest_readings_are_forgotten},
        {"what members used is no load", what_members_used_is_no_load},
        {"what others use is load", what_others_use_is_load},
        {"each host has its own", each_host_has_its_own},
        {"hosts may share a machine", hosts_may_share_a_machine},
        {"a quota counts as one", a_quota_counts_as_one},
        {"what no monitor says stays", what_no_monitor_says_stays},
    };
    return covey_test_main("load", cases, sizeof cases / sizeof cases[0]);
}
