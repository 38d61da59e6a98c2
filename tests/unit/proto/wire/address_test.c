/* links: proto/wire/address.c proto/wire/cursor.c */
/*
 * address_test.c - addresses on the wire and in the log.
 */
#include "proto/wire/address.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/unit/runner.h"

static const struct address V4 = {ADDRESS_IPV4, 6, {10, 0, 0, 1, 0x1b, 0x58}};
static const struct address V6 = {
    ADDRESS_IPV6, 22, {0xfe, 0x80, [15] = 1, [16] = 0x1b, [17] = 0x58, [21] = 2}};
static const struct address MAC = {ADDRESS_ETHER, 6, {2, 0, 0, 0, 0, 1}};

static void round_trip(void)
{
    const struct address *const all[] = {&V4, &V6, &MAC};
    uint8_t bytes[64];

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct cursor w = cursor_writer(bytes, sizeof bytes), r;
        struct address read;

        address_put(&w, all[i]);
        r = cursor_reader(bytes, (size_t)(w.at - bytes));
        address_get(&r, &read);
        CU_ASSERT(cursor_done(&r));
        CU_ASSERT(address_equal(&read, all[i]));
    }
    CU_ASSERT_FALSE(address_equal(&V4, &MAC));
}

static void refusals(void)
{
    const uint8_t unknown[] = {9, 6, 1, 2, 3, 4, 5, 6};
    const uint8_t wrong_size[] = {ADDRESS_IPV4, 22, 1, 2, 3, 4, 5, 6};
    const uint8_t cut_short[] = {ADDRESS_IPV4, 6, 1, 2, 3};
    struct address a = V4;
    struct cursor c = cursor_reader(unknown, sizeof unknown);

    address_get(&c, &a);
    CU_ASSERT_FALSE(cursor_ok(&c));
    c = cursor_reader(wrong_size, sizeof wrong_size);
    address_get(&c, &a);
    CU_ASSERT_FALSE(cursor_ok(&c));
    c = cursor_reader(cut_short, sizeof cut_short);
    address_get(&c, &a);
    CU_ASSERT_FALSE(cursor_ok(&c));
    CU_ASSERT(address_equal(&a, &V4));
}

static void texts(void)
{
    char text[ADDRESS_TEXT_BYTES];

    address_text(&V4, text);
    CU_ASSERT_STRING_EQUAL(text, "10.0.0.1:7000");
    address_text(&V6, text);
    CU_ASSERT_STRING_EQUAL(text, "[fe80::1]:7000");
    address_text(&MAC, text);
    CU_ASSERT_STRING_EQUAL(text, "02:00:00:00:00:01");
    address_text(&(struct address){0}, text);
    CU_ASSERT_STRING_EQUAL(text, "(no address)");
}

static const struct test_case CASES[] = {
    {"round trip", round_trip},
    {"refusals", refusals},
    {"texts", texts},
};

int main(void)
{
    return covey_test_main("address", CASES, sizeof CASES / sizeof CASES[0]);
}
