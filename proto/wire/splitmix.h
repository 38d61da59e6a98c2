/*
 * splitmix.h - numbers that follow from a seed and look as if they did not: splitmix64 (Steele, Lea
 * and Flood, "Fast splittable pseudorandom number generators", 2014). For lots, jitter and
 * simulations; never for keys.
 */
#ifndef COVEY_PROTO_SPLITMIX_H
#define COVEY_PROTO_SPLITMIX_H

#include <stdint.h>

static inline uint64_t splitmix_mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The next one; *state was a seed once. */
static inline uint64_t splitmix_next(uint64_t *state)
{
    return splitmix_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

#endif
