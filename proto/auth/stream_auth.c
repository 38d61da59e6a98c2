/*
 * stream_auth.c - the mutual challenge-response at the start of a stream (grammar in auth.h). Both
 * ends prove that they know the key of the link over challenges of both; the role's name in each
 * MAC keeps one end's proof from being shown back to it as the other's.
 */
#include "proto/auth/auth.h"

#include <string.h>

#include "proto/wire/cursor.h"

static const uint8_t STREAM_MAGIC[4] = {'C', 'O', 'V', 'Y'};

static void put_stream_head(struct cursor *c)
{
    cursor_put_bytes(c, STREAM_MAGIC, sizeof STREAM_MAGIC);
    cursor_put_u8(c, STREAM_VERSION);
    cursor_put_u8(c, 0);
    cursor_put_u16(c, 0);
}

static const char *version_refusal(uint8_t version)
{
    /* one text for each version, so that it needs no storage that somebody must own */
    static const char *const TEXTS[] = {
        "version 0, this is version 4",
        "version 1, this is version 4",
        "version 2, this is version 4",
        "version 3, this is version 4",
        NULL,
        "version 5, this is version 4",
    };
    _Static_assert(STREAM_VERSION == 4, "the texts name the version");

    if (version < sizeof TEXTS / sizeof TEXTS[0])
        return TEXTS[version];
    return "a later version, this is version 4";
}

/* Reads what put_stream_head() wrote; the reason of refusal or NULL. */
static const char *get_head(struct cursor *c)
{
    uint8_t magic[sizeof STREAM_MAGIC];
    uint8_t version;

    cursor_get_bytes(c, magic, sizeof magic);
    version = cursor_get_u8(c);
    if (memcmp(magic, STREAM_MAGIC, sizeof magic) != 0)
        return "not a Covey stream";
    if (version != STREAM_VERSION)
        return version_refusal(version);
    if (cursor_get_u8(c) != 0 || cursor_get_u16(c) != 0)
        return "a reserved field is set";
    return NULL;
}

/* What the accepter's proof, inside CHALLENGE, is a MAC of. */
#define ACCEPTER_TEXT_BYTES (8 + STREAM_HELLO_BYTES + AUTH_NONCE_BYTES)

static void accepter_text(uint8_t text[ACCEPTER_TEXT_BYTES], const struct stream_auth *s,
                          const uint8_t challenge[AUTH_NONCE_BYTES])
{
    struct cursor c = cursor_writer(text, ACCEPTER_TEXT_BYTES);

    cursor_put_bytes(&c, "accepter", 8);
    cursor_put_bytes(&c, s->hello, STREAM_HELLO_BYTES);
    cursor_put_bytes(&c, challenge, AUTH_NONCE_BYTES);
}

/* What the opener's proof is a MAC of. */
#define OPENER_TEXT_BYTES (6 + STREAM_HELLO_BYTES + STREAM_CHALLENGE_BYTES)

static void opener_text(uint8_t text[OPENER_TEXT_BYTES], const struct stream_auth *s)
{
    struct cursor c = cursor_writer(text, OPENER_TEXT_BYTES);

    cursor_put_bytes(&c, "opener", 6);
    cursor_put_bytes(&c, s->hello, STREAM_HELLO_BYTES);
    cursor_put_bytes(&c, s->challenge, STREAM_CHALLENGE_BYTES);
}

void stream_auth_open(struct stream_auth *s, const uint8_t key[AUTH_KEY_BYTES], uint32_t opener,
                      uint32_t accepter, const uint8_t nonce[AUTH_NONCE_BYTES],
                      const uint8_t challenge[AUTH_NONCE_BYTES])
{
    struct cursor c = cursor_writer(s->hello, STREAM_HELLO_BYTES);

    s->encrypt = false;
    memcpy(s->key, key, AUTH_KEY_BYTES);
    memset(s->challenge, 0, sizeof s->challenge);
    put_stream_head(&c);
    cursor_put_u32(&c, opener);
    cursor_put_u32(&c, accepter);
    cursor_put_bytes(&c, nonce, AUTH_NONCE_BYTES);
    cursor_put_bytes(&c, challenge, AUTH_NONCE_BYTES);
}

const char *stream_auth_hello(const uint8_t hello[STREAM_HELLO_BYTES], uint32_t *opener,
                              uint32_t *accepter, uint8_t nonce[AUTH_NONCE_BYTES])
{
    struct cursor c = cursor_reader(hello, STREAM_HELLO_BYTES);
    const char *refusal = get_head(&c);

    if (refusal != NULL)
        return refusal;
    *opener = cursor_get_u32(&c);
    *accepter = cursor_get_u32(&c);
    cursor_get_bytes(&c, nonce, AUTH_NONCE_BYTES);
    return NULL;
}

void stream_auth_accept(struct stream_auth *s, const uint8_t key[AUTH_KEY_BYTES],
                        const uint8_t hello[STREAM_HELLO_BYTES],
                        const uint8_t challenge[AUTH_NONCE_BYTES])
{
    struct cursor c = cursor_writer(s->challenge, STREAM_CHALLENGE_BYTES);
    uint8_t text[ACCEPTER_TEXT_BYTES], tag[AUTH_TAG_BYTES];

    s->encrypt = false;
    memcpy(s->key, key, AUTH_KEY_BYTES);
    memcpy(s->hello, hello, STREAM_HELLO_BYTES);
    accepter_text(text, s, challenge);
    auth_mac(tag, key, text, sizeof text);
    put_stream_head(&c);
    cursor_put_bytes(&c, challenge, AUTH_NONCE_BYTES);
    cursor_put_bytes(&c, tag, AUTH_TAG_BYTES);
}

const char *stream_auth_prove(struct stream_auth *s,
                              const uint8_t challenge[STREAM_CHALLENGE_BYTES],
                              uint8_t proof[STREAM_PROOF_BYTES])
{
    struct cursor c = cursor_reader(challenge, STREAM_CHALLENGE_BYTES);
    const char *refusal = get_head(&c);
    uint8_t theirs[AUTH_NONCE_BYTES], tag[AUTH_TAG_BYTES];
    uint8_t theirs_text[ACCEPTER_TEXT_BYTES], text[OPENER_TEXT_BYTES];

    if (refusal != NULL)
        return refusal;
    cursor_get_bytes(&c, theirs, sizeof theirs);
    cursor_get_bytes(&c, tag, sizeof tag);
    accepter_text(theirs_text, s, theirs);
    if (!auth_mac_ok(tag, s->key, theirs_text, sizeof theirs_text))
        return "the accepter does not know the key of the link";
    memcpy(s->challenge, challenge, STREAM_CHALLENGE_BYTES);
    opener_text(text, s);
    auth_mac(proof, s->key, text, sizeof text);
    return NULL;
}

const char *stream_auth_check(const struct stream_auth *s, const uint8_t proof[STREAM_PROOF_BYTES])
{
    uint8_t text[OPENER_TEXT_BYTES];

    opener_text(text, s);
    if (!auth_mac_ok(proof, s->key, text, sizeof text))
        return "the opener does not know the key of the link";
    return NULL;
}

void stream_auth_keys(const struct stream_auth *s, uint8_t opener[AUTH_KEY_BYTES],
                      uint8_t accepter[AUTH_KEY_BYTES])
{
    uint8_t parts[STREAM_HELLO_BYTES + STREAM_CHALLENGE_BYTES];
    struct cursor c = cursor_writer(parts, sizeof parts);

    cursor_put_bytes(&c, s->hello, STREAM_HELLO_BYTES);
    cursor_put_bytes(&c, s->challenge, STREAM_CHALLENGE_BYTES);
    auth_derive(opener, s->key, "covey stream opener", parts, sizeof parts);
    auth_derive(accepter, s->key, "covey stream accepter", parts, sizeof parts);
}
