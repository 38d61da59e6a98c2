/*
 * channel.c - frames of one connection, in the clear and sealed, and the steps of the exchange that
 * both ends do alike; see channel.h.
 */
#include "proto/class/channel.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#define MAC_BYTES crypto_aead_chacha20poly1305_ietf_ABYTES
#define HEAD_BYTES 2

_Static_assert(CLASS_BOX_KEY_BYTES == crypto_box_PUBLICKEYBYTES, "a public key");
_Static_assert(crypto_aead_chacha20poly1305_ietf_KEYBYTES == 32, "a key of one way");
_Static_assert(CHANNEL_BODY_MAX >= 1 + CLASS_SEALED_MAX + MAC_BYTES, "the longest frame");
_Static_assert(CHANNEL_BODY_MAX <= UINT16_MAX, "a size fits its field");

/* ---- frames ---------------------------------------------------------------------------------- */

static size_t body_max(const struct channel *channel)
{
    return channel->sealed ? CHANNEL_BODY_MAX : CHANNEL_OPEN_MAX;
}

/* Of the frame that has begun; 0: not known yet. */
static size_t body_size(const struct channel *channel)
{
    struct cursor c = cursor_reader(channel->in, channel->in_size);
    return cursor_get_u16(&c);
}

size_t channel_feed(struct channel *channel, const uint8_t *bytes, size_t size)
{
    size_t taken = 0;
    while (!channel->broken && taken < size) {
        size_t body = channel->in_size < HEAD_BYTES ? 0 : body_size(channel);
        size_t want = HEAD_BYTES + body - channel->in_size;
        if (channel->in_size >= HEAD_BYTES && (body == 0 || body > body_max(channel)))
            channel->broken = true;
        if (channel->broken || want == 0)
            break;
        if (want > size - taken)
            want = size - taken;
        memcpy(channel->in + channel->in_size, bytes + taken, want);
        channel->in_size += want;
        taken += want;
    }
    return taken;
}

static void way_nonce(struct channel_way *way,
                      uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES])
{
    struct cursor c = cursor_writer(nonce, crypto_aead_chacha20poly1305_ietf_NPUBBYTES);
    cursor_put_u32(&c, 0);
    cursor_put_u64(&c, way->frames++);
}

/* The frame's body in the clear; its size, 0: it was not sealed by the other. */
static size_t body_open(struct channel *channel, const uint8_t *sealed, size_t size)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    unsigned long long opened = 0;
    if (!channel->sealed) {
        memcpy(channel->body, sealed, size);
        return size;
    }
    if (size <= MAC_BYTES)
        return 0;
    way_nonce(&channel->to_take, nonce);
    return crypto_aead_chacha20poly1305_ietf_decrypt(channel->body, &opened, NULL, sealed, size,
                                                     NULL, 0, nonce, channel->to_take.key) == 0
               ? (size_t)opened
               : 0;
}

/* Whether a frame of that kind may come now. */
static bool kind_fits(const struct channel *channel, int kind)
{
    switch (kind) {
#define CHANNEL_KIND_FITS(name, number, clear)                                                     \
    case number:                                                                                   \
        return (clear) != channel->sealed || number == CHANNEL_REFUSE;
        CHANNEL_KINDS(CHANNEL_KIND_FITS)
    default:
        return false;
    }
}

int channel_take(struct channel *channel, struct cursor *fields)
{
    size_t size = channel->in_size < HEAD_BYTES ? 0 : body_size(channel);
    if (size > body_max(channel))
        channel->broken = true;
    if (channel->broken || size == 0 || channel->in_size < HEAD_BYTES + size)
        return 0;
    size = body_open(channel, channel->in + HEAD_BYTES, size);
    channel->in_size = 0;
    if (size == 0 || !kind_fits(channel, channel->body[0])) {
        channel->broken = true;
        return 0;
    }
    *fields = cursor_reader(channel->body + 1, size - 1);
    return channel->body[0];
}

void channel_send(struct channel *channel, enum channel_kind kind, uint8_t *body,
                  const struct cursor *fields)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    size_t size = cursor_ok(fields) ? (size_t)(fields->at - body) : 0;
    size_t whole = HEAD_BYTES + size + (channel->sealed ? MAC_BYTES : 0);
    if (size == 0 || whole > sizeof channel->out - channel->out_size ||
        whole - HEAD_BYTES > body_max(channel)) {
        channel->broken = true;
        return;
    }
    body[0] = (uint8_t)kind;
    struct cursor c = cursor_writer(channel->out + channel->out_size, whole);
    cursor_put_u16(&c, (uint16_t)(whole - HEAD_BYTES));
    if (channel->sealed) {
        way_nonce(&channel->to_send, nonce);
        crypto_aead_chacha20poly1305_ietf_encrypt(c.at, NULL, body, size, NULL, 0, NULL, nonce,
                                                  channel->to_send.key);
    } else {
        memcpy(c.at, body, size);
    }
    channel->out_size += whole;
}

void channel_sent(struct channel *channel, size_t size)
{
    assert(size <= channel->out_size);
    channel->out_size -= size;
    memmove(channel->out, channel->out + size, channel->out_size);
}

/* ---- the exchange ---------------------------------------------------------------------------- */

static struct cpace_text text_of(const char *text)
{
    return (struct cpace_text){text, strlen(text)};
}

void channel_share(struct channel_proof *proof, const char *password,
                   const uint8_t random[CPACE_RANDOM_BYTES], bool teacher)
{
    uint8_t g[CPACE_POINT_BYTES];
    cpace_generator(g, text_of(password), text_of(CLASS_CHANNEL),
                    (struct cpace_text){proof->session, sizeof proof->session});
    cpace_scalar(proof->scalar, random);
    cpace_share(teacher ? proof->teacher : proof->student, proof->scalar, g);
    sodium_memzero(g, sizeof g);
}

bool channel_agree(struct channel_proof *proof, bool teacher)
{
    struct cpace_said said = {.initiator_data = text_of(CLASS_STUDENT),
                              .responder_data = text_of(CLASS_TEACHER)};
    memcpy(said.initiator, proof->student, sizeof said.initiator);
    memcpy(said.responder, proof->teacher, sizeof said.responder);
    return cpace_key(proof->key, proof->scalar, teacher ? proof->student : proof->teacher,
                     (struct cpace_text){proof->session, sizeof proof->session}, &said);
}

void channel_tag(const struct channel_proof *proof, bool teacher, uint8_t tag[CPACE_TAG_BYTES])
{
    cpace_tag(tag, proof->key, (struct cpace_text){proof->session, sizeof proof->session},
              teacher ? proof->teacher : proof->student,
              text_of(teacher ? CLASS_TEACHER : CLASS_STUDENT));
}

static void way_begin(struct channel_way *way, const struct channel_proof *proof, const char *who)
{
    crypto_generichash(way->key, sizeof way->key, (const uint8_t *)who, strlen(who), proof->key,
                       sizeof proof->key);
    way->frames = 0;
}

void channel_seal(struct channel *channel, struct channel_proof *proof, bool teacher)
{
    way_begin(&channel->to_send, proof, teacher ? CLASS_TEACHER : CLASS_STUDENT);
    way_begin(&channel->to_take, proof, teacher ? CLASS_STUDENT : CLASS_TEACHER);
    channel->sealed = true;
    sodium_memzero(proof, sizeof *proof);
}
