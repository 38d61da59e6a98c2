/*
 * dial.h - what covey-dial says on its connection: a host that nobody started comes to the one that
 * leads, and each proves to the other that it knows the key of a file which both have.
 *
 *   leader: VERSION point                       (1, 32 bytes)
 *   guest:  point name proof                    (32, 64, 32 bytes)
 *   leader: proof                               (32 bytes)
 *   both:   *( length sealed )                  (4 bytes, big-endian; at most DIAL_SEALED_MAX)
 *
 * The points are of an exchange by X25519, made for this connection alone. A proof is keyed BLAKE2b
 * over who gives it, both points and the name: it is of no use on another connection, nor to the
 * other side. What follows is sealed (XSalsa20, Poly1305) by keys of this connection, one for each
 * direction, with the number of the text as nonce: none can be left out, repeated or sent back.
 * They are made of the file's key and of what the exchange gave, and their secrets are wiped: who
 * learns the file's key later cannot read what was recorded.
 */
#ifndef COVEY_TOOLS_DIAL_H
#define COVEY_TOOLS_DIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DIAL_VERSION = 2,
    DIAL_KEY_BYTES = 32,
    DIAL_POINT_BYTES = 32,
    DIAL_NAME_BYTES = 64, /* with the zeros behind it, of which there is one at least */
    DIAL_PROOF_BYTES = 32,
    DIAL_GREETING_BYTES = 1 + DIAL_POINT_BYTES,
    DIAL_ANSWER_BYTES = DIAL_POINT_BYTES + DIAL_NAME_BYTES + DIAL_PROOF_BYTES,
    DIAL_TEXT_MAX = 32768,
    DIAL_SEALED_MAX = DIAL_TEXT_MAX + 16,
    DIAL_FIRST_MS = 100, /* backoff */
    DIAL_LAST_MS = 10000,
};

enum dial_side { DIAL_LEADER = 'L', DIAL_GUEST = 'G' };

struct dial {
    uint8_t key[DIAL_KEY_BYTES];      /* of the file; from dial_agree() on of the connection */
    uint8_t secret[DIAL_POINT_BYTES]; /* of one's own point, until then */
    uint8_t leader[DIAL_POINT_BYTES], guest[DIAL_POINT_BYTES];
    char name[DIAL_NAME_BYTES]; /* of the guest */
    uint64_t sent, received;
};

/* The key as it stands in a file: 64 hexadecimal digits, with a newline perhaps. */
bool dial_key_parse(const char *text, uint8_t key[DIAL_KEY_BYTES]);

/* A connection begins: makes one's own point. */
void dial_begin(struct dial *dial, enum dial_side by);

void dial_proof(const struct dial *dial, enum dial_side by, uint8_t proof[DIAL_PROOF_BYTES]);
bool dial_proved(const struct dial *dial, enum dial_side by, const uint8_t *proof);

/* For the leader: takes the guest's answer. False: it does not know the key, or has no name. */
bool dial_take_answer(struct dial *dial, const uint8_t answer[DIAL_ANSWER_BYTES]);

/* When the other side was proved, and one's own proof is made: from here on texts can be sealed,
 * and the file's key is forgotten. False: the other's point is none. */
bool dial_agree(struct dial *dial, enum dial_side by);

/* Seals a text of at most DIAL_TEXT_MAX bytes, or opens one; returns the other one's size, or 0. */
size_t dial_seal(struct dial *dial, enum dial_side by, const void *text, size_t size, uint8_t *out);
size_t dial_open(struct dial *dial, enum dial_side by, const uint8_t *sealed, size_t size,
                 void *text);

/* How long to wait after so many tries in vain: twice as long each time, up to DIAL_LAST_MS, and of
 * that between a half and all, by a random number, so that not all come at once. */
unsigned dial_backoff_ms(unsigned tries, uint32_t random);

#endif
