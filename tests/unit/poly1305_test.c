/* links: proto/poly1305.c */
/*
 * poly1305_test.c - the tags are libsodium's, of every length, however the message is cut and
 * however many lanes there are, also where limbs are full and where the sum is just below, at or
 * above the modulus.
 */
#include "proto/poly1305.h"

#include <CUnit/CUnit.h>
#include <sodium.h>
#include <string.h>

#include "tests/unit/runner.h"

enum { BYTES_MAX = 2100 };

/* The lanes to try after so many; 0: that was the least. */
static unsigned fewer(unsigned lanes)
{
    return lanes == 8 ? 4 : lanes == 4 ? 1 : 0;
}

/* Whether the message, cut into pieces of `step` bytes and what is left over, has that tag. */
static bool agrees(const uint8_t *key, const uint8_t *bytes, size_t size, size_t step)
{
    uint8_t tag[POLY1305_TAG_BYTES], expected[POLY1305_TAG_BYTES];
    bool good = true;
    crypto_onetimeauth(expected, bytes, size, key);
    for (unsigned lanes = poly1305_lanes(); lanes > 0; lanes = fewer(lanes)) {
        struct poly1305 sum;
        poly1305_begin(&sum, key);
        for (size_t at = 0; at < size; at += step)
            poly1305_add(&sum, bytes + at, size - at < step ? size - at : step, lanes);
        poly1305_end(&sum, tag);
        good = good && memcmp(tag, expected, sizeof tag) == 0;
    }
    return good;
}

static void any_bytes_of_any_length(void)
{
    static const uint8_t seed[randombytes_SEEDBYTES] = {1};
    uint8_t key[POLY1305_KEY_BYTES], bytes[BYTES_MAX + 1];
    CU_ASSERT_FATAL(sodium_init() >= 0);
    randombytes_buf_deterministic(bytes, sizeof bytes, seed);
    memcpy(key, bytes + 100, sizeof key);
    for (size_t size = 0; size <= BYTES_MAX; size++) {
        CU_ASSERT(agrees(key, bytes + size % 2, size, BYTES_MAX));
        CU_ASSERT(agrees(key, bytes, size, 1 + size / 3));
        key[size % sizeof key]++;
    }
}

/* r as large as it can be, blocks of ones: every limb and every carry is at its largest. */
static void full_limbs(void)
{
    uint8_t key[POLY1305_KEY_BYTES], bytes[BYTES_MAX];
    memset(key, 0xff, sizeof key);
    memset(bytes, 0xff, sizeof bytes);
    for (size_t size = 0; size <= BYTES_MAX; size++)
        CU_ASSERT(agrees(key, bytes, size, BYTES_MAX));
}

/* With r = 1 the value is the sum of the blocks, each with its bit 128: the first four make it
 * 2^130 less a little, and the last one says how little. With r = 2 and 4 it comes round again. */
static void around_the_modulus(void)
{
    uint8_t key[POLY1305_KEY_BYTES] = {0}, bytes[40 * POLY1305_BLOCK_BYTES];
    for (unsigned end = 0; end < 256; end++) {
        memset(bytes, 0xff, sizeof bytes);
        memset(bytes + 16, 0, 48);
        bytes[16] = (uint8_t)end;
        bytes[sizeof bytes - 16] = (uint8_t)end;
        for (uint8_t r = 1; r <= 4; r = (uint8_t)(2 * r)) {
            key[0] = r;
            CU_ASSERT(agrees(key, bytes, 32, 32));
            CU_ASSERT(agrees(key, bytes, 64, 64));
            CU_ASSERT(agrees(key, bytes, sizeof bytes, sizeof bytes));
        }
    }
    for (uint8_t last = 0xf0; last != 0; last++) { /* one block: 2^129 - 1 and less, times r */
        memset(bytes, 0xff, 16);
        bytes[0] = last;
        for (uint8_t r = 1; r != 0; r++) {
            key[0] = r;
            CU_ASSERT(agrees(key, bytes, 16, 16));
        }
    }
}

static const struct test_case CASES[] = {
    {"any bytes of any length", any_bytes_of_any_length},
    {"full limbs", full_limbs},
    {"around the modulus", around_the_modulus},
};

int main(void)
{
    return covey_test_main("poly1305", CASES, sizeof CASES / sizeof CASES[0]);
}
