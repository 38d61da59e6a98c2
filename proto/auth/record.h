/*
 * record.h - the encrypted records of a stream straight between two tasks, in a VM that encrypts.
 *
 *   stream = *record                ; after the handshake of auth.h, each way under a key of its
 * own record = length ciphertext tag  ; tag = 16u8, over length and ciphertext length = u32 ; bytes
 * of ciphertext, 1 .. RECORD_BODY_MAX
 *
 * The nonce of a record is its number, counted from 0 at both ends: a record that is missing,
 * doubled, moved or shown back to its sender does not open, and after one that does not nothing
 * else is read.
 */
#ifndef COVEY_PROTO_RECORD_H
#define COVEY_PROTO_RECORD_H

#include "proto/auth/auth.h"
#include "proto/wire/frame.h"

#define RECORD_HEAD_BYTES 4
#define RECORD_BODY_MAX (FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX) /* a whole frame */
#define RECORD_BYTES(body) (RECORD_HEAD_BYTES + (body) + AUTH_TAG_BYTES)

/* One direction of a stream, at either end. */
struct record_way {
    struct auth_cipher *cipher;
    uint64_t number; /* of the next record; 2^64 are more than any stream has */
};

/* False: memory is exhausted. */
bool record_way_begin(struct record_way *way, const uint8_t key[AUTH_KEY_BYTES]);
void record_way_end(struct record_way *way); /* also of one that is all zeros */

/* Makes a record of the `body` bytes that lie behind room for its head, and room for its tag. */
void record_seal(struct record_way *way, uint8_t *record, size_t body);

/* The bytes of body that a head announces; 0: refused. */
size_t record_body_bytes(const uint8_t head[RECORD_HEAD_BYTES]);

/* Opens a whole record into body, which may be where it lies. False: it is not the next one. */
bool record_open(struct record_way *way, uint8_t *body, const uint8_t *record);

#endif
