/* links: proto/trace/trace_pack.c proto/wire/cursor.c */
#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <string.h>

#include "proto/trace/trace_pack.h"
#include "tests/unit/runner.h"

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* What is written comes back, whatever it is: words of few values and of any. */
static void test_records_come_back(void)
{
    static struct trace_pack put, get;
    uint64_t seed = 7;
    for (int i = 0; i < 200000; i++) {
        struct trace_record record, back;
        uint8_t bytes[TRACE_PACKED_MAX];
        for (int w = 0; w < TRACE_WORDS; w++)
            record.word[w] = next(&seed) >> (next(&seed) % 64);
        if (i % 3 != 0) {
            record.word[1] |= (uint64_t)(i % 5) << 60;
            record.word[2] = (record.word[2] & 3) | (uint64_t)i << 40;
            record.word[3] = (record.word[3] & 7) | (record.word[3] & 8) << 29;
        }
        if (i % 1000 == 0) {
            trace_pack_begin(&put);
            trace_pack_begin(&get);
        }
        size_t size = trace_pack_put(&put, bytes, &record);
        struct cursor c = cursor_reader(bytes, size);
        CU_ASSERT_FATAL(size <= TRACE_PACKED_MAX && bytes[0] != TRACE_PAGE_END);
        CU_ASSERT_FATAL(trace_pack_get(&get, &c, &back) == 1 && cursor_done(&c));
        CU_ASSERT_FATAL(memcmp(&record, &back, sizeof record) == 0);
    }
}

/* The messages of a ring: that is what it is for. */
static void test_what_repeats_is_short(void)
{
    static struct trace_pack pack;
    uint8_t bytes[TRACE_PACKED_MAX];
    size_t size = 0;
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t at = 90000 * i;
        const struct trace_record receive = {{at, 88000 | (uint64_t)TRACE_RECEIVE << 60,
                                              1040 | i << 40, 0x40001 | (uint64_t)1 << 32}};
        const struct trace_record send = {{at + 88300, 700 | (uint64_t)TRACE_SEND << 60,
                                           1040 | i << 40, 0x40002 | (uint64_t)1 << 32}};
        size = trace_pack_put(&pack, bytes, &receive);
        size += trace_pack_put(&pack, bytes, &send);
    }
    CU_ASSERT(size <= 12);
}

static void test_what_is_no_record(void)
{
    static struct trace_pack pack;
    struct trace_record record;
    static const struct {
        uint8_t bytes[16];
        size_t size;
        int got;
    } cases[] = {{{0xff}, 1, 0},
                 {{0}, 0, -1},
                 {{0x00, 1, 1}, 3, -1},          /* nothing is kept there */
                 {{0x3f, 1, 1}, 3, -1},          /* there is no such place */
                 {{0xc0, 1, 1}, 3, -1},          /* it is cut */
                 {{0xc0, 1, 1, 1, 1, 0}, 6, -1}, /* likewise */
                 {{0xc0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, 12, -1},
                 {{0xc0, 1, 1, 0x80, 0x80, 4, 1, 0, 0, 0}, 10, -1}, /* 17 bits */
                 {{0xc0, 1, 1, 1, 1, 0, 0, 0}, 8, 1},
                 {{0x40, 1, 1}, 3, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cursor c = cursor_reader(cases[i].bytes, cases[i].size);
        CU_ASSERT_EQUAL(trace_pack_get(&pack, &c, &record), cases[i].got);
    }
    CU_ASSERT_EQUAL(record.word[0], 1);
    CU_ASSERT_EQUAL(record.word[2], (uint64_t)1 << 40);
}

static const struct test_case cases[] = {
    {"records come back", test_records_come_back},
    {"what repeats is short", test_what_repeats_is_short},
    {"what is no record", test_what_is_no_record},
};

int main(void)
{
    return covey_test_main("trace_pack", cases, sizeof cases / sizeof cases[0]);
}
