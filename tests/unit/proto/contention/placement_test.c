/* links: proto/contention/placement.c */
/*
 * placement_test.c - which hosts tasks go to.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "proto/contention/placement.h"
#include "tests/unit/runner.h"

#define HOSTS_MAX 16
#define TASKS_MAX 256

static const struct placement_wish plain = {.work_s = 1};

static struct placement_host idle(void)
{
    return (struct placement_host){.cores = 2, .speed = 1, .memory_free = -1};
}

/* Hosts as letters: "abcab" is where the tasks went. */
static void expect(struct placement_host *hosts, size_t count, const struct placement_wish *wish,
                   size_t start, const char *letters)
{
    uint32_t chosen[TASKS_MAX];
    char went[TASKS_MAX + 1];
    size_t tasks = strlen(letters);
    placement_choose(hosts, count, wish, start, chosen, tasks);
    for (size_t i = 0; i < tasks; i++)
        went[i] = (char)('a' + chosen[i]);
    went[tasks] = '\0';
    CU_ASSERT_STRING_EQUAL(went, letters);
}

static void equal_hosts_take_turns(void)
{
    struct placement_host hosts[3] = {idle(), idle(), idle()};
    uint32_t chosen[5];
    expect(hosts, 3, &plain, 0, "abcabcabcabcabcabcabc");
    expect(hosts, 3, &plain, 2, "cabca");
    CU_ASSERT_EQUAL(hosts[2].turns, 2);
    CU_ASSERT_EQUAL(placement_choose(hosts, 3, &plain, 2, chosen, 5), 1);
    CU_ASSERT_EQUAL(placement_choose(hosts, 3, &plain, 1, chosen, 0), 1);
}

static void a_little_noise_changes_nothing(void)
{
    struct placement_host hosts[3] = {idle(), idle(), idle()};
    hosts[0].speed = 0.95;
    hosts[1].demand = 0.1;
    expect(hosts, 3, &plain, 0, "abcabcabc");
}

static void a_loaded_host_is_avoided(void)
{
    struct placement_host hosts[4] = {idle(), idle(), idle(), idle()};
    hosts[1].demand = 8;
    expect(hosts, 4, &plain, 0, "acdacdacdacd");
    CU_ASSERT_EQUAL(hosts[1].placed, 0);
    CU_ASSERT_DOUBLE_EQUAL(hosts[1].share, 2.0 / 9, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(hosts[1].end_s, 4.5, 1e-9);
}

/* When all others are as full, it gets its part. */
static void a_loaded_host_is_not_shunned(void)
{
    struct placement_host hosts[2] = {idle(), idle()};
    hosts[0].demand = 4;
    uint32_t chosen[20];
    placement_choose(hosts, 2, &plain, 0, chosen, 20);
    CU_ASSERT_TRUE(hosts[0].placed >= 7 && hosts[0].placed <= 9);
}

static void the_fast_host_gets_more(void)
{
    struct placement_host hosts[2] = {idle(), idle()};
    hosts[0].cores = hosts[1].cores = 1;
    hosts[0].speed = 3;
    uint32_t chosen[40];
    placement_choose(hosts, 2, &plain, 0, chosen, 40);
    CU_ASSERT_EQUAL(chosen[0], 0);
    CU_ASSERT_EQUAL(chosen[1], 0);
    CU_ASSERT_TRUE(hosts[0].placed >= 29 && hosts[0].placed <= 31);
}

static void cores_count(void)
{
    struct placement_host hosts[2] = {idle(), idle()};
    hosts[0].cores = 8;
    uint32_t chosen[50];
    placement_choose(hosts, 2, &plain, 0, chosen, 50);
    CU_ASSERT_TRUE(hosts[0].placed >= 38 && hosts[0].placed <= 42);
}

static void a_quota_counts(void)
{
    struct placement_host hosts[2] = {idle(), idle()};
    hosts[0].cores = 0.2;
    expect(hosts, 2, &plain, 0, "bbb");
    CU_ASSERT_DOUBLE_EQUAL(hosts[0].share, 0.2, 1e-9);
}

/* Virtual hosts: what is placed on one takes from the others of its machine. */
static void hosts_of_one_machine_share_it(void)
{
    struct placement_host hosts[3] = {idle(), idle(), idle()};
    hosts[0].machine = hosts[1].machine = 7;
    uint32_t chosen[40];
    expect(hosts, 2, &plain, 0, "abababababab");
    placement_choose(hosts, 3, &plain, 0, chosen, 40);
    CU_ASSERT_TRUE(hosts[2].placed >= 18 && hosts[2].placed <= 22);
    CU_ASSERT_TRUE(abs((int)hosts[0].placed - (int)hosts[1].placed) <= 1);
}

static void memory_rules_hosts_out(void)
{
    struct placement_host hosts[3] = {idle(), idle(), idle()};
    const struct placement_wish wish = {.work_s = 1, .memory_bytes = 100};
    hosts[0].memory_free = 250;
    hosts[1].memory_free = 99;
    hosts[2].memory_free = 1000;
    expect(hosts, 3, &wish, 0, "acacccccccc");
    CU_ASSERT_FALSE(hosts[0].short_of_room);
    CU_ASSERT_TRUE(hosts[1].short_of_room);
    hosts[2].memory_free = 50;
    hosts[0].memory_free = 20;
    expect(hosts, 3, &wish, 0, "b"); /* nobody has room: the one with the most */
    CU_ASSERT_TRUE(hosts[1].short_of_room);
}

static void unknown_memory_is_no_reason(void)
{
    struct placement_host hosts[2] = {idle(), idle()};
    const struct placement_wish wish = {.work_s = 1, .memory_bytes = 100};
    expect(hosts, 2, &wish, 0, "abab");
}

/* Much talk draws tasks to whom they talk with, until the processors there are worth more. */
static void traffic_draws(void)
{
    struct placement_host hosts[3] = {idle(), idle(), idle()};
    for (int i = 0; i < 3; i++)
        hosts[i].traffic_s = i == 1 ? 0.1 : 1.5;
    expect(hosts, 3, &plain, 0, "bbbbca");
}

/* Others' use of a link or a disk counts, once it is more than that of a lightly loaded network. */
static void a_busy_link_is_avoided(void)
{
    struct placement_host hosts[3] = {idle(), idle(), idle()};
    hosts[0].network = 0.2;
    hosts[1].disk = 0.2;
    expect(hosts, 3, &plain, 0, "abc");
    hosts[0].network = 0.5;
    expect(hosts, 3, &plain, 0, "bcbc");
    CU_ASSERT_DOUBLE_EQUAL(hosts[0].end_s, 1 + PLACEMENT_WAITS, 1e-9);
    hosts[1].disk = 0.5;
    expect(hosts, 3, &plain, 0, "cc");
    hosts[0].network = 77; /* of a rate that is not what was taken for it */
    expect(hosts, 3, &plain, 0, "cc");
    CU_ASSERT_DOUBLE_EQUAL(hosts[0].end_s, 1 + PLACEMENT_WAITS * 19, 1e-9);
}

/* Of a task whose traffic is known just that takes longer. */
static void known_traffic_is_slowed(void)
{
    struct placement_host hosts[2] = {idle(), idle()};
    const struct placement_wish wish = {.work_s = 1, .traffic_known = true};
    hosts[0].network = 0.5;
    expect(hosts, 2, &wish, 0, "abab");
    hosts[0].traffic_s = hosts[1].traffic_s = 1;
    expect(hosts, 2, &wish, 0, "bb");
    CU_ASSERT_DOUBLE_EQUAL(hosts[0].end_s, 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(hosts[1].end_s, 2, 1e-9);
}

static void a_host_that_pages_gets_nothing(void)
{
    struct placement_host hosts[3] = {idle(), idle(), idle()};
    const struct placement_wish wish = {.work_s = 1, .memory_bytes = 100};
    hosts[0].pages = true;
    hosts[0].speed = 10;
    hosts[1].demand = 50;
    expect(hosts, 3, &plain, 0, "ccccccccc");
    for (int i = 0; i < 3; i++)
        hosts[i].memory_free = i == 0 ? 1000 : 20 + i;
    expect(hosts, 3, &wish, 0, "c"); /* though only that one has room */
    hosts[1].pages = hosts[2].pages = true;
    expect(hosts, 3, &plain, 0, "aaaaa"); /* all do */
}

/* Of hosts that are all withheld those that are so the least are taken; among them, none that
 * pages. */
static void a_host_that_is_withheld_gets_nothing(void)
{
    struct placement_host hosts[4] = {idle(), idle(), idle(), idle()};
    const struct placement_wish wish = {.work_s = 1, .memory_bytes = 100};
    hosts[0].withheld = 2;
    hosts[1].withheld = 1;
    hosts[0].speed = hosts[1].speed = 10;
    hosts[2].demand = hosts[3].demand = 50;
    expect(hosts, 4, &plain, 0, "cdcdcd");
    for (int i = 0; i < 4; i++)
        hosts[i].memory_free = i < 2 ? 1000 : 20 + i;
    expect(hosts, 4, &wish, 0, "d"); /* though those have room */
    hosts[2].pages = hosts[3].pages = true;
    expect(hosts, 4, &plain, 0, "cdcd");
    hosts[2].withheld = hosts[3].withheld = 1;
    expect(hosts, 4, &plain, 0, "bbbb");
    hosts[1].withheld = hosts[2].withheld = hosts[3].withheld = 2;
    expect(hosts, 4, &plain, 0, "abab");
}

/* Whatever the numbers: every task gets a host that is there, and no host's counts are wrong. */
static void odd_numbers_are_survived(void)
{
    unsigned seed = 1;
    static const double values[] = {0, 1e-300, 1e300, 0.5, 3, 1e18, -1};
    for (int round = 0; round < 2000; round++) {
        struct placement_host hosts[HOSTS_MAX];
        uint32_t chosen[TASKS_MAX], sum = 0;
        size_t count = 1 + (size_t)rand_r(&seed) % HOSTS_MAX;
        size_t tasks = (size_t)rand_r(&seed) % 64;
        struct placement_wish wish = {.work_s = 1, .memory_bytes = values[rand_r(&seed) % 6]};
        for (size_t i = 0; i < count; i++)
            hosts[i] = (struct placement_host){.machine = (uint64_t)rand_r(&seed) % 4,
                                               .cores = values[1 + rand_r(&seed) % 5],
                                               .speed = values[1 + rand_r(&seed) % 5],
                                               .demand = values[rand_r(&seed) % 6],
                                               .traffic_s = values[rand_r(&seed) % 6],
                                               .network = values[rand_r(&seed) % 7],
                                               .disk = values[rand_r(&seed) % 7],
                                               .pages = rand_r(&seed) % 2,
                                               .withheld = (uint8_t)(rand_r(&seed) % 3),
                                               .memory_free = values[rand_r(&seed) % 7]};
        size_t next =
            placement_choose(hosts, count, &wish, (size_t)rand_r(&seed) % count, chosen, tasks);
        CU_ASSERT_TRUE_FATAL(next < count);
        for (size_t i = 0; i < tasks; i++)
            CU_ASSERT_TRUE_FATAL(chosen[i] < count);
        for (size_t i = 0; i < count; i++)
            sum += hosts[i].placed;
        CU_ASSERT_EQUAL_FATAL(sum, tasks);
    }
}

static const struct test_case cases[] = {
    {"equal hosts take turns", equal_hosts_take_turns},
    {"a little noise changes nothing", a_little_noise_changes_nothing},
    {"a loaded host is avoided", a_loaded_host_is_avoided},
    {"a loaded host is not shunned when the others are as full", a_loaded_host_is_not_shunned},
    {"the fast host gets more", the_fast_host_gets_more},
    {"cores count", cores_count},
    {"a quota counts", a_quota_counts},
    {"hosts of one machine share it", hosts_of_one_machine_share_it},
    {"memory rules hosts out", memory_rules_hosts_out},
    {"unknown memory is no reason", unknown_memory_is_no_reason},
    {"traffic draws", traffic_draws},
    {"a busy link is avoided", a_busy_link_is_avoided},
    {"known traffic is slowed", known_traffic_is_slowed},
    {"a host that pages gets nothing", a_host_that_pages_gets_nothing},
    {"a host that is withheld gets nothing", a_host_that_is_withheld_gets_nothing},
    {"odd numbers are survived", odd_numbers_are_survived},
};

int main(void)
{
    return covey_test_main("placement", cases, sizeof cases / sizeof cases[0]);
}
