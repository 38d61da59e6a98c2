/*
 * cpace.h - CPace, a password-authenticated key exchange (draft-irtf-cfrg-cpace), with ristretto255
 * and SHA-512, in the setting of an initiator and a responder, and its key confirmation.
 *
 * Two who know the same password get the same key, and nobody else does. Who takes part and does
 * not know it learns whether one guess was right. Who only listens learns nothing: to compare a
 * guess with what was said takes a secret scalar of one of the two.
 *
 *   generator(password, ...) -> g     share: Y = scalar * g     key(scalar, other's Y) -> tags
 *
 * There is no randomness here: who calls brings it.
 */
#ifndef COVEY_PROTO_CPACE_H
#define COVEY_PROTO_CPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPACE_POINT_BYTES 32
#define CPACE_SCALAR_BYTES 32
#define CPACE_RANDOM_BYTES 64 /* of which a scalar is made */
#define CPACE_KEY_BYTES 64
#define CPACE_TAG_BYTES 64

/* Bytes that others own: less than 128, so that their length is one byte. */
struct cpace_text {
    const void *at;
    size_t size;
};

/* What was said: the shares of both, each with what its sender says of himself. */
struct cpace_said {
    uint8_t initiator[CPACE_POINT_BYTES], responder[CPACE_POINT_BYTES];
    struct cpace_text initiator_data, responder_data;
};

/* calculate_generator(): of the password, the channel's name and the session's id. */
void cpace_generator(uint8_t g[CPACE_POINT_BYTES], struct cpace_text password,
                     struct cpace_text channel, struct cpace_text session);

void cpace_scalar(uint8_t scalar[CPACE_SCALAR_BYTES], const uint8_t random[CPACE_RANDOM_BYTES]);

/* One's own share. */
void cpace_share(uint8_t share[CPACE_POINT_BYTES], const uint8_t scalar[CPACE_SCALAR_BYTES],
                 const uint8_t g[CPACE_POINT_BYTES]);

/* The key ISK from one's own scalar and the share of the other. False: that share is no element of
 * the group, or the neutral one. */
bool cpace_key(uint8_t key[CPACE_KEY_BYTES], const uint8_t scalar[CPACE_SCALAR_BYTES],
               const uint8_t other[CPACE_POINT_BYTES], struct cpace_text session,
               const struct cpace_said *said);

/* By which who sent that share proves that it has the key. */
void cpace_tag(uint8_t tag[CPACE_TAG_BYTES], const uint8_t key[CPACE_KEY_BYTES],
               struct cpace_text session, const uint8_t share[CPACE_POINT_BYTES],
               struct cpace_text data);

#endif
