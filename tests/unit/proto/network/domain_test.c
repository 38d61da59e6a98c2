/* links: proto/wire/contention_config.c proto/network/domain.c proto/contention/contention.c proto/wire/cursor.c proto/network/topology.c */
/*
 * domain_test.c - which contention domains a message crosses.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "proto/network/domain.h"
#include "proto/network/topology.h"
#include "tests/unit/runner.h"

static struct domains *make(int mode, const char *text)
{
    static char why[TOPOLOGY_ERROR_BYTES];
    struct contention_config config;
    contention_config_init(&config);
    config.mode = (uint8_t)mode;
    struct domains *d = domains_create(&config, text, text == NULL ? 0 : strlen(text), why);
    if (d == NULL)
        printf("%s\n", why);
    return d;
}

/* a and b on a segment, behind it a switch with c and d, behind that one with e. */
#define NET                                                                                        \
    "segment s 10M\nswitch t u\nlink s t\nlink t u 1G\nhost a s\nhost b s\nhost c t\n"             \
    "host d t\nhost e u\n"

static void without_a_topology_all_share_one(void)
{
    struct domains *d = make(CONTENTION_TOKEN, NULL);
    CU_ASSERT_EQUAL(domains_way(d, "a", "b").tokens, 1);
    CU_ASSERT_EQUAL(domains_way(d, "a", "b").rate, 0);
    domains_destroy(d);
    d = make(CONTENTION_STAGGER, NULL);
    CU_ASSERT_EQUAL(domains_way(d, "a", "b").tokens, 0);
    CU_ASSERT_EQUAL(domains_way(d, "a", "b").rate, 100000000);
    domains_destroy(d);
    d = make(CONTENTION_TOPOLOGY, NULL);
    CU_ASSERT_EQUAL(domains_count(d), 0);
    domains_destroy(d);
}

static void who_crosses_a_segment_needs_it(void)
{
    struct domains *d = make(CONTENTION_TOKEN, NET);
    CU_ASSERT_EQUAL(domains_count(d), 1);
    CU_ASSERT_EQUAL(domains_way(d, "a", "b").tokens, 1);
    CU_ASSERT_EQUAL(domains_way(d, "e", "b").tokens, 1);
    CU_ASSERT_EQUAL(domains_way(d, "a.example.org", "e").tokens, 1);
    CU_ASSERT_EQUAL(domains_way(d, "c", "e").tokens, 0);
    CU_ASSERT_EQUAL(domains_way(d, "c", "c").tokens, 0);
    CU_ASSERT_EQUAL(domains_way(d, "a", "a").tokens, 0);
    CU_ASSERT_EQUAL(domains_way(d, "a", "nobody").tokens, 0);
    CU_ASSERT_EQUAL(domains_way(d, "a", "s").tokens, 0);
    domains_destroy(d);
}

static void links_count_in_one_direction(void)
{
    struct domains *d = make(CONTENTION_TOPOLOGY, NET
                             "contention token t u\ncontention token t c\ncontention stagger s\n");
    CU_ASSERT_EQUAL(domains_count(d), 3);
    CU_ASSERT_EQUAL(domains_way(d, "c", "e").tokens, 2);
    CU_ASSERT_EQUAL(domains_way(d, "e", "d").tokens, 0);
    CU_ASSERT_EQUAL(domains_way(d, "e", "c").tokens, 4);
    CU_ASSERT_EQUAL(domains_way(d, "a", "e").tokens, 2);
    CU_ASSERT_EQUAL(domains_way(d, "a", "e").rate, 10000000);
    CU_ASSERT_EQUAL(domains_way(d, "c", "e").rate, 0);
    domains_destroy(d);
}

static void a_line_goes_before_the_configuration(void)
{
    struct domains *d = make(CONTENTION_TOKEN, NET "contention off s\n");
    CU_ASSERT_EQUAL(domains_count(d), 0);
    domains_destroy(d);
    d = make(CONTENTION_OFF, NET "contention token s\n");
    CU_ASSERT_EQUAL(domains_way(d, "a", "b").tokens, 1);
    domains_destroy(d);
    CU_ASSERT_PTR_NULL(make(CONTENTION_TOKEN, "switch"));
}

static const struct test_case cases[] = {
    {"without a topology all hosts share one domain", without_a_topology_all_share_one},
    {"who crosses a segment needs its token", who_crosses_a_segment_needs_it},
    {"links count in one direction", links_count_in_one_direction},
    {"a line goes before the configuration", a_line_goes_before_the_configuration},
};

int main(void)
{
    return covey_test_main("domain", cases, sizeof cases / sizeof cases[0]);
}
