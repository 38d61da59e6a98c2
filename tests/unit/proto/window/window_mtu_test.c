/* links: proto/window/window_mtu.c */
#include "proto/window/window_mtu.h"

#include <CUnit/CUnit.h>

#include "tests/unit/runner.h"

#define FLOOR 1200

/* Searches on a path that carries `path` bytes; returns the probes it took. */
static unsigned search(struct mtu *m, size_t path)
{
    unsigned probes = 0;
    size_t size;
    mtu_acked(m, 20000, 0);
    while ((size = mtu_probe_wanted(m, 0)) != 0 && probes < 1000) {
        probes++;
        mtu_probe_sent(m, size);
        CU_ASSERT_EQUAL(mtu_probe_wanted(m, 0), 0);
        if (size <= path)
            mtu_probe_acked(m, size, 0);
        else
            mtu_probe_lost(m, size, 0);
    }
    return probes;
}

static void test_finds_the_largest(void)
{
    for (size_t path = FLOOR; path <= 65000; path += 97) {
        struct mtu m;
        mtu_init(&m, FLOOR, 65000);
        CU_ASSERT(search(&m, path) < 60);
        CU_ASSERT(m.done && m.size <= path && m.size + 33 > path);
    }
}

static void test_takes_the_ceiling_at_once(void)
{
    struct mtu m;
    mtu_init(&m, FLOOR, 8900);
    CU_ASSERT_EQUAL(search(&m, 9000), 1);
    CU_ASSERT_EQUAL(m.size, 8900);
}

static void test_probes_only_under_bulk(void)
{
    struct mtu m;
    mtu_init(&m, FLOOR, 8900);
    CU_ASSERT_EQUAL(mtu_probe_wanted(&m, 0), 0);
    mtu_acked(&m, 1000, 0);
    CU_ASSERT_EQUAL(mtu_probe_wanted(&m, 0), 0);
    mtu_acked(&m, 100000, 0);
    CU_ASSERT_EQUAL(mtu_probe_wanted(&m, 0), 8900);
    mtu_init(&m, FLOOR, FLOOR);
    mtu_acked(&m, 100000, 0);
    CU_ASSERT_EQUAL(mtu_probe_wanted(&m, 0), 0);
}

static void test_black_hole_falls_back(void)
{
    struct mtu m;
    mtu_init(&m, FLOOR, 8900);
    search(&m, 9000);
    mtu_acked(&m, 8900, 1000);
    for (int i = 0; i < 100; i++)
        CU_ASSERT_FALSE(mtu_lost(&m, 8900, 5000, 2000)); /* it is too early to say */
    CU_ASSERT_FALSE(mtu_lost(&m, FLOOR, 5000, 10000));   /* small ones say nothing */
    CU_ASSERT_TRUE(mtu_lost(&m, 8900, 5000, 10000));
    CU_ASSERT_EQUAL(m.size, FLOOR);
    search(&m, 1500);
    CU_ASSERT(m.size <= 1500 && m.size > 1460);
}

static void test_raises_again_later(void)
{
    struct mtu m;
    mtu_init(&m, FLOOR, 8900);
    search(&m, 1500);
    CU_ASSERT_EQUAL(mtu_probe_wanted(&m, 500000000), 0);
    CU_ASSERT_EQUAL(mtu_probe_wanted(&m, 700000000), 0); /* begins, but first wants bulk */
    mtu_acked(&m, 100000, 700000000);
    CU_ASSERT_EQUAL(mtu_probe_wanted(&m, 700000000), 8900);
}

static const struct test_case cases[] = {
    {"finds the largest", test_finds_the_largest},
    {"takes the ceiling at once", test_takes_the_ceiling_at_once},
    {"probes only under bulk", test_probes_only_under_bulk},
    {"a black hole falls back", test_black_hole_falls_back},
    {"raises again later", test_raises_again_later},
};

int main(void)
{
    return covey_test_main("window path MTU", cases, sizeof cases / sizeof cases[0]);
}
