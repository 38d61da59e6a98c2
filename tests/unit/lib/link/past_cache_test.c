/* links: lib/link/past_cache.c */
/* past_cache_test.c - copies past the cache: of all lengths, from and to any place. */
#include "lib/link/past_cache.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <stdint.h>
#include <string.h>

enum { ROOM = 700 };

static void all_bytes_come_and_no_others(void)
{
    uint8_t from[ROOM], to[ROOM], wanted[ROOM];
    for (size_t i = 0; i < ROOM; i++)
        from[i] = (uint8_t)(i * 7 + i / 251);
    for (size_t bytes = 0; bytes < 300; bytes++)
        for (size_t at = 0; at < 65; at += bytes % 3 + 1)
            for (size_t of = 0; of < 65; of += 13) {
                memset(to, 0xee, ROOM);
                memset(wanted, 0xee, ROOM);
                memcpy(wanted + at, from + of, bytes);
                past_cache_copy(to + at, from + of, bytes);
                CU_ASSERT_EQUAL(memcmp(to, wanted, ROOM), 0);
            }
}

static void a_cache_holds_little_and_not_all(void)
{
    CU_ASSERT_FALSE(past_cache_is_best(0));
    CU_ASSERT_FALSE(past_cache_is_best(4096));
    CU_ASSERT_TRUE(past_cache_is_best(SIZE_MAX));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"all bytes come and no others", all_bytes_come_and_no_others},
        {"a cache holds little and not all", a_cache_holds_little_and_not_all},
    };
    return covey_test_main("past_cache", cases, sizeof cases / sizeof cases[0]);
}
