/*
 * dice.h - seeded randomness (splitmix64): what a run did can be done again from its seed.
 */
#ifndef COVEY_TESTS_CHAOS_DICE_H
#define COVEY_TESTS_CHAOS_DICE_H

#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint64_t dice_next(struct dice *d)
{
    uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A number in 0 .. n-1. */
static inline uint32_t dice_below(struct dice *d, uint32_t n)
{
    return (uint32_t)(dice_next(d) % n);
}

/* True in `percent` of 100 cases. */
static inline int dice_chance(struct dice *d, uint32_t percent)
{
    return dice_below(d, 100) < percent;
}

#endif
