/*
 * chance.c - each roll makes the next seed, too, and takes the place of the last one.
 */
#include "proto/class/chance.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

_Static_assert(CHANCE_SEED_BYTES == randombytes_SEEDBYTES, "a seed");

void chance_roll(struct chance *chance, void *bytes, size_t size)
{
    uint8_t rolled[CHANCE_SEED_BYTES + CHANCE_ROLL_MAX];
    assert(size <= CHANCE_ROLL_MAX);
    randombytes_buf_deterministic(rolled, CHANCE_SEED_BYTES + size, chance->seed);
    memcpy(chance->seed, rolled, CHANCE_SEED_BYTES);
    memcpy(bytes, rolled + CHANCE_SEED_BYTES, size);
    sodium_memzero(rolled, sizeof rolled);
}
