/*
 * poly1305.c - Poly1305 (RFC 8439 section 2.5): the message is a polynomial whose coefficients are
 * its blocks of 16 bytes, evaluated at r modulo 2^130 - 5 by Horner's rule; the tag is its value
 * plus the pad, modulo 2^128.
 *
 * Long runs of blocks go through poly1305_lanes.h, where each lane evaluates every LANES-th
 * coefficient at r to the LANES; what is left over goes block by block. Nothing branches on or
 * indexes by what is secret. The test compares all ways with libsodium's.
 */
#include "proto/poly1305.h"

#include <string.h>

#define LIMB_MASK UINT64_C(0x3ffffff)
#define LANES_MAX 8
#define WIDE_BLOCKS 24 /* fewer are not worth the powers of r */

/* ---- one number ------------------------------------------------------------------------------ */

static uint64_t load64(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

static void store64(uint8_t *bytes, uint64_t word)
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
}

static void limbs_of(uint64_t limb[POLY1305_LIMBS], uint64_t low, uint64_t high)
{
    limb[0] = low & LIMB_MASK;
    limb[1] = low >> 26 & LIMB_MASK;
    limb[2] = (low >> 52 | high << 12) & LIMB_MASK;
    limb[3] = high >> 14 & LIMB_MASK;
    limb[4] = high >> 40;
}

/* Brings limbs back to 26 bits and a little: two chains at once. */
static void carry(uint64_t limb[POLY1305_LIMBS])
{
    limb[1] += limb[0] >> 26;
    limb[4] += limb[3] >> 26;
    limb[0] = (limb[0] & LIMB_MASK) + (limb[4] >> 26) * 5;
    limb[3] &= LIMB_MASK;
    limb[2] += limb[1] >> 26;
    limb[1] = (limb[1] & LIMB_MASK) + (limb[0] >> 26);
    limb[4] &= LIMB_MASK;
    limb[3] += limb[2] >> 26;
    limb[0] &= LIMB_MASK;
    limb[2] &= LIMB_MASK;
    limb[4] += limb[3] >> 26;
    limb[3] &= LIMB_MASK;
}

/* to = a * b; `to` may be either. */
static void multiply(uint64_t to[POLY1305_LIMBS], const uint64_t a[POLY1305_LIMBS],
                     const uint64_t b[POLY1305_LIMBS])
{
    const uint64_t f1 = b[1] * 5, f2 = b[2] * 5, f3 = b[3] * 5, f4 = b[4] * 5;
    uint64_t sum[POLY1305_LIMBS] = {
        a[0] * b[0] + a[1] * f4 + a[2] * f3 + a[3] * f2 + a[4] * f1,
        a[0] * b[1] + a[1] * b[0] + a[2] * f4 + a[3] * f3 + a[4] * f2,
        a[0] * b[2] + a[1] * b[1] + a[2] * b[0] + a[3] * f4 + a[4] * f3,
        a[0] * b[3] + a[1] * b[2] + a[2] * b[1] + a[3] * b[0] + a[4] * f4,
        a[0] * b[4] + a[1] * b[3] + a[2] * b[2] + a[3] * b[1] + a[4] * b[0],
    };
    carry(sum);
    memcpy(to, sum, sizeof sum);
}

/* `top` is the bit above the block: 1 << 24 of the last limb, for a whole one. */
static void add_block(struct poly1305 *p, const uint8_t *block, uint64_t top)
{
    uint64_t limb[POLY1305_LIMBS];
    limbs_of(limb, load64(block), load64(block + 8));
    limb[4] |= top;
    for (unsigned i = 0; i < POLY1305_LIMBS; i++)
        p->sum[i] += limb[i];
    multiply(p->sum, p->sum, p->r);
}

/* ---- many numbers ---------------------------------------------------------------------------- */

#ifdef __x86_64__
#include <immintrin.h>

#define LANES 4
#define LANES_CODE __attribute__((target("avx2")))
#define LANES_EVEN ((vector){0, 4, 2, 6})
#define LANES_TIMES(a, b) ((vector)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#include "proto/poly1305_lanes.h"

#define LANES 8
#define LANES_CODE __attribute__((target("avx512f,prefer-vector-width=512")))
#define LANES_EVEN ((vector){0, 8, 2, 10, 4, 12, 6, 14})
#define LANES_TIMES(a, b) ((vector)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#include "proto/poly1305_lanes.h"

unsigned poly1305_lanes(void)
{
    return __builtin_cpu_supports("avx512f") ? 8 : __builtin_cpu_supports("avx2") ? 4 : 1;
}

/* powers[k] becomes r to the k, of those k that `lanes` lanes and fewer need. */
static void make_powers(uint64_t powers[][POLY1305_LIMBS], const struct poly1305 *p, unsigned lanes)
{
    memcpy(powers[1], p->r, sizeof p->r);
    for (unsigned k = 2; k <= lanes; k++)
        multiply(powers[k], powers[k - 1], p->r);
    for (unsigned k = 4; k <= lanes; k *= 2)
        multiply(powers[2 * k], powers[k], powers[k]);
}

/* Adds as many of the blocks as go side by side, and returns how many. */
static size_t add_wide(struct poly1305 *p, const uint8_t *bytes, size_t blocks, unsigned lanes)
{
    uint64_t powers[2 * LANES_MAX + 1][POLY1305_LIMBS];
    size_t by8 = lanes == 8 ? blocks / 16 * 16 : 0, by4 = (blocks - by8) / 8 * 8;
    make_powers(powers, p, lanes);
    if (by8 > 0)
        add_blocks_8(p->sum, bytes, by8, powers);
    if (by4 > 0)
        add_blocks_4(p->sum, bytes + by8 * POLY1305_BLOCK_BYTES, by4, powers);
    return by8 + by4;
}

#else

unsigned poly1305_lanes(void)
{
    return 1;
}

static size_t add_wide(struct poly1305 *p, const uint8_t *bytes, size_t blocks, unsigned lanes)
{
    (void)p, (void)bytes, (void)blocks, (void)lanes;
    return 0;
}

#endif

/* ---- messages -------------------------------------------------------------------------------- */

void poly1305_begin(struct poly1305 *p, const uint8_t key[POLY1305_KEY_BYTES])
{
    memset(p, 0, sizeof *p);
    limbs_of(p->r, load64(key) & UINT64_C(0x0ffffffc0fffffff),
             load64(key + 8) & UINT64_C(0x0ffffffc0ffffffc));
    memcpy(p->pad, key + POLY1305_TAG_BYTES, sizeof p->pad);
}

static void add_whole(struct poly1305 *p, const uint8_t *bytes, size_t blocks, unsigned lanes)
{
    size_t wide = lanes > 1 && blocks >= WIDE_BLOCKS ? add_wide(p, bytes, blocks, lanes) : 0;
    for (size_t i = wide; i < blocks; i++)
        add_block(p, bytes + i * POLY1305_BLOCK_BYTES, UINT64_C(1) << 24);
}

void poly1305_add(struct poly1305 *p, const uint8_t *bytes, size_t size, unsigned lanes)
{
    if (p->rest_bytes > 0) {
        size_t part = sizeof p->rest - p->rest_bytes;
        part = size < part ? size : part;
        memcpy(p->rest + p->rest_bytes, bytes, part);
        p->rest_bytes += part;
        bytes += part;
        size -= part;
        if (p->rest_bytes < sizeof p->rest)
            return;
        add_block(p, p->rest, UINT64_C(1) << 24);
    }
    add_whole(p, bytes, size / POLY1305_BLOCK_BYTES, lanes);
    p->rest_bytes = size % POLY1305_BLOCK_BYTES;
    memcpy(p->rest, bytes + size - p->rest_bytes, p->rest_bytes);
}

/* Brings every limb below 2^26, but for what is 2^130 - 5 or more. */
static void settle(uint64_t limb[POLY1305_LIMBS])
{
    uint64_t over = 0;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < POLY1305_LIMBS; i++) {
            limb[i] += over;
            over = limb[i] >> 26;
            limb[i] &= LIMB_MASK;
        }
        over *= 5;
    }
    limb[0] += over; /* at most 5: the second round left next to nothing in the limbs above then */
}

/* Subtracts 2^130 - 5 if the number is not below it, and packs it, modulo 2^128. */
static void reduce(uint64_t limb[POLY1305_LIMBS], uint64_t *low, uint64_t *high)
{
    uint64_t less[POLY1305_LIMBS], over = 5;
    settle(limb);
    for (unsigned i = 0; i < POLY1305_LIMBS; i++) {
        less[i] = (limb[i] + over) & LIMB_MASK;
        over = (limb[i] + over) >> 26;
    }
    uint64_t take = 0 - over; /* all ones: what is less is the number */
    for (unsigned i = 0; i < POLY1305_LIMBS; i++)
        limb[i] = (limb[i] & ~take) | (less[i] & take);
    *low = limb[0] | limb[1] << 26 | limb[2] << 52;
    *high = limb[2] >> 12 | limb[3] << 14 | limb[4] << 40;
}

void poly1305_end(struct poly1305 *p, uint8_t tag[POLY1305_TAG_BYTES])
{
    uint64_t low, high;
    if (p->rest_bytes > 0) {
        p->rest[p->rest_bytes] = 1;
        memset(p->rest + p->rest_bytes + 1, 0, sizeof p->rest - p->rest_bytes - 1);
        add_block(p, p->rest, 0);
    }
    reduce(p->sum, &low, &high);
    uint64_t sum = low + load64(p->pad);
    high += load64(p->pad + 8) + (sum < low);
    store64(tag, sum);
    store64(tag + 8, high);
}
