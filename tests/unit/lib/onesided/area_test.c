/* links: lib/onesided/area.c lib/link/shared_memory.c */
/*
 * area_test.c - the memory of a window at one host: two mappings of it in one process are two
 * members.
 */
#include "lib/covey/window.h"
#include "lib/link/shared_memory.h"
#include "lib/onesided/area.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = 3, ROUNDS = 20000 };

static struct area members[2];

static void lay_out(struct area *area, const size_t *bytes, const uint32_t *signals)
{
    *area = (struct area){.places = PLACES, .parts = calloc(PLACES, sizeof *area->parts)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(area->parts);
    for (int i = 0; i < PLACES; i++)
        area->parts[i] = (struct area_part){.bytes = bytes[i], .signals = signals[i]};
}

static void make(void)
{
    static const size_t bytes[PLACES] = {100, 0, 70000};
    static const uint32_t signals[PLACES] = {3, 0, 20};
    int fd = -1;
    for (int i = 0; i < 2; i++) {
        lay_out(&members[i], bytes, signals);
        CU_ASSERT_TRUE_FATAL(area_layout(&members[i]));
        if (fd < 0)
            fd = shared_memory_create("covey-test", members[0].bytes);
        CU_ASSERT_TRUE_FATAL(fd >= 0 && area_map(&members[i], fd));
    }
    close(fd);
}

static void unmake(void)
{
    area_unmap(&members[0]);
    area_unmap(&members[1]);
}

static void parts_are_apart(void)
{
    make();
    memset(area_data(&members[0], 0), 1, 100);
    memset(area_data(&members[0], 2), 2, 70000);
    for (uint32_t i = 0; i < 20; i++)
        area_signal(&members[0], 2, i, i);
    for (uint32_t i = 0; i < 3; i++)
        area_signal(&members[1], 0, i, 50);
    for (int k = 0; k < 100; k++)
        CU_ASSERT_EQUAL(area_data(&members[1], 0)[k], 1);
    for (int k = 0; k < 70000; k++)
        CU_ASSERT_EQUAL(area_data(&members[1], 2)[k], 2);
    for (uint32_t i = 0; i < 20; i++)
        CU_ASSERT_EQUAL(area_signals(&members[1], 2, i), i);
    CU_ASSERT_EQUAL(area_signals(&members[0], 0, 2), 50);
    unmake();
}

static void what_cannot_be_addressed(void)
{
    static const uint32_t signals[PLACES] = {0, 0, 0};
    static const size_t sizes[][PLACES] = {
        {SIZE_MAX, 0, 0}, {0, SIZE_MAX / 2 + 1, 0}, {SIZE_MAX / 4, SIZE_MAX / 4, SIZE_MAX / 4}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct area area;
        lay_out(&area, sizes[i], signals);
        CU_ASSERT_FALSE(area_layout(&area));
        area_unmap(&area);
    }
}

/* A writer is alone, readers are together, and all have their turn in the order of their tickets.
 */
static void a_lock_has_an_order(void)
{
    make();
    const struct area *a = &members[0], *b = &members[1];
    uint32_t first = area_ticket(a, 2), second = area_ticket(b, 2), third = area_ticket(a, 2),
             fourth = area_ticket(b, 2);
    CU_ASSERT(area_is_served(a, 2, COVEY_LOCK_EXCLUSIVE, first));
    CU_ASSERT_FALSE(area_is_served(b, 2, COVEY_LOCK_SHARED, second));
    area_enter(a, 2, COVEY_LOCK_EXCLUSIVE);
    CU_ASSERT_FALSE(area_is_served(b, 2, COVEY_LOCK_SHARED, second));
    area_leave(a, 2, COVEY_LOCK_EXCLUSIVE);
    CU_ASSERT(area_is_served(b, 2, COVEY_LOCK_SHARED, second));
    CU_ASSERT_FALSE(area_is_served(a, 2, COVEY_LOCK_SHARED, third));
    area_enter(b, 2, COVEY_LOCK_SHARED);
    CU_ASSERT(area_is_served(a, 2, COVEY_LOCK_SHARED, third)); /* both read */
    area_enter(a, 2, COVEY_LOCK_SHARED);
    CU_ASSERT_FALSE(area_is_served(b, 2, COVEY_LOCK_EXCLUSIVE, fourth));
    area_leave(b, 2, COVEY_LOCK_SHARED);
    CU_ASSERT_FALSE(area_is_served(b, 2, COVEY_LOCK_EXCLUSIVE, fourth));
    area_leave(a, 2, COVEY_LOCK_SHARED);
    CU_ASSERT(area_is_served(b, 2, COVEY_LOCK_EXCLUSIVE, fourth));
    CU_ASSERT(area_is_served(a, 0, COVEY_LOCK_EXCLUSIVE, area_ticket(a, 0))); /* another lock */
    unmake();
}

/* Not atomic by itself: the lock must make it so. */
static void *count_up(void *context)
{
    const struct area *area = context;
    volatile uint8_t *data = area_data(area, 0);
    for (int k = 0; k < ROUNDS; k++) {
        uint32_t ticket = area_ticket(area, 0);
        while (!area_is_served(area, 0, COVEY_LOCK_EXCLUSIVE, ticket))
            sched_yield();
        area_enter(area, 0, COVEY_LOCK_EXCLUSIVE);
        data[0] = (uint8_t)(data[0] + 1);
        data[1] = (uint8_t)(data[1] + (data[0] == 0));
        area_leave(area, 0, COVEY_LOCK_EXCLUSIVE);
    }
    return NULL;
}

static void two_threads_count(void)
{
    pthread_t other;
    make();
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, count_up, &members[1]), 0);
    count_up(&members[0]);
    pthread_join(other, NULL);
    const uint8_t *data = area_data(&members[0], 0);
    CU_ASSERT_EQUAL(data[0] + 256 * data[1], 2 * ROUNDS);
    unmake();
}

static void the_bell_is_wanted_once(void)
{
    make();
    CU_ASSERT_FALSE(area_wants_bell(&members[0]));
    area_ask_bell(&members[1]);
    CU_ASSERT_TRUE(area_wants_bell(&members[0]));
    CU_ASSERT_FALSE(area_wants_bell(&members[0]));
    unmake();
}

static const struct test_case cases[] = {{"parts are apart", parts_are_apart},
                                         {"what cannot be addressed", what_cannot_be_addressed},
                                         {"a lock has an order", a_lock_has_an_order},
                                         {"two threads count", two_threads_count},
                                         {"the bell is wanted once", the_bell_is_wanted_once}};

int main(void)
{
    return covey_test_main("area", cases, sizeof cases / sizeof cases[0]);
}
