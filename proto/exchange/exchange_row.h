/*
 * exchange_row.h - a row of COM as it goes to the other ranks: to whom a rank sends how much.
 *
 *     row    = flags count ranks sizes
 *     flags  = u8                  ; EXCHANGE_ROW_EQUAL, EXCHANGE_ROW_BITS
 *     count  = number              ; of entries
 *     ranks  = bits / *gap         ; one bit a rank, from the lowest one of the first byte on, or
 *     gap    = number              ; how many ranks lie between an entry and the one before it
 *     sizes  = number / *number    ; one for all (EQUAL), or one for each entry
 *     number = *( 1 7bit ) 0 7bit  ; seven bits a byte, the lowest ones first
 *
 * A regular row of many entries takes an eighth of a byte a rank, a sparse one some bytes an entry.
 */
#ifndef COVEY_PROTO_EXCHANGE_ROW_H
#define COVEY_PROTO_EXCHANGE_ROW_H

#include <stddef.h>
#include <stdint.h>

#define EXCHANGE_ROW_EQUAL 1 /* all entries have one size */
#define EXCHANGE_ROW_BITS 2  /* ranks are a bit each */
#define EXCHANGE_ROW_COUNT_MAX ((uint64_t)1 << 40)

struct exchange_entry {
    uint32_t rank;
    uint64_t count; /* of elements; may be 0: a message that has none */
};

/* The most bytes that a row of so many entries takes. */
size_t exchange_row_bytes_max(size_t entries, uint32_t ranks);

/* Writes the row of entries, whose ranks rise and are below `ranks`; returns its bytes, 0 when it
 * does not fit. */
size_t exchange_row_encode(uint8_t *bytes, size_t capacity, const struct exchange_entry *entries,
                           size_t count, uint32_t ranks);

/* Reads a row of at most `ranks` entries; their number, or -1 for what no encoder writes. */
int exchange_row_decode(const uint8_t *bytes, size_t size, uint32_t ranks,
                        struct exchange_entry *entries);

#endif
