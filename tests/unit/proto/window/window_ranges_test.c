/* links: proto/window/window_ranges.c tests/sim/network.c proto/session/fault.c */
#include "proto/window/window_ranges.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/sim/network.h"
#include "tests/unit/runner.h"

#define NUMBERS 200

static bool same(const struct ranges *r, const struct range *expected, size_t count)
{
    return r->count == count && memcmp(r->at, expected, count * sizeof *expected) == 0;
}

static void test_add_merges(void)
{
    struct ranges r = {0};
    CU_ASSERT_TRUE(ranges_add(&r, 10, 20));
    CU_ASSERT_TRUE(ranges_add(&r, 30, 40));
    CU_ASSERT_TRUE(ranges_add(&r, 0, 5));
    CU_ASSERT(same(&r, (struct range[]){{0, 5}, {10, 20}, {30, 40}}, 3));
    CU_ASSERT_TRUE(ranges_add(&r, 20, 30)); /* touches both */
    CU_ASSERT(same(&r, (struct range[]){{0, 5}, {10, 40}}, 2));
    CU_ASSERT_TRUE(ranges_add(&r, 3, 12));
    CU_ASSERT(same(&r, (struct range[]){{0, 40}}, 1));
    CU_ASSERT_TRUE(ranges_add(&r, 7, 7)); /* empty */
    CU_ASSERT(same(&r, (struct range[]){{0, 40}}, 1));
    ranges_free(&r);
}

static void test_remove_splits(void)
{
    struct ranges r = {0};
    ranges_add(&r, 0, 100);
    ranges_remove(&r, 40, 60);
    CU_ASSERT(same(&r, (struct range[]){{0, 40}, {60, 100}}, 2));
    ranges_remove(&r, 30, 70);
    CU_ASSERT(same(&r, (struct range[]){{0, 30}, {70, 100}}, 2));
    ranges_remove_below(&r, 80);
    CU_ASSERT(same(&r, (struct range[]){{80, 100}}, 1));
    ranges_remove(&r, 0, 1000);
    CU_ASSERT_EQUAL(r.count, 0);
    ranges_remove(&r, 0, 1000);
    ranges_free(&r);
}

static void test_upper_end_of_numbers(void)
{
    struct ranges r = {0};
    CU_ASSERT_TRUE(ranges_add(&r, UINT64_MAX - 1, UINT64_MAX));
    CU_ASSERT_TRUE(ranges_add(&r, 0, 1));
    CU_ASSERT_TRUE(ranges_contain(&r, UINT64_MAX - 1));
    CU_ASSERT_FALSE(ranges_contain(&r, UINT64_MAX));
    ranges_free(&r);
}

/* Sorted, disjoint, not touching, and the same numbers as in a plain array of flags. */
static bool agrees(const struct ranges *r, const bool *flags)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->at[i].begin >= r->at[i].end || (i > 0 && r->at[i].begin <= r->at[i - 1].end))
            return false;
    for (uint64_t n = 0; n < NUMBERS; n++)
        if (ranges_contain(r, n) != flags[n])
            return false;
    return true;
}

static void test_against_a_plain_set(void)
{
    struct ranges r = {0};
    bool flags[NUMBERS] = {false};
    uint64_t random = 1;
    unsigned wrong = 0;
    for (int i = 0; i < 5000; i++) {
        uint64_t begin = random_below(&random, NUMBERS);
        uint64_t end = begin + random_below(&random, NUMBERS - begin) / 8;
        bool add = random_below(&random, 2) == 0;
        if (add)
            ranges_add(&r, begin, end);
        else
            ranges_remove(&r, begin, end);
        for (uint64_t n = begin; n < end; n++)
            flags[n] = add;
        wrong += !agrees(&r, flags);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    ranges_free(&r);
}

static const struct test_case cases[] = {
    {"adding merges", test_add_merges},
    {"removing splits", test_remove_splits},
    {"the upper end of numbers", test_upper_end_of_numbers},
    {"against a plain set", test_against_a_plain_set},
};

int main(void)
{
    return covey_test_main("window ranges", cases, sizeof cases / sizeof cases[0]);
}
