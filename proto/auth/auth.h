/*
 * auth.h - keys and authentication, by libsodium and a library for AES-GCM (cipher.h). Pure but for
 * the libraries' own state.
 *
 * Every key is derived from the VM key by BLAKE2b (crypto_generichash, keyed) over a label and the
 * public values it is bound to. Datagrams are sealed by AES-256-GCM (NIST SP 800-38D): in the clear
 * with the whole datagram as additional data (GMAC), or encrypted behind a head in the clear; the
 * nonce is the packet number, which a key never sees twice. A receiver keeps a window of numbers
 * seen (RFC 6479).
 */
#ifndef COVEY_PROTO_AUTH_H
#define COVEY_PROTO_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/wire/sizes.h"

#define AUTH_REPLAY_BITS 4096

/* Prepares libsodium; 0 on success. May be called often. */
int auth_init(void);

/* Whether there is a library that seals and opens, which is loaded then: its name, or NULL. */
const char *auth_cipher_library(void);

/* key = BLAKE2b(vm_key; label, parts...): parts are given as one buffer. */
void auth_derive(uint8_t key[AUTH_KEY_BYTES], const uint8_t vm_key[AUTH_KEY_BYTES],
                 const char *label, const void *parts, size_t size);

/* A keyed MAC of 16 bytes, and its check in constant time. */
void auth_mac(uint8_t tag[AUTH_TAG_BYTES], const uint8_t key[AUTH_KEY_BYTES], const void *bytes,
              size_t size);
bool auth_mac_ok(const uint8_t tag[AUTH_TAG_BYTES], const uint8_t key[AUTH_KEY_BYTES],
                 const void *bytes, size_t size);

/* A key made ready to seal and to open. NULL: memory is exhausted. One thread at a time uses it. */
struct auth_cipher;
struct auth_cipher *auth_cipher_create(const uint8_t key[AUTH_KEY_BYTES]);
void auth_cipher_destroy(struct auth_cipher *cipher); /* wipes it; NULL is fine */

/* Seals a datagram in the clear: the tag over bytes[0..size) under (key, number). */
void auth_seal(uint8_t tag[AUTH_TAG_BYTES], struct auth_cipher *cipher, uint64_t number,
               const void *bytes, size_t size);
bool auth_open(const uint8_t tag[AUTH_TAG_BYTES], struct auth_cipher *cipher, uint64_t number,
               const void *bytes, size_t size);

/* The same of bytes in pieces that lie apart, one behind the other. */
void auth_seal_pieces(uint8_t tag[AUTH_TAG_BYTES], struct auth_cipher *cipher, uint64_t number,
                      const struct auth_piece *pieces, size_t count);

/* Encrypts bytes[head..size) where they lie and appends the tag, which is also over the head. */
void auth_encrypt(uint8_t *bytes, size_t head, size_t size, struct auth_cipher *cipher,
                  uint64_t number);
/* What auth_encrypt() made. */
struct auth_box {
    const uint8_t *bytes;
    size_t head, size;
};
/* Writes size - head bytes to `body`, which may be where they lie; false: not authentic, and what
 * `body` then holds means nothing. */
bool auth_decrypt(uint8_t *body, const struct auth_box *box, struct auth_cipher *cipher,
                  uint64_t number);

/* Numbers seen under one key. auth_replay_seen() says whether the number was seen or is too old;
 * auth_replay_mark() is called after the datagram proved authentic. */
struct auth_replay {
    uint64_t highest;
    bool any;
    uint64_t bits[AUTH_REPLAY_BITS / 64];
};
bool auth_replay_seen(const struct auth_replay *replay, uint64_t number);
void auth_replay_mark(struct auth_replay *replay, uint64_t number);

/* The key of a direct stream between two tasks: both daemons derive it alike and give it to their
 * task, so that no secret crosses the network. nonce is made by the task that opens the link. */
void auth_link_key(uint8_t key[AUTH_KEY_BYTES], const uint8_t vm_key[AUTH_KEY_BYTES],
                   uint32_t opener_tid, uint32_t accepter_tid,
                   const uint8_t nonce[AUTH_NONCE_BYTES]);

/* The key from which a VM that encrypts derives all others: what it seals and what a VM in the
 * clear seals under the same VM key are strangers to each other. */
void auth_encrypting_key(uint8_t key[AUTH_KEY_BYTES], const uint8_t vm_key[AUTH_KEY_BYTES]);

/* The key from which sessions over raw Ethernet derive theirs, in the place of the one they would
 * have over IP. */
void auth_ether_key(uint8_t key[AUTH_KEY_BYTES]);

/*
 * The mutual challenge-response at the start of a stream, both sides knowing `key`. The opener
 * sends HELLO and gets CHALLENGE, then sends PROOF:
 *   HELLO     = "COVY" version=u8 3u8(0) opener=u32 accepter=u32 nonce=16u8 challenge=16u8
 *   CHALLENGE = "COVY" version=u8 3u8(0) challenge=16u8 mac(key; "accepter" HELLO challenge)
 *   PROOF     = mac(key; "opener" HELLO CHALLENGE)
 * The version is of streams alone. nonce names the link (see auth_link_key). Each check returns
 * NULL or the reason of refusal; a different version is refused by name ("version 3, this is
 * version 4").
 */
#define STREAM_VERSION 4 /* 4: brief headers, see frame.h */
#define STREAM_HELLO_BYTES 48
#define STREAM_CHALLENGE_BYTES 40
#define STREAM_PROOF_BYTES 16

struct stream_auth {
    /* Records follow the handshake. Set after open or accept; both ends are told with the key. */
    bool encrypt;
    uint8_t key[AUTH_KEY_BYTES];
    uint8_t hello[STREAM_HELLO_BYTES];
    uint8_t challenge[STREAM_CHALLENGE_BYTES];
};

/* Opener: makes HELLO (s->hello). challenge are 16 random bytes. */
void stream_auth_open(struct stream_auth *s, const uint8_t key[AUTH_KEY_BYTES], uint32_t opener,
                      uint32_t accepter, const uint8_t nonce[AUTH_NONCE_BYTES],
                      const uint8_t challenge[AUTH_NONCE_BYTES]);
/* Accepter: reads a HELLO, before it knows which key belongs to it. */
const char *stream_auth_hello(const uint8_t hello[STREAM_HELLO_BYTES], uint32_t *opener,
                              uint32_t *accepter, uint8_t nonce[AUTH_NONCE_BYTES]);
/* Accepter: makes CHALLENGE (s->challenge) for that HELLO. */
void stream_auth_accept(struct stream_auth *s, const uint8_t key[AUTH_KEY_BYTES],
                        const uint8_t hello[STREAM_HELLO_BYTES],
                        const uint8_t challenge[AUTH_NONCE_BYTES]);
/* Opener: checks CHALLENGE and makes PROOF. */
const char *stream_auth_prove(struct stream_auth *s,
                              const uint8_t challenge[STREAM_CHALLENGE_BYTES],
                              uint8_t proof[STREAM_PROOF_BYTES]);
/* Accepter: checks PROOF. */
const char *stream_auth_check(const struct stream_auth *s, const uint8_t proof[STREAM_PROOF_BYTES]);

/* After the handshake, for a stream that is encrypted (record.h): the keys of what each end sends.
 * They bind both challenges, so no two streams have the same. */
void stream_auth_keys(const struct stream_auth *s, uint8_t opener[AUTH_KEY_BYTES],
                      uint8_t accepter[AUTH_KEY_BYTES]);

#endif
