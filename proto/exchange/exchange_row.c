/*
 * exchange_row.c - a row of COM as few bytes. Both forms of the ranks, bits and gaps, are written
 * by what the entries need; a reader takes either and refuses what no writer makes.
 */
#include "proto/exchange/exchange_row.h"

#include <stdbool.h>

#include "proto/wire/cursor.h"

#define NUMBER_BYTES_MAX 10
#define HEAD_BYTES_MAX (1 + NUMBER_BYTES_MAX)

/* ---- Numbers ----------------------------------------------------------------------------- */

static void put_number(struct cursor *c, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        cursor_put_u8(c, (uint8_t)(number | 0x80));
    cursor_put_u8(c, (uint8_t)number);
}

/* One that is larger than `most`, or longer than it need be, is refused. */
static uint64_t get_number(struct cursor *c, uint64_t most)
{
    uint64_t number = 0;

    for (int shift = 0; shift < 56; shift += 7) {
        uint8_t byte = cursor_get_u8(c);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (number > most || (byte == 0 && shift > 0))
            break;
        return number;
    }
    c->bad = true;
    return 0;
}

/* ---- Writing ----------------------------------------------------------------------------- */

static size_t bit_bytes(uint32_t ranks)
{
    return (ranks + 7) / 8;
}

size_t exchange_row_bytes_max(size_t entries, uint32_t ranks)
{
    return HEAD_BYTES_MAX + 2 * NUMBER_BYTES_MAX * entries + bit_bytes(ranks);
}

static uint8_t flags_of(const struct exchange_entry *entries, size_t count, uint32_t ranks)
{
    uint8_t flags = EXCHANGE_ROW_EQUAL;

    for (size_t i = 1; i < count; i++) {
        if (entries[i].count != entries[0].count)
            flags = 0;
    }
    return count > bit_bytes(ranks) ? flags | EXCHANGE_ROW_BITS : flags;
}

size_t exchange_row_encode(uint8_t *bytes, size_t capacity, const struct exchange_entry *entries,
                           size_t count, uint32_t ranks)
{
    struct cursor c = cursor_writer(bytes, capacity);
    uint8_t flags = flags_of(entries, count, ranks);

    cursor_put_u8(&c, flags);
    put_number(&c, count);
    if (flags & EXCHANGE_ROW_BITS) {
        size_t at = 0;

        for (uint32_t byte = 0; byte < bit_bytes(ranks); byte++) {
            uint8_t bits = 0;
            for (; at < count && entries[at].rank / 8 == byte; at++)
                bits |= (uint8_t)(1 << entries[at].rank % 8);
            cursor_put_u8(&c, bits);
        }
    } else {
        uint32_t next = 0;

        for (size_t i = 0; i < count; i++) {
            put_number(&c, entries[i].rank - next);
            next = entries[i].rank + 1;
        }
    }
    size_t sizes = (flags & EXCHANGE_ROW_EQUAL) && count > 0 ? 1 : count;
    for (size_t i = 0; i < sizes; i++)
        put_number(&c, entries[i].count);
    return cursor_ok(&c) ? capacity - cursor_left(&c) : 0;
}

/* ---- Reading ----------------------------------------------------------------------------- */

static bool get_bits(struct cursor *c, struct exchange_entry *entries, size_t count, uint32_t ranks)
{
    const uint8_t *bits = cursor_get_view(c, bit_bytes(ranks));
    size_t found = 0;

    for (uint32_t rank = 0; bits != NULL && rank < 8 * bit_bytes(ranks); rank++) {
        if (!(bits[rank / 8] >> rank % 8 & 1))
            continue;
        if (found == count || rank >= ranks)
            return false;
        entries[found++].rank = rank;
    }
    return bits != NULL && found == count;
}

static bool get_gaps(struct cursor *c, struct exchange_entry *entries, size_t count, uint32_t ranks)
{
    uint64_t next = 0;

    for (size_t i = 0; i < count; i++) {
        next += get_number(c, ranks);
        if (!cursor_ok(c) || next >= ranks)
            return false;
        entries[i].rank = (uint32_t)next++;
    }
    return true;
}

int exchange_row_decode(const uint8_t *bytes, size_t size, uint32_t ranks,
                        struct exchange_entry *entries)
{
    struct cursor c = cursor_reader(bytes, size);
    uint8_t flags = cursor_get_u8(&c);
    size_t count = (size_t)get_number(&c, ranks);

    if (!cursor_ok(&c) || (flags & ~(EXCHANGE_ROW_EQUAL | EXCHANGE_ROW_BITS)))
        return -1;
    if (!(flags & EXCHANGE_ROW_BITS ? get_bits : get_gaps)(&c, entries, count, ranks))
        return -1;
    for (size_t i = 0; i < count; i++) {
        bool same = (flags & EXCHANGE_ROW_EQUAL) && i > 0;
        entries[i].count = same ? entries[0].count : get_number(&c, EXCHANGE_ROW_COUNT_MAX);
    }
    return cursor_done(&c) ? (int)count : -1;
}
