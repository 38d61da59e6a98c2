/* links: proto/exchange/exchange_row.c proto/wire/cursor.c */
/*
 * Rows of an exchange: what was written is read, in few bytes, and what no encoder writes is
 * refused.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "proto/exchange/exchange_row.h"
#include "tests/unit/runner.h"

#define RANKS 64

static size_t write_row(const struct exchange_entry *entries, size_t count, uint8_t *bytes)
{
    return exchange_row_encode(bytes, exchange_row_bytes_max(count, RANKS), entries, count, RANKS);
}

static void comes_back(const struct exchange_entry *entries, size_t count, size_t bytes_max)
{
    uint8_t bytes[4096];
    struct exchange_entry read[RANKS];
    size_t size = write_row(entries, count, bytes);

    CU_ASSERT(size > 0 && size <= bytes_max);
    CU_ASSERT_EQUAL_FATAL(exchange_row_decode(bytes, size, RANKS, read), (int)count);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT(read[i].rank == entries[i].rank && read[i].count == entries[i].count);
    for (size_t cut = 0; cut < size; cut++)
        CU_ASSERT_EQUAL(exchange_row_decode(bytes, cut, RANKS, read), -1);
    bytes[size] = 0;
    CU_ASSERT_EQUAL(exchange_row_decode(bytes, size + 1, RANKS, read), -1);
}

static void rows_come_back(void)
{
    struct exchange_entry all[RANKS];
    const struct exchange_entry few[] = {{0, 0}, {7, 1}, {63, EXCHANGE_ROW_COUNT_MAX}};

    comes_back(NULL, 0, 2);
    comes_back(few, 3, 14);
    comes_back(few, 1, 4);
    for (uint32_t i = 0; i < RANKS; i++)
        all[i] = (struct exchange_entry){i, 65536};
    comes_back(all, RANKS, 13); /* a regular row fits into a note */
    all[5].count = 7;
    comes_back(all, RANKS, 10 + 3 * RANKS);
}

static void does_not_write_beyond(void)
{
    uint8_t bytes[8];
    const struct exchange_entry few[] = {{0, 1000}, {7, 1 << 20}, {63, 5}};
    CU_ASSERT_EQUAL(exchange_row_encode(bytes, sizeof bytes, few, 3, RANKS), 0);
}

static void refuses(const char *bytes, size_t size)
{
    struct exchange_entry read[RANKS];
    CU_ASSERT_EQUAL(exchange_row_decode((const uint8_t *)bytes, size, RANKS, read), -1);
}

static void refuses_what_nobody_writes(void)
{
    refuses("\x04\x00", 2);                                  /* an unknown flag */
    refuses("\x01\x41", 2);                                  /* more entries than ranks */
    refuses("\x01\x02\x00\x3f\x01", 5);                      /* a rank too high */
    refuses("\x01\x01\x00\x81\x00", 5);                      /* a number longer than it need be */
    refuses("\x01\x01\x00\xff\xff\xff\xff\xff\xff\x7f", 10); /* more than 2^40 elements */
    refuses("\x03\x02\x01\0\0\0\0\0\0\0\x05", 11);           /* fewer bits than entries */
    refuses("\x03\x01\x03\0\0\0\0\0\0\0\x05", 11);           /* more bits than entries */
}

static const struct test_case cases[] = {
    {"rows come back", rows_come_back},
    {"does not write beyond the memory", does_not_write_beyond},
    {"refuses what nobody writes", refuses_what_nobody_writes},
};

int main(void)
{
    return covey_test_main("rows of an exchange", cases, sizeof cases / sizeof cases[0]);
}
