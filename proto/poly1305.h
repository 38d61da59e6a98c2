/*
 * poly1305.h - the one-time authenticator Poly1305 (RFC 8439 section 2.5) of long messages, many
 * blocks at once: on a processor with wide vectors it takes a third of libsodium's time, and the
 * tag is most of what a frame of 9000 bytes costs outside of the kernel.
 * Of short messages, and on other processors, libsodium's is the better one; auth.c chooses.
 */
#ifndef COVEY_PROTO_POLY1305_H
#define COVEY_PROTO_POLY1305_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLY1305_KEY_BYTES 32
#define POLY1305_TAG_BYTES 16
#define POLY1305_BLOCK_BYTES 16
#define POLY1305_LIMBS 5

struct poly1305 {
    uint64_t r[POLY1305_LIMBS], sum[POLY1305_LIMBS]; /* 26 bits a limb */
    uint8_t pad[POLY1305_TAG_BYTES];
    uint8_t rest[POLY1305_BLOCK_BYTES]; /* of a block that is not whole yet */
    size_t rest_bytes;
};

/* How many blocks at once this processor does well: 8, 4, or 1. */
unsigned poly1305_lanes(void);

/* The tag of all bytes added between, under a key that no other message ever has. `lanes`, at most
 * poly1305_lanes(), so that a test can have them all. */
void poly1305_begin(struct poly1305 *p, const uint8_t key[POLY1305_KEY_BYTES]);
void poly1305_add(struct poly1305 *p, const uint8_t *bytes, size_t size, unsigned lanes);
void poly1305_end(struct poly1305 *p, uint8_t tag[POLY1305_TAG_BYTES]);

#endif
