/* links: proto/window/window_sent.c */
#include "proto/window/window_sent.h"

#include <CUnit/CUnit.h>

#include "tests/unit/runner.h"

static void push(struct sent_ring *r, uint64_t number)
{
    struct sent record = {.number = number};
    CU_ASSERT_TRUE(sent_reserve(r));
    sent_push(r, &record);
}

static void test_finds_numbers_without_gaps(void)
{
    struct sent_ring r = {0};
    CU_ASSERT_EQUAL(sent_find(&r, 5), 0);
    for (uint64_t n = 100; n < 1100; n++)
        push(&r, n);
    CU_ASSERT_EQUAL(sent_find(&r, 99), 0);
    CU_ASSERT_EQUAL(sent_find(&r, 100), 1);
    CU_ASSERT_EQUAL(sent_find(&r, 700), 601);
    CU_ASSERT_EQUAL(sent_find(&r, 1099), 1000);
    CU_ASSERT_EQUAL(sent_find(&r, 5000), 1000);
    r.first = 300;
    CU_ASSERT_EQUAL(sent_find(&r, 399), 300);
    CU_ASSERT_EQUAL(sent_find(&r, 400), 301);
    sent_free(&r);
}

static void test_finds_numbers_with_gaps(void)
{
    struct sent_ring r = {0};
    unsigned wrong = 0;
    for (uint64_t n = 0; n < 500; n++)
        push(&r, n * n); /* ever wider gaps */
    for (uint64_t number = 0; number < 250000; number += 7) {
        uint64_t behind = sent_find(&r, number);
        wrong += behind > 0 && sent_at(&r, behind - 1)->number > number;
        wrong += behind < r.next && sent_at(&r, behind)->number <= number;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    sent_free(&r);
}

static void test_is_bounded(void)
{
    struct sent_ring r = {0};
    for (uint64_t n = 0; n < SENT_RECORDS_MAX; n++)
        push(&r, n);
    CU_ASSERT_FALSE(sent_reserve(&r));
    r.first++;
    CU_ASSERT_TRUE(sent_reserve(&r));
    sent_free(&r);
}

static const struct test_case cases[] = {
    {"finds numbers without gaps", test_finds_numbers_without_gaps},
    {"finds numbers with gaps", test_finds_numbers_with_gaps},
    {"is bounded", test_is_bounded},
};

int main(void)
{
    return covey_test_main("window records", cases, sizeof cases / sizeof cases[0]);
}
