/*
 * auth.c - keys, tags and numbers seen. All cryptography of Covey is here and in stream_auth.c:
 * libsodium's BLAKE2b where a key or a MAC is bound to public values, AES-256-GCM of one of two
 * libraries (cipher.h) where something is sealed, with an empty message where a datagram stays in
 * the clear.
 *
 * A sealed datagram's nonce is its number, so a number must never be used twice under one key;
 * session.c counts them and derives new keys for each session.
 */
#include "proto/auth/auth.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "cipher/cipher.h"
#include "proto/wire/cursor.h"

_Static_assert(AUTH_KEY_BYTES == 32, "AES-256");
_Static_assert(AUTH_TAG_BYTES >= crypto_generichash_BYTES_MIN, "BLAKE2b output size");
_Static_assert(AUTH_REPLAY_BITS % 64 == 0, "whole words of numbers seen");

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

/* ---- sealing --------------------------------------------------------------------------------- */

struct auth_cipher {
    const struct cipher_library *library;
    void *key;
};

const char *auth_cipher_library(void)
{
    const struct cipher_library *l = cipher_library_get();
    return l != NULL ? l->name : NULL;
}

struct auth_cipher *auth_cipher_create(const uint8_t key[AUTH_KEY_BYTES])
{
    const struct cipher_library *l = cipher_library_get();
    struct auth_cipher *cipher = l != NULL ? malloc(sizeof *cipher) : NULL;
    if (cipher == NULL)
        return NULL;
    cipher->library = l;
    cipher->key = l->key_create(key);
    if (cipher->key != NULL)
        return cipher;
    free(cipher);
    return NULL;
}

void auth_cipher_destroy(struct auth_cipher *cipher)
{
    if (cipher == NULL)
        return;
    cipher->library->key_destroy(cipher->key);
    free(cipher);
}

static void seal_nonce(uint8_t nonce[CIPHER_NONCE_BYTES], uint64_t number)
{
    struct cursor c = cursor_writer(nonce, CIPHER_NONCE_BYTES);

    cursor_put_u32(&c, 0);
    cursor_put_u64(&c, number);
}

/* A library that fails, for want of memory, must not let anything go as it is: what is sent then is
 * refused by whoever gets it. */
static void seal_job(uint8_t *tag, struct auth_cipher *cipher, const struct cipher_job *job)
{
    if (cipher->library->seal(cipher->key, job, tag))
        return;
    memset(tag, 0, AUTH_TAG_BYTES);
    if (job->size > 0)
        memset(job->to, 0, job->size);
}

void auth_seal_pieces(uint8_t tag[AUTH_TAG_BYTES], struct auth_cipher *cipher, uint64_t number,
                      const struct auth_piece *pieces, size_t count)
{
    uint8_t nonce[CIPHER_NONCE_BYTES];
    const struct cipher_job job = {.nonce = nonce, .pieces = pieces, .count = count};

    seal_nonce(nonce, number);
    seal_job(tag, cipher, &job);
}

void auth_seal(uint8_t tag[AUTH_TAG_BYTES], struct auth_cipher *cipher, uint64_t number,
               const void *bytes, size_t size)
{
    auth_seal_pieces(tag, cipher, number, &(struct auth_piece){bytes, size}, 1);
}

bool auth_open(const uint8_t tag[AUTH_TAG_BYTES], struct auth_cipher *cipher, uint64_t number,
               const void *bytes, size_t size)
{
    uint8_t nonce[CIPHER_NONCE_BYTES];
    const struct auth_piece all = {bytes, size};
    const struct cipher_job job = {.nonce = nonce, .pieces = &all, .count = 1};

    seal_nonce(nonce, number);
    return cipher->library->open(cipher->key, &job, tag);
}

void auth_encrypt(uint8_t *bytes, size_t head, size_t size, struct auth_cipher *cipher,
                  uint64_t number)
{
    uint8_t nonce[CIPHER_NONCE_BYTES];
    const struct auth_piece clear = {bytes, head};
    assert(head <= size);
    const struct cipher_job job = {nonce, &clear, 1, bytes + head, bytes + head, size - head};

    seal_nonce(nonce, number);
    seal_job(bytes + size, cipher, &job);
}

bool auth_decrypt(uint8_t *body, const struct auth_box *box, struct auth_cipher *cipher,
                  uint64_t number)
{
    uint8_t nonce[CIPHER_NONCE_BYTES];
    const struct auth_piece clear = {box->bytes, box->head};
    const struct cipher_job job = {
        nonce, &clear, 1, box->bytes + box->head, body, box->size - box->head};

    seal_nonce(nonce, number);
    return cipher->library->open(cipher->key, &job, box->bytes + box->size);
}

/* ---- numbers seen ---------------------------------------------------------------------------- */

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
