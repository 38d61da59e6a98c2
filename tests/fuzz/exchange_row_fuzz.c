/* links: proto/exchange/exchange_row.c proto/wire/cursor.c */
/*
 * A row of an exchange as anybody may have sent it: what is accepted has rising ranks, and is the
 * same again after it was written and read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/exchange/exchange_row.h"
#include "tests/fuzz/fuzz.h"

#define RANKS_MAX 64

static void same_again(const struct exchange_entry *entries, int count, uint32_t ranks)
{
    uint8_t bytes[4096];
    struct exchange_entry again[RANKS_MAX];

    REQUIRE(exchange_row_bytes_max((size_t)count, ranks) <= sizeof bytes);
    size_t size = exchange_row_encode(bytes, sizeof bytes, entries, (size_t)count, ranks);
    REQUIRE(size > 0 && size <= exchange_row_bytes_max((size_t)count, ranks));
    REQUIRE(exchange_row_decode(bytes, size, ranks, again) == count);
    for (int i = 0; i < count; i++)
        REQUIRE(again[i].rank == entries[i].rank && again[i].count == entries[i].count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct exchange_entry entries[RANKS_MAX];

    if (size < 1)
        return 0;
    uint32_t ranks = 1 + data[0] % RANKS_MAX;
    int count = exchange_row_decode(data + 1, size - 1, ranks, entries);
    REQUIRE(count >= -1 && count <= (int)ranks);
    for (int i = 0; i < count; i++) {
        REQUIRE(entries[i].rank < ranks && entries[i].count <= EXCHANGE_ROW_COUNT_MAX);
        REQUIRE(i == 0 || entries[i].rank > entries[i - 1].rank);
    }
    if (count >= 0)
        same_again(entries, count, ranks);
    return 0;
}
