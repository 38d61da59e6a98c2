/*
 * dial.c - the cryptography of covey-dial, without a socket; see dial.h.
 */
#include "tools/launch/dial.h"

#include <ctype.h>
#include <string.h>

#include <sodium.h>

_Static_assert(DIAL_KEY_BYTES == crypto_secretbox_KEYBYTES, "keys seal");
_Static_assert(DIAL_POINT_BYTES == crypto_box_PUBLICKEYBYTES, "points are public keys");
_Static_assert(DIAL_SEALED_MAX == DIAL_TEXT_MAX + crypto_secretbox_MACBYTES, "what a seal adds");

bool dial_key_parse(const char *text, uint8_t key[DIAL_KEY_BYTES])
{
    size_t size = 0;
    const char *end = text;
    if (sodium_hex2bin(key, DIAL_KEY_BYTES, text, strlen(text), NULL, &size, &end) != 0)
        return false;
    return size == DIAL_KEY_BYTES && end[strspn(end, "\r\n")] == '\0';
}

/* Keyed BLAKE2b of all that this connection is, for one purpose. */
static void derive(const struct dial *dial, char purpose, char side, uint8_t out[32])
{
    static const char what[] = "covey-dial 2";
    crypto_generichash_state state;
    const char who[2] = {purpose, side};
    crypto_generichash_init(&state, dial->key, sizeof dial->key, 32);
    crypto_generichash_update(&state, (const uint8_t *)what, sizeof what);
    crypto_generichash_update(&state, (const uint8_t *)who, sizeof who);
    crypto_generichash_update(&state, dial->leader, sizeof dial->leader);
    crypto_generichash_update(&state, dial->guest, sizeof dial->guest);
    crypto_generichash_update(&state, (const uint8_t *)dial->name, sizeof dial->name);
    crypto_generichash_final(&state, out, 32);
}

void dial_begin(struct dial *dial, enum dial_side by)
{
    crypto_box_keypair(by == DIAL_LEADER ? dial->leader : dial->guest, dial->secret);
    dial->sent = dial->received = 0;
}

void dial_proof(const struct dial *dial, enum dial_side by, uint8_t proof[DIAL_PROOF_BYTES])
{
    derive(dial, 'P', (char)by, proof);
}

bool dial_proved(const struct dial *dial, enum dial_side by, const uint8_t *proof)
{
    uint8_t own[DIAL_PROOF_BYTES];
    dial_proof(dial, by, own);
    return sodium_memcmp(own, proof, sizeof own) == 0;
}

/* As the name of a host in a host file. */
static bool name_is_good(const char name[DIAL_NAME_BYTES])
{
    size_t length = strnlen(name, DIAL_NAME_BYTES);
    if (length == 0 || length == DIAL_NAME_BYTES || name[0] == '-' || name[0] == '.')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && strchr("._-", name[i]) == NULL)
            return false;
    return true;
}

bool dial_take_answer(struct dial *dial, const uint8_t answer[DIAL_ANSWER_BYTES])
{
    memcpy(dial->guest, answer, DIAL_POINT_BYTES);
    memcpy(dial->name, answer + DIAL_POINT_BYTES, DIAL_NAME_BYTES);
    return dial_proved(dial, DIAL_GUEST, answer + DIAL_POINT_BYTES + DIAL_NAME_BYTES) &&
           name_is_good(dial->name);
}

bool dial_agree(struct dial *dial, enum dial_side by)
{
    uint8_t shared[crypto_scalarmult_BYTES], key[DIAL_KEY_BYTES];
    const uint8_t *other = by == DIAL_LEADER ? dial->guest : dial->leader;
    bool agreed = crypto_scalarmult(shared, dial->secret, other) == 0;
    derive(dial, 'K', 0, key);
    crypto_generichash(dial->key, sizeof dial->key, shared, sizeof shared, key, sizeof key);
    sodium_memzero(shared, sizeof shared);
    sodium_memzero(key, sizeof key);
    sodium_memzero(dial->secret, sizeof dial->secret);
    return agreed;
}

static void sealing(const struct dial *dial, enum dial_side by, uint64_t number, uint8_t *key,
                    uint8_t nonce[crypto_secretbox_NONCEBYTES])
{
    derive(dial, 'S', (char)by, key);
    memset(nonce, 0, crypto_secretbox_NONCEBYTES);
    for (int i = 0; i < 8; i++)
        nonce[i] = (uint8_t)(number >> (8 * i));
}

size_t dial_seal(struct dial *dial, enum dial_side by, const void *text, size_t size, uint8_t *out)
{
    uint8_t key[crypto_secretbox_KEYBYTES], nonce[crypto_secretbox_NONCEBYTES];
    if (size == 0 || size > DIAL_TEXT_MAX)
        return 0;
    sealing(dial, by, dial->sent++, key, nonce);
    crypto_secretbox_easy(out, text, size, nonce, key);
    sodium_memzero(key, sizeof key);
    return size + crypto_secretbox_MACBYTES;
}

size_t dial_open(struct dial *dial, enum dial_side by, const uint8_t *sealed, size_t size,
                 void *text)
{
    uint8_t key[crypto_secretbox_KEYBYTES], nonce[crypto_secretbox_NONCEBYTES];
    if (size <= crypto_secretbox_MACBYTES || size > DIAL_SEALED_MAX)
        return 0;
    sealing(dial, by, dial->received, key, nonce);
    int status = crypto_secretbox_open_easy(text, sealed, size, nonce, key);
    sodium_memzero(key, sizeof key);
    if (status != 0)
        return 0;
    dial->received++;
    return size - crypto_secretbox_MACBYTES;
}

unsigned dial_backoff_ms(unsigned tries, uint32_t random)
{
    unsigned most = DIAL_FIRST_MS;
    while (tries-- > 0 && most < DIAL_LAST_MS)
        most *= 2;
    most = most < DIAL_LAST_MS ? most : DIAL_LAST_MS;
    return most / 2 + random % (most / 2 + 1);
}
