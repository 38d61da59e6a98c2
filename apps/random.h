/*
 * random.h - reproducible random numbers that can be asked for by position.
 */
#ifndef APPS_RANDOM_H
#define APPS_RANDOM_H

#include <stdint.h>

/* The `index`-th number of the sequence that `seed` names (the SplitMix64 generator). Tasks on
 * different hosts can so each make their own part of the same data. */
static inline uint64_t random_at(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
