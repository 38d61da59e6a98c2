/*
 * keys.c - the operations on unsigned integers of each width: see keys_template.h.
 */
#include "lib/domain/sort/order.h"

#include <string.h>

#define BUCKETS 256
#define FEW 48    /* that many are put in order one by one, without counting 256 buckets a byte */
#define APART 2.0 /* values of some bytes for each key: most keys have one for themselves */

#define LESS(a, b) ((a) < (b))
#define BYTE_OF(key, i) ((uint8_t)((key) >> 8 * (i)))
#define DIFFER(a, b) ((KEY)((a) ^ (b)))
#define ADD_BITS(a, b) ((KEY)((a) | (b)))
#define IS_SAME_FROM(a, b, i) (((a) ^ (b)) >> 8 * (i) == 0)

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
#undef DIFFER
#undef ADD_BITS
#undef IS_SAME_FROM

static int pair_less(struct sort_pair a, struct sort_pair b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

static uint8_t pair_byte(struct sort_pair key, size_t i)
{
    return (uint8_t)((i < 8 ? key.low : key.high) >> 8 * (i % 8));
}

static struct sort_pair pair_differ(struct sort_pair a, struct sort_pair b)
{
    return (struct sort_pair){a.high ^ b.high, a.low ^ b.low};
}

static struct sort_pair pair_add_bits(struct sort_pair a, struct sort_pair b)
{
    return (struct sort_pair){a.high | b.high, a.low | b.low};
}

static int pair_is_same_from(struct sort_pair a, struct sort_pair b, size_t i)
{
    return a.high >> (i < 8 ? 0 : 8 * (i - 8)) == b.high >> (i < 8 ? 0 : 8 * (i - 8)) &&
           (i >= 8 || a.low >> 8 * i == b.low >> 8 * i);
}

#define LESS(a, b) pair_less(a, b)
#define BYTE_OF(key, i) pair_byte(key, i)
#define DIFFER(a, b) pair_differ(a, b)
#define ADD_BITS(a, b) pair_add_bits(a, b)
#define IS_SAME_FROM(a, b, i) pair_is_same_from(a, b, i)
#define KEY struct sort_pair
#define NAME(what) what##_pair
#include "lib/domain/sort/keys_template.h"
