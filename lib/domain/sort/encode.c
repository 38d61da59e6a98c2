/*
 * encode.c - numbers as unsigned integers of the same order, and back, bit for bit.
 *
 * Of a signed integer the sign is turned over. A floating-point number of IEEE 754 is sign and
 * size: below zero all bits are turned over, otherwise the sign alone. That would put a NaN with a
 * sign before minus infinity, and x86 makes these: all is moved down by their number, which puts
 * them behind the others. A complex number is one integer, its real part above the imaginary one.
 */
#include "lib/domain/sort/order.h"

#include <string.h>

#define SIGN_32 0x80000000u
#define SIGN_64 0x8000000000000000u
#define NANS_32 0x007fffffu /* with a sign */
#define NANS_64 0x000fffffffffffffu

static uint32_t encode_float(uint32_t bits)
{
    return ((bits & SIGN_32) != 0 ? ~bits : bits ^ SIGN_32) - NANS_32;
}

static uint32_t decode_float(uint32_t key)
{
    key += NANS_32;
    return (key & SIGN_32) != 0 ? key ^ SIGN_32 : ~key;
}

static uint64_t encode_double(uint64_t bits)
{
    return ((bits & SIGN_64) != 0 ? ~bits : bits ^ SIGN_64) - NANS_64;
}

static uint64_t decode_double(uint64_t key)
{
    key += NANS_64;
    return (key & SIGN_64) != 0 ? key ^ SIGN_64 : ~key;
}

static uint64_t encode_complex(const uint32_t part[2])
{
    return (uint64_t)encode_float(part[0]) << 32 | encode_float(part[1]);
}

/* A loop over arrays that may lie anywhere: the caller's have any effective type. */
#define EACH(FROM, TO, expression)                                                                 \
    for (size_t i = 0; i < n; i++) {                                                               \
        FROM from;                                                                                 \
        memcpy(&from, (const char *)source + i * sizeof from, sizeof from);                        \
        TO to = expression;                                                                        \
        memcpy((char *)target + i * sizeof to, &to, sizeof to);                                    \
    }                                                                                              \
    break

struct parts_32 {
    uint32_t part[2];
};

void order_encode(const struct sort_order *order, const void *source, void *target, size_t n)
{
    switch (order->compare != NULL ? COVEY_BYTES : order->type) {
    case COVEY_INT8:
        EACH(uint8_t, uint8_t, (uint8_t)(from ^ 0x80));
    case COVEY_INT16:
        EACH(uint16_t, uint16_t, (uint16_t)(from ^ 0x8000));
    case COVEY_INT32:
        EACH(uint32_t, uint32_t, from ^ SIGN_32);
    case COVEY_INT64:
        EACH(uint64_t, uint64_t, from ^ SIGN_64);
    case COVEY_FLOAT:
        EACH(uint32_t, uint32_t, encode_float(from));
    case COVEY_DOUBLE:
        EACH(uint64_t, uint64_t, encode_double(from));
    case COVEY_COMPLEX_FLOAT:
        EACH(struct parts_32, uint64_t, encode_complex(from.part));
    case COVEY_COMPLEX_DOUBLE:
        n *= 2;
        EACH(uint64_t, uint64_t, encode_double(from));
    default:
        if (n > 0)
            memcpy(target, source, n * order->size);
    }
}

static struct parts_32 decode_complex(uint64_t key)
{
    return (struct parts_32){{decode_float((uint32_t)(key >> 32)), decode_float((uint32_t)key)}};
}

void order_decode(const struct sort_order *order, const void *source, void *target, size_t n)
{
    switch (order->compare != NULL ? COVEY_BYTES : order->type) {
    case COVEY_FLOAT:
        EACH(uint32_t, uint32_t, decode_float(from));
    case COVEY_DOUBLE:
        EACH(uint64_t, uint64_t, decode_double(from));
    case COVEY_COMPLEX_FLOAT:
        EACH(uint64_t, struct parts_32, decode_complex(from));
    case COVEY_COMPLEX_DOUBLE:
        n *= 2;
        EACH(uint64_t, uint64_t, decode_double(from));
    default: /* signs are turned over twice */
        order_encode(order, source, target, n);
    }
}
