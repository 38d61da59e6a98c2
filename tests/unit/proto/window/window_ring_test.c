/* links: proto/window/window_ring.c */
#include "proto/window/window_ring.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/unit/runner.h"

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 31 + offset / 251);
}

static void put(struct window_ring *r, uint64_t begin, uint64_t end)
{
    for (uint64_t offset = begin; offset < end; offset++) {
        uint8_t byte = byte_at(offset);
        window_ring_put(r, offset, &byte, 1);
    }
}

static bool view_is(struct window_ring *r, uint64_t begin, uint64_t end, size_t expected)
{
    const uint8_t *bytes = NULL;
    size_t size = window_ring_view(r, begin, end, &bytes);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != byte_at(begin + i))
            return false;
    return size == expected;
}

static void test_growing_keeps_bytes(void)
{
    struct window_ring r = {0};
    uint64_t begin = 1000003, end = begin + 10000;
    CU_ASSERT_TRUE(window_ring_reserve(&r, begin, begin, end));
    size_t capacity = r.capacity;
    put(&r, begin, end);
    CU_ASSERT_TRUE(window_ring_reserve(&r, begin, end, begin + 100000));
    CU_ASSERT(r.capacity > capacity);
    CU_ASSERT_TRUE(view_is(&r, begin, end, 10000));
    capacity = r.capacity;
    CU_ASSERT_TRUE(window_ring_reserve(&r, end, end, end + 100000));
    CU_ASSERT_EQUAL(r.capacity, capacity);
    window_ring_free(&r);
}

/* A view crosses the end of the ring by repeating the first bytes behind it. */
/* A coordinator of thousands has two rings for each, in which little lies. */
static void test_little_takes_little(void)
{
    struct window_ring r = {0};
    CU_ASSERT_TRUE(window_ring_reserve(&r, 0, 0, 100));
    CU_ASSERT(r.capacity <= 4096);
    window_ring_free(&r);
}

/* After a burst a trickle makes it small again; not while bytes lie in it, nor between bursts. */
static void test_trickle_after_a_burst(void)
{
    struct window_ring r = {0};
    uint64_t at = 0;
    CU_ASSERT_TRUE(window_ring_reserve(&r, at, at, at + 300000));
    at += 300000;
    size_t large = r.capacity;
    for (int bursts = 0; bursts < 5; bursts++) {
        for (int i = 0; i < 30; i++, at += 100)
            CU_ASSERT_TRUE(window_ring_reserve(&r, at, at, at + 100));
        CU_ASSERT_TRUE(window_ring_reserve(&r, at, at, at + 20000));
        at += 20000;
        CU_ASSERT_EQUAL(r.capacity, large);
    }
    CU_ASSERT_TRUE(window_ring_reserve(&r, at, at, at + 100));
    put(&r, at, at + 100);
    for (int i = 0; i < 100; i++)
        CU_ASSERT_TRUE(window_ring_reserve(&r, at, at + 100, at + 200));
    CU_ASSERT_EQUAL(r.capacity, large);
    CU_ASSERT_TRUE(view_is(&r, at, at + 100, 100));
    for (int i = 0; i < 40; i++, at += 100) {
        CU_ASSERT_TRUE(window_ring_reserve(&r, at, at, at + 100));
        put(&r, at, at + 100);
        CU_ASSERT_TRUE(view_is(&r, at, at + 100, 100));
    }
    CU_ASSERT(r.capacity <= 4096);
    window_ring_free(&r);
}

static void test_view_is_contiguous(void)
{
    struct window_ring r = {0};
    CU_ASSERT_TRUE(window_ring_reserve(&r, 0, 0, 256 * 1024));
    uint64_t begin = r.capacity - 1000;
    put(&r, begin, begin + 200000);
    CU_ASSERT_TRUE(view_is(&r, begin, begin + 500, 500));
    CU_ASSERT_TRUE(view_is(&r, begin, begin + 5000, 5000));
    CU_ASSERT_TRUE(view_is(&r, begin, begin + 6000, 6000));
    CU_ASSERT_TRUE(view_is(&r, begin, begin + 200000, RING_VIEW_BYTES));
    CU_ASSERT_TRUE(view_is(&r, begin + 1000, begin + 200000, 199000));
    begin += 3 * r.capacity; /* the same place, later turns */
    put(&r, begin, begin + 5000);
    CU_ASSERT_TRUE(view_is(&r, begin, begin + 5000, 5000));
    window_ring_free(&r);
}

static void test_view_of_a_small_ring(void)
{
    struct window_ring r = {0};
    CU_ASSERT_TRUE(window_ring_reserve(&r, 0, 0, 1000));
    uint64_t begin = 5 * r.capacity + 777, end = begin + r.capacity;
    put(&r, begin, end);
    CU_ASSERT_TRUE(view_is(&r, begin, end, r.capacity));
    CU_ASSERT_TRUE(view_is(&r, begin, begin, 0));
    window_ring_free(&r);
}

static void test_run_ends_at_the_wrap(void)
{
    struct window_ring r = {0};
    const uint8_t *bytes;
    CU_ASSERT_TRUE(window_ring_reserve(&r, 0, 0, 1000));
    uint64_t at = r.capacity - 10;
    put(&r, at, at + 100);
    CU_ASSERT_EQUAL(window_ring_run(&r, at, 100, &bytes), 10);
    CU_ASSERT_EQUAL(bytes[9], byte_at(at + 9));
    CU_ASSERT_EQUAL(window_ring_run(&r, at + 10, 90, &bytes), 90);
    CU_ASSERT_EQUAL(bytes[89], byte_at(at + 99));
    window_ring_free(&r);
}

static const struct test_case cases[] = {
    {"growing keeps bytes", test_growing_keeps_bytes},
    {"little takes little", test_little_takes_little},
    {"a trickle after a burst", test_trickle_after_a_burst},
    {"a view is contiguous", test_view_is_contiguous},
    {"a view of a small ring", test_view_of_a_small_ring},
    {"a run ends at the wrap", test_run_ends_at_the_wrap},
};

int main(void)
{
    return covey_test_main("window ring", cases, sizeof cases / sizeof cases[0]);
}
