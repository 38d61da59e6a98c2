/*
 * poly1305_lanes.h - arithmetic modulo 2^130 - 5 on LANES numbers side by side. poly1305.c includes
 * it once for each number of lanes, with these defined:
 *
 *   LANES        numbers in a vector: 4 or 8
 *   LANES_CODE   attributes of functions: the instructions that they may use
 *   LANES_EVEN   even lanes of two vectors behind each other, pairwise: those of the first, the
 * second LANES_TIMES  (a, b) multiplies the lower halves of lanes to whole lanes
 *
 * A number has five limbs of 26 bits, limb i of all numbers is vector i. Sums of ten products of a
 * limb of 27 bits and one of 29 fit a lane of 64 bits, so carries are taken once for two
 * multiplications. No step depends on what the numbers are.
 */
#define LANES_PASTE(name, lanes) name##_##lanes
#define LANES_EXPAND(name, lanes) LANES_PASTE(name, lanes)
#define LANES_NAME(name) LANES_EXPAND(name, LANES)
#define vector LANES_NAME(vector)
#define numbers LANES_NAME(numbers)

typedef uint64_t vector __attribute__((vector_size(8 * LANES)));

struct numbers {
    vector limb[POLY1305_LIMBS];
};

/* Which of LANES blocks is in a lane: words are taken apart within pairs of lanes, which is cheap,
 * so neighbouring lanes are half of the blocks apart. */
static inline unsigned LANES_NAME(block_of)(unsigned lane)
{
    return lane / 2 + lane % 2 * (LANES / 2);
}

/* LANES blocks as numbers; each has its bit 128 set. */
LANES_CODE static inline void LANES_NAME(load)(struct numbers *n, const uint8_t *bytes)
{
    const vector mask = (vector){0} + LIMB_MASK;
    vector first, second, low, high;
    memcpy(&first, bytes, sizeof first);
    memcpy(&second, bytes + sizeof first, sizeof second);
    low = __builtin_shuffle(first, second, LANES_EVEN);
    high = __builtin_shuffle(first, second, LANES_EVEN + 1);
    n->limb[0] = low & mask;
    n->limb[1] = low >> 26 & mask;
    n->limb[2] = (low >> 52 | high << 12) & mask;
    n->limb[3] = high >> 14 & mask;
    n->limb[4] = high >> 40 | (UINT64_C(1) << 24);
}

/* Adds the products of a's numbers and those of b; `five` is five times b. */
LANES_CODE static inline void LANES_NAME(multiply_add)(struct numbers *sum, const struct numbers *a,
                                                       const struct numbers *b,
                                                       const struct numbers *five)
{
#define TIMES(i, by, j) LANES_TIMES(a->limb[i], by->limb[j])
    sum->limb[0] += TIMES(0, b, 0) + TIMES(1, five, 4) + TIMES(2, five, 3) + TIMES(3, five, 2) +
                    TIMES(4, five, 1);
    sum->limb[1] +=
        TIMES(0, b, 1) + TIMES(1, b, 0) + TIMES(2, five, 4) + TIMES(3, five, 3) + TIMES(4, five, 2);
    sum->limb[2] +=
        TIMES(0, b, 2) + TIMES(1, b, 1) + TIMES(2, b, 0) + TIMES(3, five, 4) + TIMES(4, five, 3);
    sum->limb[3] +=
        TIMES(0, b, 3) + TIMES(1, b, 2) + TIMES(2, b, 1) + TIMES(3, b, 0) + TIMES(4, five, 4);
    sum->limb[4] +=
        TIMES(0, b, 4) + TIMES(1, b, 3) + TIMES(2, b, 2) + TIMES(3, b, 1) + TIMES(4, b, 0);
#undef TIMES
}

/* Brings limbs back to 26 bits and a little: two chains at once. */
LANES_CODE static inline void LANES_NAME(carry)(struct numbers *n)
{
    const vector mask = (vector){0} + LIMB_MASK;
    vector over;
#define CARRY(from, to, times)                                                                     \
    over = n->limb[from] >> 26;                                                                    \
    n->limb[from] &= mask;                                                                         \
    n->limb[to] += (times == 1 ? over : over + (over << 2))
    CARRY(0, 1, 1);
    CARRY(3, 4, 1);
    CARRY(1, 2, 1);
    CARRY(4, 0, 5);
    CARRY(2, 3, 1);
    CARRY(0, 1, 1);
    CARRY(3, 4, 1);
#undef CARRY
}

LANES_CODE static inline void LANES_NAME(spread)(struct numbers *n, struct numbers *five,
                                                 const uint64_t limbs[POLY1305_LIMBS])
{
    for (unsigned i = 0; i < POLY1305_LIMBS; i++) {
        n->limb[i] = (vector){0} + limbs[i];
        five->limb[i] = (vector){0} + limbs[i] * 5;
    }
}

/* The sum of all numbers, each times the power of r that its block is away from the end. */
LANES_CODE static inline void LANES_NAME(gather)(uint64_t sum[POLY1305_LIMBS],
                                                 const struct numbers *n,
                                                 uint64_t powers[][POLY1305_LIMBS])
{
    struct numbers own, five, total = {0};
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < POLY1305_LIMBS; i++)
            own.limb[i][lane] = powers[LANES - LANES_NAME(block_of)(lane)][i];
    }
    for (unsigned i = 0; i < POLY1305_LIMBS; i++)
        five.limb[i] = own.limb[i] * 5;
    LANES_NAME(multiply_add)(&total, n, &own, &five);
    LANES_NAME(carry)(&total);
    for (unsigned i = 0; i < POLY1305_LIMBS; i++) {
        sum[i] = 0;
        for (unsigned lane = 0; lane < LANES; lane++)
            sum[i] += total.limb[i][lane];
    }
}

/* Adds whole blocks, a multiple of 2 * LANES and not none: Horner's rule with the number of lanes
 * as its step, two steps at a time. powers[k] is r to the k, up to 2 * LANES. */
LANES_CODE static void LANES_NAME(add_blocks)(uint64_t sum[POLY1305_LIMBS], const uint8_t *bytes,
                                              size_t blocks, uint64_t powers[][POLY1305_LIMBS])
{
    const size_t step = LANES * POLY1305_BLOCK_BYTES;
    struct numbers one, one5, two, two5, total, first, next;
    LANES_NAME(spread)(&one, &one5, powers[LANES]);
    LANES_NAME(spread)(&two, &two5, powers[2 * LANES]);
    LANES_NAME(load)(&first, bytes);
    LANES_NAME(load)(&total, bytes + step);
    for (unsigned i = 0; i < POLY1305_LIMBS; i++)
        first.limb[i][0] += sum[i]; /* lane 0 has block 0 */
    LANES_NAME(multiply_add)(&total, &first, &one, &one5);
    LANES_NAME(carry)(&total);
    for (size_t at = 2 * LANES; at < blocks; at += 2 * LANES) {
        struct numbers before = total;
        LANES_NAME(load)(&next, bytes + at * POLY1305_BLOCK_BYTES);
        LANES_NAME(load)(&total, bytes + at * POLY1305_BLOCK_BYTES + step);
        LANES_NAME(multiply_add)(&total, &next, &one, &one5);
        LANES_NAME(multiply_add)(&total, &before, &two, &two5);
        LANES_NAME(carry)(&total);
    }
    LANES_NAME(gather)(sum, &total, powers);
}

#undef vector
#undef numbers
#undef LANES_NAME
#undef LANES_EXPAND
#undef LANES_PASTE
#undef LANES
#undef LANES_CODE
#undef LANES_EVEN
#undef LANES_TIMES
