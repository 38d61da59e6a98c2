/*
 * cpace.c - see cpace.h. Sections are those of draft-irtf-cfrg-cpace; what comes in is compared
 * with its test vectors (tests/unit/proto/class/cpace_test.c). What was secret is wiped.
 */
#include "proto/class/cpace.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#define DSI "CPaceRistretto255"
#define BLOCK_BYTES 128 /* H.s_in_bytes of SHA-512 */
#define LENGTH_MAX 127  /* a length up to this is one byte of LEB128 */

_Static_assert(CPACE_POINT_BYTES == crypto_core_ristretto255_BYTES, "a group element");
_Static_assert(CPACE_SCALAR_BYTES == crypto_core_ristretto255_SCALARBYTES, "a scalar");
_Static_assert(CPACE_RANDOM_BYTES == crypto_core_ristretto255_NONREDUCEDSCALARBYTES, "a scalar");
_Static_assert(CPACE_KEY_BYTES == crypto_hash_sha512_BYTES, "a hash");
_Static_assert(CPACE_TAG_BYTES == crypto_auth_hmacsha512_BYTES, "a tag");

/* prepend_len() */
static void hash_text(crypto_hash_sha512_state *hash, struct cpace_text text)
{
    assert(text.size <= LENGTH_MAX);
    uint8_t length = (uint8_t)text.size;
    crypto_hash_sha512_update(hash, &length, 1);
    crypto_hash_sha512_update(hash, text.at, text.size);
}

static struct cpace_text point_text(const uint8_t point[CPACE_POINT_BYTES])
{
    return (struct cpace_text){point, CPACE_POINT_BYTES};
}

/* Section 7.1: the padding fills the first block of the hash, whatever the password's length. */
void cpace_generator(uint8_t g[CPACE_POINT_BYTES], struct cpace_text password,
                     struct cpace_text channel, struct cpace_text session)
{
    static const uint8_t zeros[BLOCK_BYTES];
    const size_t used = 1 + password.size + 1 + strlen(DSI) + 1;
    const struct cpace_text parts[] = {{DSI, strlen(DSI)},
                                       password,
                                       {zeros, used < BLOCK_BYTES ? BLOCK_BYTES - used : 0},
                                       channel,
                                       session};
    crypto_hash_sha512_state hash;
    uint8_t digest[crypto_hash_sha512_BYTES];
    crypto_hash_sha512_init(&hash);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash_text(&hash, parts[i]);
    crypto_hash_sha512_final(&hash, digest);
    int mapped = crypto_core_ristretto255_from_hash(g, digest);
    assert(mapped == 0);
    sodium_memzero(digest, sizeof digest);
    sodium_memzero(&hash, sizeof hash);
}

void cpace_scalar(uint8_t scalar[CPACE_SCALAR_BYTES], const uint8_t random[CPACE_RANDOM_BYTES])
{
    crypto_core_ristretto255_scalar_reduce(scalar, random);
}

/* The neutral element comes of no generator that a hash gives, and of no scalar but 0. */
void cpace_share(uint8_t share[CPACE_POINT_BYTES], const uint8_t scalar[CPACE_SCALAR_BYTES],
                 const uint8_t g[CPACE_POINT_BYTES])
{
    int multiplied = crypto_scalarmult_ristretto255(share, scalar, g);
    assert(multiplied == 0);
}

/* Section 6.2; scalar_mult_vfy() refuses both. */
bool cpace_key(uint8_t key[CPACE_KEY_BYTES], const uint8_t scalar[CPACE_SCALAR_BYTES],
               const uint8_t other[CPACE_POINT_BYTES], struct cpace_text session,
               const struct cpace_said *said)
{
    uint8_t point[CPACE_POINT_BYTES];
    crypto_hash_sha512_state hash;
    if (crypto_scalarmult_ristretto255(point, scalar, other) != 0)
        return false;
    crypto_hash_sha512_init(&hash);
    hash_text(&hash, (struct cpace_text){DSI "_ISK", strlen(DSI "_ISK")});
    hash_text(&hash, session);
    hash_text(&hash, point_text(point));
    hash_text(&hash, point_text(said->initiator)); /* transcript_ir() */
    hash_text(&hash, said->initiator_data);
    hash_text(&hash, point_text(said->responder));
    hash_text(&hash, said->responder_data);
    crypto_hash_sha512_final(&hash, key);
    sodium_memzero(point, sizeof point);
    sodium_memzero(&hash, sizeof hash);
    return true;
}

/* Section 9.4; the MAC is HMAC-SHA-512. */
void cpace_tag(uint8_t tag[CPACE_TAG_BYTES], const uint8_t key[CPACE_KEY_BYTES],
               struct cpace_text session, const uint8_t share[CPACE_POINT_BYTES],
               struct cpace_text data)
{
    static const char name[] = "CPaceMac";
    uint8_t mac_key[crypto_hash_sha512_BYTES], length = (uint8_t)data.size;
    const uint8_t share_length = CPACE_POINT_BYTES;
    crypto_hash_sha512_state hash;
    crypto_auth_hmacsha512_state mac;
    assert(data.size <= LENGTH_MAX);
    crypto_hash_sha512_init(&hash);
    crypto_hash_sha512_update(&hash, (const uint8_t *)name, strlen(name));
    crypto_hash_sha512_update(&hash, session.at, session.size);
    crypto_hash_sha512_update(&hash, key, CPACE_KEY_BYTES);
    crypto_hash_sha512_final(&hash, mac_key);
    crypto_auth_hmacsha512_init(&mac, mac_key, sizeof mac_key);
    crypto_auth_hmacsha512_update(&mac, &share_length, 1);
    crypto_auth_hmacsha512_update(&mac, share, CPACE_POINT_BYTES);
    crypto_auth_hmacsha512_update(&mac, &length, 1);
    crypto_auth_hmacsha512_update(&mac, data.at, data.size);
    crypto_auth_hmacsha512_final(&mac, tag);
    sodium_memzero(mac_key, sizeof mac_key);
    sodium_memzero(&hash, sizeof hash);
    sodium_memzero(&mac, sizeof mac);
}
