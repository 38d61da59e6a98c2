/* links: proto/wire/cursor.c */
/*
 * cursor_test.c - the bounded cursor: every number there and back, every refusal.
 */
#include "proto/wire/cursor.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <string.h>

static void numbers_are_big_endian(void)
{
    const uint8_t expected[] = {0x01, 0x12, 0x23, 0x34, 0x45, 0x56, 0x67, 0x78, 0x89, 0x9a,
                                0xab, 0xbc, 0xcd, 0xde, 0xef, 0xff, 0xff, 0xff, 0xfe};
    uint8_t bytes[sizeof expected];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u8(&c, 0x01);
    cursor_put_u16(&c, 0x1223);
    cursor_put_u32(&c, 0x34455667);
    cursor_put_u64(&c, 0x78899aabbccddeef);
    cursor_put_i32(&c, -2);
    CU_ASSERT(cursor_done(&c));
    CU_ASSERT(memcmp(bytes, expected, sizeof bytes) == 0);
    c = cursor_reader(bytes, sizeof bytes);
    CU_ASSERT_EQUAL(cursor_get_u8(&c), 0x01);
    CU_ASSERT_EQUAL(cursor_get_u16(&c), 0x1223);
    CU_ASSERT_EQUAL(cursor_get_u32(&c), 0x34455667);
    CU_ASSERT_EQUAL(cursor_get_u64(&c), 0x78899aabbccddeef);
    CU_ASSERT_EQUAL(cursor_get_i32(&c), -2);
    CU_ASSERT(cursor_done(&c));
}

static void extremes_come_back(void)
{
    uint8_t bytes[22];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u8(&c, UINT8_MAX);
    cursor_put_u16(&c, UINT16_MAX);
    cursor_put_u32(&c, UINT32_MAX);
    cursor_put_u64(&c, UINT64_MAX);
    cursor_put_i32(&c, INT32_MIN);
    CU_ASSERT(cursor_ok(&c));
    CU_ASSERT_EQUAL(cursor_left(&c), 3);
    c = cursor_reader(bytes, sizeof bytes);
    CU_ASSERT_EQUAL(cursor_get_u8(&c), UINT8_MAX);
    CU_ASSERT_EQUAL(cursor_get_u16(&c), UINT16_MAX);
    CU_ASSERT_EQUAL(cursor_get_u32(&c), UINT32_MAX);
    CU_ASSERT_EQUAL(cursor_get_u64(&c), UINT64_MAX);
    CU_ASSERT_EQUAL(cursor_get_i32(&c), INT32_MIN);
    CU_ASSERT(cursor_ok(&c));
    CU_ASSERT_FALSE(cursor_done(&c));
}

static void bytes_and_views_come_back(void)
{
    uint8_t bytes[8], out[4];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_bytes(&c, "abcd", 4);
    cursor_put_bytes(&c, NULL, 0);
    cursor_put_bytes(&c, "efgh", 4);
    CU_ASSERT(cursor_done(&c));
    c = cursor_reader(bytes, sizeof bytes);
    cursor_get_bytes(&c, out, 4);
    CU_ASSERT(memcmp(out, "abcd", 4) == 0);
    CU_ASSERT_PTR_EQUAL(cursor_get_view(&c, 4), bytes + 4);
    CU_ASSERT(cursor_done(&c));
}

static void texts_come_back(void)
{
    uint8_t bytes[16];
    char text[6];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_text(&c, "hello");
    cursor_put_text(&c, "");
    cursor_put_text(&c, NULL);
    CU_ASSERT_EQUAL(cursor_left(&c), 5);
    c = cursor_reader(bytes, sizeof bytes);
    cursor_get_text(&c, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "hello");
    for (int i = 0; i < 2; i++) {
        cursor_get_text(&c, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, "");
    }
    CU_ASSERT(cursor_ok(&c));
}

/* Every put into one byte less than it needs. */
static void put_any(struct cursor *c, int which)
{
    switch (which) {
    case 0:
        cursor_put_u8(c, 1);
        break;
    case 1:
        cursor_put_u16(c, 1);
        break;
    case 2:
        cursor_put_u32(c, 1);
        break;
    case 3:
        cursor_put_u64(c, 1);
        break;
    case 4:
        cursor_put_i32(c, 1);
        break;
    case 5:
        cursor_put_bytes(c, "abc", 3);
        break;
    default:
        cursor_put_text(c, "abc");
        break;
    }
}

static const size_t sizes[] = {1, 2, 4, 8, 4, 3, 5};
#define KINDS ((int)(sizeof sizes / sizeof sizes[0]))

static void writes_that_do_not_fit_change_nothing(void)
{
    for (int which = 0; which < KINDS; which++) {
        for (size_t room = 0; room < sizes[which]; room++) {
            uint8_t bytes[8];
            memset(bytes, 0xee, sizeof bytes);
            struct cursor c = cursor_writer(bytes, room);
            put_any(&c, which);
            CU_ASSERT_FALSE(cursor_ok(&c));
            CU_ASSERT_PTR_EQUAL(c.at, bytes);
            for (size_t i = 0; i < sizeof bytes; i++)
                CU_ASSERT_EQUAL(bytes[i], 0xee);
        }
    }
}

/* Reads by kind; true when what came out is the zero of a refusal. */
static bool get_any_is_zero(struct cursor *c, int which)
{
    uint8_t out[3] = {1, 1, 1};
    char text[8] = "old";
    switch (which) {
    case 0:
        return cursor_get_u8(c) == 0;
    case 1:
        return cursor_get_u16(c) == 0;
    case 2:
        return cursor_get_u32(c) == 0;
    case 3:
        return cursor_get_u64(c) == 0;
    case 4:
        return cursor_get_i32(c) == 0;
    case 5:
        cursor_get_bytes(c, out, 3);
        return out[0] == 0 && out[1] == 0 && out[2] == 0;
    default:
        cursor_get_text(c, text, sizeof text);
        return text[0] == '\0';
    }
}

static void reads_that_do_not_fit_give_zero(void)
{
    const uint8_t bytes[8] = {0, 3, 'a', 'b', 'c', 1, 1, 1};
    for (int which = 0; which < KINDS; which++) {
        for (size_t room = 0; room < sizes[which]; room++) {
            struct cursor c = cursor_reader(bytes, room);
            CU_ASSERT(get_any_is_zero(&c, which));
            CU_ASSERT_FALSE(cursor_ok(&c));
            CU_ASSERT_PTR_EQUAL(c.at, bytes);
        }
    }
    struct cursor c = cursor_reader(bytes, 4);
    CU_ASSERT_PTR_NULL(cursor_get_view(&c, 5));
    CU_ASSERT_FALSE(cursor_ok(&c));
}

static void after_a_refusal_everything_is_refused(void)
{
    uint8_t bytes[16] = {7, 7, 7, 7, 7, 7, 7, 7};
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_bytes(&c, bytes, 17);
    for (int which = 0; which < KINDS; which++)
        put_any(&c, which);
    CU_ASSERT_EQUAL(bytes[0], 7);
    CU_ASSERT_FALSE(cursor_ok(&c));
    CU_ASSERT_FALSE(cursor_done(&c));
    CU_ASSERT_EQUAL(cursor_left(&c), 0);
    c = cursor_reader(bytes, sizeof bytes);
    cursor_get_view(&c, SIZE_MAX);
    for (int which = 0; which < KINDS; which++)
        CU_ASSERT(get_any_is_zero(&c, which));
    CU_ASSERT_PTR_NULL(cursor_get_view(&c, 0));
    CU_ASSERT_PTR_EQUAL(c.at, bytes);
}

static void texts_that_do_not_fit_or_hold_a_nul_are_refused(void)
{
    const uint8_t bytes[] = {0, 4, 'a', 'b', '\0', 'd'};
    const uint8_t huge[] = {0xff, 0xff, 'a'};
    char text[8];
    struct cursor c = cursor_reader(bytes, sizeof bytes);
    cursor_get_text(&c, text, sizeof text);
    CU_ASSERT_FALSE(cursor_ok(&c));
    CU_ASSERT_STRING_EQUAL(text, "");
    CU_ASSERT_PTR_EQUAL(c.at, bytes);
    c = cursor_reader("\0\4abcd", 6);
    cursor_get_text(&c, text, 4); /* no room for the NUL */
    CU_ASSERT_FALSE(cursor_ok(&c));
    c = cursor_reader("\0\4abcd", 6);
    cursor_get_text(&c, text, 5);
    CU_ASSERT(cursor_done(&c));
    CU_ASSERT_STRING_EQUAL(text, "abcd");
    c = cursor_reader(huge, sizeof huge);
    cursor_get_text(&c, text, sizeof text);
    CU_ASSERT_FALSE(cursor_ok(&c));
}

static void texts_longer_than_their_length_field_are_refused(void)
{
    static char text[UINT16_MAX + 2];
    static uint8_t bytes[UINT16_MAX + 16];
    memset(text, 'x', sizeof text - 1);
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_text(&c, text);
    CU_ASSERT_FALSE(cursor_ok(&c));
    c = cursor_writer(bytes, sizeof bytes);
    cursor_put_text(&c, text + 1);
    CU_ASSERT(cursor_ok(&c));
    CU_ASSERT_EQUAL(cursor_left(&c), sizeof bytes - 2 - UINT16_MAX);
}

static void no_memory_at_all_is_refused_or_done(void)
{
    struct cursor c = cursor_reader(NULL, 0);
    CU_ASSERT(cursor_done(&c));
    CU_ASSERT_EQUAL(cursor_get_u8(&c), 0);
    CU_ASSERT_FALSE(cursor_ok(&c));
}

static size_t put_one_of_each(struct cursor *c)
{
    const uint8_t *start = c->at;
    cursor_put_u8(c, 1);
    cursor_put_u16(c, 2);
    cursor_put_u32(c, 3);
    cursor_put_u64(c, 4);
    cursor_put_i32(c, -5);
    cursor_put_bytes(c, "bytes", 5);
    cursor_put_bytes(c, NULL, 0);
    cursor_put_text(c, "text");
    cursor_put_text(c, NULL);
    return (size_t)(c->at - start);
}

static void a_counter_counts_what_would_be_written(void)
{
    uint8_t bytes[64];
    struct cursor writer = cursor_writer(bytes, sizeof bytes), counter = cursor_counter();
    CU_ASSERT_EQUAL(put_one_of_each(&counter), 0);
    CU_ASSERT_EQUAL(counter.counted, put_one_of_each(&writer));
    CU_ASSERT(cursor_ok(&counter));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"numbers are big-endian", numbers_are_big_endian},
        {"extremes come back", extremes_come_back},
        {"bytes and views come back", bytes_and_views_come_back},
        {"texts come back", texts_come_back},
        {"writes that do not fit change nothing", writes_that_do_not_fit_change_nothing},
        {"reads that do not fit give zero", reads_that_do_not_fit_give_zero},
        {"after a refusal everything is refused", after_a_refusal_everything_is_refused},
        {"texts that do not fit or hold a NUL are refused",
         texts_that_do_not_fit_or_hold_a_nul_are_refused},
        {"texts longer than their length field are refused",
         texts_longer_than_their_length_field_are_refused},
        {"a counter counts what would be written", a_counter_counts_what_would_be_written},
        {"no memory at all is refused or done", no_memory_at_all_is_refused_or_done},
    };
    return covey_test_main("cursor", cases, sizeof cases / sizeof cases[0]);
}
