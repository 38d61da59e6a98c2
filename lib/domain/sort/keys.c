/*
 * keys.c - the operations on unsigned integers of each width: see keys_template.h.
 */
#include "lib/domain/sort/order.h"

#include <string.h>

#define BUCKETS 256
#define FEW 48 /* that many are put in order one by one, without counting 256 buckets a byte */

#define LESS(a, b) ((a) < (b))
#define BYTE_OF(key, i) ((uint8_t)((key) >> 8 * (i)))

#define KEY uint8_t
#define NAME(what) what##_8
#include "lib/domain/sort/keys_template.h"
#undef KEY
#undef NAME

#define KEY uint16_t
#define NAME(what) what##_16
#include "lib/domain/sort/keys_template.h"
#undef KEY
#undef NAME

#define KEY uint32_t
#define NAME(what) what##_32
#include "lib/domain/sort/keys_template.h"
#undef KEY
#undef NAME

#define KEY uint64_t
#define NAME(what) what##_64
#include "lib/domain/sort/keys_template.h"
#undef KEY
#undef NAME
#undef LESS
#undef BYTE_OF

static int pair_less(struct sort_pair a, struct sort_pair b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

static uint8_t pair_byte(struct sort_pair key, size_t i)
{
    return (uint8_t)((i < 8 ? key.low : key.high) >> 8 * (i % 8));
}

#define LESS(a, b) pair_less(a, b)
#define BYTE_OF(key, i) pair_byte(key, i)
#define KEY struct sort_pair
#define NAME(what) what##_pair
#include "lib/domain/sort/keys_template.h"
