/*
 * handshake.c - the computations of HELLO, WELCOME, REFUSE, CONFIRM, ROLL and HERE. See handshake.h
 * for what they promise; session.c drives them.
 */
#include "proto/auth/handshake.h"

#include <string.h>

#include "proto/auth/auth.h"

/* The longest text under a MAC here: a label, a HELLO body and an answer. */
#define MAC_TEXT_BYTES 256

void identity_derive(struct identity *me, const char *vm, const uint8_t key[VM_KEY_BYTES])
{
    uint8_t tag[AUTH_KEY_BYTES] = {0};
    struct cursor c = cursor_reader(tag, sizeof tag);

    memcpy(me->vm_key, key, VM_KEY_BYTES);
    if (me->encrypt)
        auth_encrypting_key(me->vm_key, key);
    if (me->ether)
        auth_ether_key(me->vm_key);
    auth_derive(me->handshake_key, me->vm_key, "covey handshake", vm, strlen(vm));
    auth_derive(tag, key, "covey vm", vm, strlen(vm));
    me->vm = cursor_get_u32(&c);
}

static void put_hello(const struct identity *me, uint8_t kind, const struct hello *hello,
                      uint8_t bytes[HELLO_BYTES])
{
    struct cursor c = cursor_writer(bytes, HELLO_BYTES);

    datagram_put_head(&c, kind, me->vm);
    datagram_put_hello(&c, hello);
    auth_mac(c.at, me->handshake_key, bytes, HELLO_BYTES - AUTH_TAG_BYTES);
}

void handshake_hello(const struct identity *me, const struct hello *hello,
                     uint8_t bytes[HELLO_BYTES])
{
    put_hello(me, DATAGRAM_HELLO, hello, bytes);
}

void handshake_roll(const struct identity *me, const struct hello *hello,
                    uint8_t bytes[HELLO_BYTES])
{
    put_hello(me, DATAGRAM_ROLL, hello, bytes);
}

bool handshake_hello_ok(const struct identity *me, const struct datagram *d)
{
    return auth_mac_ok(d->tag, me->handshake_key, d->bytes, d->size);
}

void handshake_nonce(const struct identity *me, const struct hello *hello, uint64_t count,
                     uint8_t nonce[AUTH_NONCE_BYTES])
{
    uint8_t text[HELLO_BODY_BYTES + 8];
    struct cursor c = cursor_writer(text, sizeof text);

    datagram_put_hello(&c, hello);
    cursor_put_u64(&c, count);
    auth_mac(nonce, me->boot_secret, text, sizeof text);
}

/* The mac of an answer covers the HELLO that it answers. */
static size_t answer_text(uint8_t text[MAC_TEXT_BYTES], const struct hello *hello,
                          const uint8_t *answer, size_t size)
{
    struct cursor c = cursor_writer(text, MAC_TEXT_BYTES);

    cursor_put_text(&c, "answer");
    datagram_put_hello(&c, hello);
    cursor_put_bytes(&c, answer, size);
    return (size_t)(c.at - text);
}

static void seal_answer(const struct identity *me, const struct hello *hello, uint8_t *answer,
                        size_t size)
{
    uint8_t text[MAC_TEXT_BYTES];
    size_t text_bytes = answer_text(text, hello, answer, size - AUTH_TAG_BYTES);

    auth_mac(answer + size - AUTH_TAG_BYTES, me->handshake_key, text, text_bytes);
}

void handshake_welcome(const struct identity *me, const struct hello *hello, uint64_t count,
                       uint8_t bytes[WELCOME_BYTES])
{
    struct cursor c = cursor_writer(bytes, WELCOME_BYTES);
    uint8_t nonce[AUTH_NONCE_BYTES];

    handshake_nonce(me, hello, count, nonce);
    datagram_put_head(&c, DATAGRAM_WELCOME, me->vm);
    cursor_put_u32(&c, hello->session);
    cursor_put_u32(&c, session_id_make(hello->from, count));
    cursor_put_bytes(&c, nonce, sizeof nonce);
    seal_answer(me, hello, bytes, WELCOME_BYTES);
}

void handshake_refuse(const struct identity *me, const struct hello *hello, uint8_t reason,
                      uint8_t bytes[REFUSE_BYTES])
{
    struct cursor c = cursor_writer(bytes, REFUSE_BYTES);

    datagram_put_head(&c, DATAGRAM_REFUSE, me->vm);
    cursor_put_u32(&c, hello->session);
    cursor_put_u8(&c, reason);
    cursor_put_u8(&c, 0);
    cursor_put_u16(&c, 0);
    seal_answer(me, hello, bytes, REFUSE_BYTES);
}

void handshake_here(const struct identity *me, const struct hello *hello, uint8_t bytes[HERE_BYTES])
{
    struct cursor c = cursor_writer(bytes, HERE_BYTES);

    datagram_put_head(&c, DATAGRAM_HERE, me->vm);
    cursor_put_u32(&c, me->index);
    cursor_put_u32(&c, 0);
    seal_answer(me, hello, bytes, HERE_BYTES);
}

bool handshake_answer_ok(const struct identity *me, const struct hello *hello,
                         const struct datagram *d)
{
    uint8_t text[MAC_TEXT_BYTES];
    size_t text_bytes = answer_text(text, hello, d->bytes, d->size);

    return auth_mac_ok(d->tag, me->handshake_key, text, text_bytes);
}

void handshake_keys(const struct identity *me, const struct hello *hello,
                    uint32_t responder_session, const uint8_t nonce[AUTH_NONCE_BYTES],
                    struct session_keys *keys)
{
    uint8_t parts[HELLO_BODY_BYTES + 4 + AUTH_NONCE_BYTES];
    struct cursor c = cursor_writer(parts, sizeof parts);

    datagram_put_hello(&c, hello);
    cursor_put_u32(&c, responder_session);
    cursor_put_bytes(&c, nonce, AUTH_NONCE_BYTES);
    auth_derive(keys->initiator, me->vm_key, "covey initiator", parts, sizeof parts);
    auth_derive(keys->responder, me->vm_key, "covey responder", parts, sizeof parts);
}
