/*
 * chance.h - random bytes out of a seed, which is given to an engine once: the same seed, the same
 * bytes (ChaCha20). What was rolled before cannot be computed from what is kept.
 */
#ifndef COVEY_PROTO_CHANCE_H
#define COVEY_PROTO_CHANCE_H

#include <stddef.h>
#include <stdint.h>

#define CHANCE_SEED_BYTES 32
#define CHANCE_ROLL_MAX 64

struct chance {
    uint8_t seed[CHANCE_SEED_BYTES];
};

void chance_roll(struct chance *chance, void *bytes, size_t size); /* at most CHANCE_ROLL_MAX */

#endif
