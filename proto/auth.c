/*
 * auth.c - keys, tags and numbers seen. All cryptography of Covey is here and in stream_auth.c, and
 * it is libsodium's: BLAKE2b where a key or a MAC is bound to public values, ChaCha20-Poly1305 (RFC
 * 8439) where something is encrypted, with an empty message where a datagram is sealed in the
 * clear. Only the tag of a long datagram in the clear, which is the same, is OpenSSL's where it is
 * installed (onetime.h).
 *
 * A sealed datagram's nonce is its number, so a number must never be used twice under one key;
 * session.c counts them and derives new keys for each session.
 */
#include "proto/auth.h"

#include <sodium.h>
#include <string.h>

#include "proto/cursor.h"
#include "proto/onetime.h"

_Static_assert(AUTH_KEY_BYTES == crypto_aead_chacha20poly1305_IETF_KEYBYTES, "AEAD key size");
_Static_assert(AUTH_TAG_BYTES == crypto_aead_chacha20poly1305_IETF_ABYTES, "AEAD tag size");
_Static_assert(AUTH_TAG_BYTES >= crypto_generichash_BYTES_MIN, "BLAKE2b output size");
_Static_assert(AUTH_KEY_BYTES == crypto_onetimeauth_KEYBYTES, "one-time key size");
_Static_assert(AUTH_REPLAY_BITS % 64 == 0, "whole words of numbers seen");

#define LONG_BYTES 2048 /* from here on onetime_tag() takes less time */
#define REPLAY_WORDS (AUTH_REPLAY_BITS / 64)

int auth_init(void)
{
    return sodium_init() < 0 ? -1 : 0;
}

void auth_derive(uint8_t key[AUTH_KEY_BYTES], const uint8_t vm_key[AUTH_KEY_BYTES],
                 const char *label, const void *parts, size_t size)
{
    crypto_generichash_state state;

    crypto_generichash_init(&state, vm_key, AUTH_KEY_BYTES, AUTH_KEY_BYTES);
    /* with its NUL, so that no label is the beginning of another one and its parts */
    crypto_generichash_update(&state, (const uint8_t *)label, strlen(label) + 1);
    crypto_generichash_update(&state, parts, size);
    crypto_generichash_final(&state, key, AUTH_KEY_BYTES);
    sodium_memzero(&state, sizeof state);
}

void auth_mac(uint8_t tag[AUTH_TAG_BYTES], const uint8_t key[AUTH_KEY_BYTES], const void *bytes,
              size_t size)
{
    crypto_generichash(tag, AUTH_TAG_BYTES, bytes, size, key, AUTH_KEY_BYTES);
}

bool auth_mac_ok(const uint8_t tag[AUTH_TAG_BYTES], const uint8_t key[AUTH_KEY_BYTES],
                 const void *bytes, size_t size)
{
    uint8_t expected[AUTH_TAG_BYTES];

    auth_mac(expected, key, bytes, size);
    return sodium_memcmp(expected, tag, AUTH_TAG_BYTES) == 0;
}

static void seal_nonce(uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES], uint64_t number)
{
    struct cursor c = cursor_writer(nonce, crypto_aead_chacha20poly1305_IETF_NPUBBYTES);

    cursor_put_u32(&c, 0);
    cursor_put_u64(&c, number);
}

void auth_prepare(struct auth_once *once, const uint8_t key[AUTH_KEY_BYTES], uint64_t number)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES];

    if (once->made && once->number == number)
        return;
    seal_nonce(nonce, number);
    crypto_stream_chacha20_ietf(once->key, sizeof once->key, nonce, key);
    once->number = number;
    once->made = true;
}

static void sodium_tag(uint8_t tag[AUTH_TAG_BYTES], const struct auth_once *once,
                       const struct auth_piece *pieces, size_t count, const struct auth_piece *end)
{
    crypto_onetimeauth_state state;

    crypto_onetimeauth_init(&state, once->key);
    for (size_t i = 0; i < count; i++)
        crypto_onetimeauth_update(&state, pieces[i].bytes, pieces[i].size);
    crypto_onetimeauth_update(&state, end->bytes, end->size);
    crypto_onetimeauth_final(&state, tag);
}

/* RFC 8439 section 2.8, where all of it is additional data: the bytes, padding to a multiple of 16,
 * their number and that of the bytes encrypted, little endian. */
void auth_seal_pieces(uint8_t tag[AUTH_TAG_BYTES], const struct auth_once *once,
                      const struct auth_piece *pieces, size_t count)
{
    uint8_t bytes[32] = {0};
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += pieces[i].size;
    size_t padding = (16 - size % 16) % 16;
    for (size_t i = 0; i < sizeof size; i++)
        bytes[padding + i] = (uint8_t)(size >> 8 * i);
    struct auth_piece end = {bytes, padding + 16};
    if (size < LONG_BYTES || !onetime_tag(tag, once->key, pieces, count, &end))
        sodium_tag(tag, once, pieces, count, &end);
}

void auth_seal_prepared(uint8_t tag[AUTH_TAG_BYTES], const struct auth_once *once,
                        const void *bytes, size_t size)
{
    auth_seal_pieces(tag, once, &(struct auth_piece){bytes, size}, 1);
}

bool auth_open_prepared(const uint8_t tag[AUTH_TAG_BYTES], const struct auth_once *once,
                        const void *bytes, size_t size)
{
    uint8_t expected[AUTH_TAG_BYTES];

    auth_seal_prepared(expected, once, bytes, size);
    return crypto_verify_16(expected, tag) == 0;
}

void auth_seal(uint8_t tag[AUTH_TAG_BYTES], const uint8_t key[AUTH_KEY_BYTES], uint64_t number,
               const void *bytes, size_t size)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES];
    uint8_t nothing[1];
    struct auth_once once = {.made = false};

    if (size >= LONG_BYTES) {
        auth_prepare(&once, key, number);
        auth_seal_prepared(tag, &once, bytes, size);
        sodium_memzero(&once, sizeof once);
        return;
    }
    seal_nonce(nonce, number);
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(nothing, tag, NULL, nothing, 0, bytes, size,
                                                       NULL, nonce, key);
}

bool auth_open(const uint8_t tag[AUTH_TAG_BYTES], const uint8_t key[AUTH_KEY_BYTES],
               uint64_t number, const void *bytes, size_t size)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES];
    uint8_t nothing[1];
    struct auth_once once = {.made = false};

    if (size >= LONG_BYTES) {
        auth_prepare(&once, key, number);
        bool good = auth_open_prepared(tag, &once, bytes, size);
        sodium_memzero(&once, sizeof once);
        return good;
    }
    seal_nonce(nonce, number);
    return crypto_aead_chacha20poly1305_ietf_decrypt_detached(nothing, NULL, nothing, 0, tag, bytes,
                                                              size, nonce, key) == 0;
}

void auth_encrypt(uint8_t *bytes, size_t head, size_t size, const uint8_t key[AUTH_KEY_BYTES],
                  uint64_t number)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES];

    seal_nonce(nonce, number);
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(
        bytes + head, bytes + size, NULL, bytes + head, size - head, bytes, head, NULL, nonce, key);
}

bool auth_decrypt(uint8_t *body, const struct auth_box *box, const uint8_t key[AUTH_KEY_BYTES],
                  uint64_t number)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES];

    seal_nonce(nonce, number);
    return crypto_aead_chacha20poly1305_ietf_decrypt_detached(
               body, NULL, box->bytes + box->head, box->size - box->head, box->bytes + box->size,
               box->bytes, box->head, nonce, key) == 0;
}

/* RFC 6479: the bits form a ring of words. A word is cleared when the window first moves into it,
 * so one word fewer than there are is usable. */
bool auth_replay_seen(const struct auth_replay *replay, uint64_t number)
{
    if (!replay->any || number > replay->highest)
        return false;
    if (replay->highest / 64 - number / 64 >= REPLAY_WORDS)
        return true;
    return replay->bits[number / 64 % REPLAY_WORDS] >> (number % 64) & 1;
}

void auth_replay_mark(struct auth_replay *replay, uint64_t number)
{
    if (!replay->any || number > replay->highest) {
        uint64_t steps = replay->any ? number / 64 - replay->highest / 64 : REPLAY_WORDS;

        for (uint64_t i = 0; i < steps && i < REPLAY_WORDS; i++)
            replay->bits[(number / 64 - i) % REPLAY_WORDS] = 0;
        replay->highest = number;
        replay->any = true;
    }
    replay->bits[number / 64 % REPLAY_WORDS] |= UINT64_C(1) << (number % 64);
}

void auth_link_key(uint8_t key[AUTH_KEY_BYTES], const uint8_t vm_key[AUTH_KEY_BYTES],
                   uint32_t opener_tid, uint32_t accepter_tid,
                   const uint8_t nonce[AUTH_NONCE_BYTES])
{
    uint8_t parts[8 + AUTH_NONCE_BYTES];
    struct cursor c = cursor_writer(parts, sizeof parts);

    cursor_put_u32(&c, opener_tid);
    cursor_put_u32(&c, accepter_tid);
    cursor_put_bytes(&c, nonce, AUTH_NONCE_BYTES);
    auth_derive(key, vm_key, "covey link", parts, sizeof parts);
}

void auth_encrypting_key(uint8_t key[AUTH_KEY_BYTES], const uint8_t vm_key[AUTH_KEY_BYTES])
{
    auth_derive(key, vm_key, "covey encrypted", NULL, 0);
}

void auth_ether_key(uint8_t key[AUTH_KEY_BYTES])
{
    uint8_t over_ip[AUTH_KEY_BYTES];

    memcpy(over_ip, key, sizeof over_ip);
    auth_derive(key, over_ip, "covey ether", NULL, 0);
    sodium_memzero(over_ip, sizeof over_ip);
}
