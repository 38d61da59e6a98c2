/* links: apps/matmul/grid.c apps/block.c */
#include "apps/matmul/grid.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/unit/runner.h"

static void test_default_grid_loads_hosts_alike(void)
{
    CU_ASSERT_EQUAL(grid_default(1), 1);
    CU_ASSERT_EQUAL(grid_default(2), 2);
    CU_ASSERT_EQUAL(grid_default(3), 3);
    CU_ASSERT_EQUAL(grid_default(4), 2);
    CU_ASSERT_EQUAL(grid_default(8), 4);
    CU_ASSERT_EQUAL(grid_default(9), 3);
    CU_ASSERT_EQUAL(grid_default(16), 4);
}

static void test_default_grid_of_odd_numbers(void)
{
    for (int hosts = 1; hosts <= 300; hosts++) {
        int q = grid_default(hosts);
        CU_ASSERT(q >= 1 && q * q <= 4 * hosts);
    }
}

static void expect_even_load(int q, int hosts)
{
    int host_of[64];
    int load[64] = {0};
    grid_place(q, hosts, host_of);
    for (int rank = 0; rank < q * q; rank++)
        load[host_of[rank]]++;
    for (int host = 0; host < hosts; host++) {
        CU_ASSERT(load[host] >= q * q / hosts);
        CU_ASSERT(load[host] <= (q * q + hosts - 1) / hosts);
    }
}

static void test_each_host_gets_its_share(void)
{
    for (int q = 1; q <= 8; q++)
        for (int hosts = 1; hosts <= q * q; hosts++)
            expect_even_load(q, hosts);
}

static void test_more_hosts_than_tasks(void)
{
    int host_of[4];
    grid_place(2, 9, host_of);
    for (int rank = 0; rank < 4; rank++) {
        CU_ASSERT(host_of[rank] >= 0 && host_of[rank] < 9);
        for (int other = 0; other < rank; other++)
            CU_ASSERT(host_of[other] != host_of[rank]);
    }
}

static void test_rectangles_cross_least(void)
{
    static const int on_8[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
    static const int on_4[] = {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3};
    int host_of[16];
    grid_place(4, 8, host_of);
    CU_ASSERT_EQUAL(memcmp(host_of, on_8, sizeof on_8), 0);
    grid_place(4, 4, host_of);
    CU_ASSERT_EQUAL(memcmp(host_of, on_4, sizeof on_4), 0);
}

static void expect_chain(const int *row_hosts, int q, int root, const int *expected)
{
    int order[GRID_Q_MAX];
    grid_chain(row_hosts, q, root, order);
    CU_ASSERT_EQUAL(memcmp(order, expected, (size_t)q * sizeof *expected), 0);
}

static void test_chain_starts_at_the_root(void)
{
    static const int apart[] = {1, 2, 3, 4};
    expect_chain(apart, 4, 0, (const int[]){0, 1, 2, 3});
    expect_chain(apart, 4, 2, (const int[]){2, 3, 0, 1});
}

static void test_chain_enters_each_host_once(void)
{
    static const int pairs[] = {7, 7, 9, 9};
    static const int mixed[] = {7, 9, 7, 9};
    expect_chain(pairs, 4, 1, (const int[]){1, 0, 2, 3});
    expect_chain(pairs, 4, 2, (const int[]){2, 3, 0, 1});
    expect_chain(mixed, 4, 1, (const int[]){1, 3, 2, 0});
}

int main(void)
{
    static const struct test_case cases[] = {
        {"the default grid loads hosts alike", test_default_grid_loads_hosts_alike},
        {"the default grid of odd numbers", test_default_grid_of_odd_numbers},
        {"each host gets its share", test_each_host_gets_its_share},
        {"more hosts than tasks", test_more_hosts_than_tasks},
        {"rectangles cross least", test_rectangles_cross_least},
        {"a chain starts at the root", test_chain_starts_at_the_root},
        {"a chain enters each host once", test_chain_enters_each_host_once},
    };
    return covey_test_main("app_grid", cases, sizeof cases / sizeof cases[0]);
}
