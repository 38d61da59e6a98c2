/* links: lib/domain/grid/split.c */
/*
 * How a grid is divided: parts that cover it, the cheapest product, hosts as blocks.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "lib/domain/grid/split.h"
#include "tests/unit/runner.h"

#define MEMBERS_MOST 64

static const int free_parts[GRID_AXES] = {0, 0, 0};

/* `each` members on every host. */
static struct split_members members_of(int count, int each)
{
    static int32_t hosts[MEMBERS_MOST];
    for (int i = 0; i < count; i++)
        hosts[i] = i / each;
    return (struct split_members){.count = count, .hosts = hosts};
}

static int has_parts(const int64_t n[GRID_AXES], int members, int each, const int parts[GRID_AXES])
{
    struct split_members m = members_of(members, each);
    struct grid_split split;
    int right = split_make(&split, n, 1, &m, free_parts) == 0 &&
                memcmp(split.parts, parts, sizeof split.parts) == 0;
    split_free(&split);
    return right;
}

static void test_least(void)
{
    const int64_t cube[] = {128, 128, 128}, plane[] = {1, 100, 100}, flat[] = {4, 1000, 1000};
    CU_ASSERT(has_parts(cube, 1, 1, (int[]){1, 1, 1}));
    CU_ASSERT(has_parts(cube, 2, 2, (int[]){2, 1, 1}));
    CU_ASSERT(has_parts(cube, 4, 4, (int[]){2, 2, 1}));
    CU_ASSERT(has_parts(cube, 8, 8, (int[]){2, 2, 2}));
    CU_ASSERT(has_parts(cube, 7, 7, (int[]){7, 1, 1}));
    CU_ASSERT(has_parts(plane, 4, 4, (int[]){1, 2, 2}));
    CU_ASSERT(has_parts(flat, 4, 4, (int[]){1, 2, 2}));
}

/* Each point is in the box of one rank. */
static void test_cover(void)
{
    for (int members = 1; members <= 13; members++) {
        const int64_t n[] = {3, 5, 4};
        struct split_members m = members_of(members, 3);
        struct grid_split split;
        int found[3][5][4] = {{{0}}}, right = 1;
        CU_ASSERT_EQUAL_FATAL(split_make(&split, n, 1, &m, free_parts), 0);
        for (int rank = 0; rank < members; rank++) {
            struct grid_box b;
            split_box(&split, rank, &b);
            for (int64_t i = b.low[0]; i < b.low[0] + b.size[0]; i++)
                for (int64_t j = b.low[1]; j < b.low[1] + b.size[1]; j++)
                    for (int64_t k = b.low[2]; k < b.low[2] + b.size[2]; k++)
                        found[i][j][k]++;
        }
        for (int i = 0; i < 60; i++)
            right &= (&found[0][0][0])[i] == 1;
        CU_ASSERT(right);
        split_free(&split);
    }
}

/* 5 members and 2 x 2 points: four of them have one each. */
static void test_idle(void)
{
    const int64_t n[] = {1, 2, 2}, one[] = {1, 1, 1}, thin[] = {1, 7, 3};
    struct split_members m = members_of(5, 5);
    struct grid_split split;
    CU_ASSERT_EQUAL(split_make(&split, n, 1, &m, free_parts), 0);
    CU_ASSERT_EQUAL(split.used, 4);
    CU_ASSERT_EQUAL(split.places[4], -1);
    split_free(&split);
    CU_ASSERT_EQUAL(split_make(&split, one, 1, &m, free_parts), 0);
    CU_ASSERT_EQUAL(split.used, 1);
    split_free(&split);
    CU_ASSERT_EQUAL(split_make(&split, thin, 3, &m, free_parts), 0);
    CU_ASSERT_EQUAL(split.used, 2); /* parts of three points, not fewer */
    split_free(&split);
    m.most = 2;
    CU_ASSERT_EQUAL(split_make(&split, n, 1, &m, free_parts), 0);
    CU_ASSERT_EQUAL(split.used, 2);
    split_free(&split);
}

/* Two hosts with four members each: each host is half of the cube, whatever the order of ranks. */
static void test_hosts(void)
{
    const int64_t cube[] = {64, 64, 64};
    const int32_t mixed[] = {1, 2, 1, 2, 2, 1, 1, 2};
    struct split_members m = {.count = 8, .hosts = mixed};
    struct grid_split split;
    CU_ASSERT_EQUAL_FATAL(split_make(&split, cube, 1, &m, free_parts), 0);
    int half = -1, right = 1;
    for (int rank = 0; rank < 8; rank++) {
        int place[GRID_AXES];
        split_place(&split, rank, place);
        half = rank == 0 ? place[0] / (split.parts[0] / 2) : half;
        right &= (mixed[rank] == 1) == (place[0] / (split.parts[0] / 2) == half);
        right &= split.ranks[split.places[rank]] == rank;
    }
    CU_ASSERT(right);
    split_free(&split);
}

static void test_forced(void)
{
    const int64_t n[] = {8, 8, 8};
    struct split_members m = members_of(6, 3);
    struct grid_split split;
    CU_ASSERT_EQUAL(split_make(&split, n, 1, &m, (int[]){1, 2, 3}), 0);
    CU_ASSERT_EQUAL(split.parts[2], 3);
    split_free(&split);
    CU_ASSERT_EQUAL(split_make(&split, n, 1, &m, (int[]){1, 1, 5}), 0);
    CU_ASSERT_EQUAL(split.used, 5);
    split_free(&split);
    CU_ASSERT_EQUAL(split_make(&split, n, 1, &m, (int[]){7, 1, 1}), -1);
    split_free(&split);
    CU_ASSERT_EQUAL(split_make(&split, n, 3, &m, (int[]){6, 1, 1}), -1);
    split_free(&split);
}

/* The halo of two neighbours counts twice that of one, and what another host has four times more.
 */
static void test_cost(void)
{
    const int64_t n[] = {10, 10, 10};
    const int one[] = {1, 1, 1}, two[] = {2, 1, 1}, five[] = {5, 1, 1};
    CU_ASSERT_EQUAL(split_cost(n, one, one), 1000);
    CU_ASSERT_EQUAL(split_cost(n, two, one), 500 + 2 * 100);
    CU_ASSERT_EQUAL(split_cost(n, five, one), 200 + 2 * 2 * 100);
    CU_ASSERT_EQUAL(split_cost(n, two, two), 500 + 8 * 100);
}

static void test_parts(void)
{
    for (int64_t n = 1; n <= 20; n++)
        for (int parts = 1; parts <= n; parts++)
            for (int64_t at = 0; at < n; at++) {
                int i = split_part_of(n, parts, at);
                CU_ASSERT(split_offset(n, parts, i) <= at && split_offset(n, parts, i + 1) > at);
            }
}

/* By shares, in the order of hosts, and every point has its owner. */
static void test_slabs(void)
{
    const int64_t n[] = {4, 14, 3};
    const int32_t mixed[] = {1, 2, 1, 2};
    const unsigned char shares[] = {100, 50, 100, 100}, ends[] = {4, 8, 10, 14},
                        order[] = {0, 2, 1, 3};
    struct split_members m = {.count = 4, .hosts = mixed};
    struct grid_split split, copy;
    struct grid_box box;
    CU_ASSERT_EQUAL_FATAL(split_make_slabs(&split, n, 1, &m, shares), 0);
    CU_ASSERT_EQUAL_FATAL(split_copy(&copy, &split), 0);
    split_free(&split);
    int64_t low = 0;
    for (int i = 0; i < 4; i++) {
        split_box(&copy, order[i], &box);
        CU_ASSERT(box.low[1] == low && box.low[1] + box.size[1] == ends[i]);
        CU_ASSERT(box.low[0] == 0 && box.size[0] == 4 && box.size[2] == 3);
        for (; low < ends[i]; low++)
            CU_ASSERT_EQUAL(split_owner(&copy, (int64_t[]){1, low, 2}), order[i]);
    }
    split_free(&copy);
}

/* More members than points, and a share of which nothing is left: no part is empty. */
static void test_thin_slabs(void)
{
    const unsigned char shares[] = {1, 100, 100, 100, 1, 100, 100, 100};
    struct split_members m = members_of(8, 1);
    struct grid_split split;
    struct grid_box box;
    for (int64_t points = 1; points <= 20; points++) {
        int64_t found = 0;
        CU_ASSERT_EQUAL_FATAL(split_make_slabs(&split, (int64_t[]){points, 2, 2}, 0, &m, shares),
                              0);
        CU_ASSERT(split.used <= points && split.places[0] == 0);
        for (int rank = 0; rank < 8; rank++) {
            split_box(&split, rank, &box);
            CU_ASSERT((split.places[rank] >= 0) == (box.size[0] > 0));
            CU_ASSERT(box.size[0] == 0 || box.low[0] == found);
            found += box.size[0];
        }
        CU_ASSERT_EQUAL(found, points);
        split_free(&split);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"the least points and halo", test_least}, {"all points are covered", test_cover},
        {"members without points", test_idle},     {"hosts are blocks", test_hosts},
        {"parts that are given", test_forced},     {"the cost of parts", test_cost},
        {"the part of a point", test_parts},       {"slabs by shares", test_slabs},
        {"thin slabs", test_thin_slabs},
    };
    return covey_test_main("grid_split", cases, sizeof cases / sizeof cases[0]);
}
