/*
 * datagram.c - takes datagrams apart and puts their beginnings together; the grammar stands in
 * datagram.h. Nothing here knows a key: what is decoded is not yet believed.
 */
#include "proto/wire/datagram.h"

#include <string.h>

void datagram_put_head(struct cursor *c, uint8_t kind, uint32_t vm)
{
    cursor_put_u16(c, DATAGRAM_MAGIC);
    cursor_put_u8(c, WIRE_VERSION);
    cursor_put_u8(c, kind);
    cursor_put_u32(c, vm);
}

void datagram_put_sealed(struct cursor *c, uint8_t kind, uint32_t vm, uint32_t session,
                         uint64_t number)
{
    datagram_put_head(c, kind, vm);
    cursor_put_u32(c, session);
    cursor_put_u64(c, number);
}

void datagram_put_hello(struct cursor *c, const struct hello *hello)
{
    cursor_put_u32(c, hello->from);
    cursor_put_u32(c, hello->to);
    cursor_put_u32(c, hello->session);
    cursor_put_bytes(c, hello->from_id, HOST_ID_BYTES);
    cursor_put_bytes(c, hello->to_id, HOST_ID_BYTES);
    cursor_put_bytes(c, hello->nonce, AUTH_NONCE_BYTES);
}

static void get_hello(struct cursor *c, struct hello *hello)
{
    hello->from = cursor_get_u32(c);
    hello->to = cursor_get_u32(c);
    hello->session = cursor_get_u32(c);
    cursor_get_bytes(c, hello->from_id, HOST_ID_BYTES);
    cursor_get_bytes(c, hello->to_id, HOST_ID_BYTES);
    cursor_get_bytes(c, hello->nonce, AUTH_NONCE_BYTES);
}

const char *datagram_kind_name(int kind)
{
    static const char *const names[] = {
#define KIND_ROW(number, name, text) [number] = text,
        DATAGRAM_KINDS(KIND_ROW)
#undef KIND_ROW
    };
    return kind < 0 || (size_t)kind >= sizeof names / sizeof names[0] ? NULL : names[kind];
}

/* The exact size of a datagram of that kind; 0: any from the smallest sealed one, -1: no kind. */
static int kind_bytes(uint8_t kind)
{
    switch (kind) {
    case DATAGRAM_HELLO:
    case DATAGRAM_ROLL:
        return HELLO_BYTES;
    case DATAGRAM_WELCOME:
        return WELCOME_BYTES;
    case DATAGRAM_REFUSE:
        return REFUSE_BYTES;
    case DATAGRAM_HERE:
        return HERE_BYTES;
    case DATAGRAM_CONFIRM:
        return CONFIRM_BYTES;
    case DATAGRAM_DATA:
    case DATAGRAM_CAST:
        return 0;
    case DATAGRAM_PING:
    case DATAGRAM_PONG:
        return DATAGRAM_OVERHEAD_BYTES;
    case DATAGRAM_PROBE:
    case DATAGRAM_PROBED:
    case DATAGRAM_CALL:
    case DATAGRAM_CALL_BACK:
        return DATAGRAM_OVERHEAD_BYTES + DATAGRAM_TARGET_BYTES;
    case DATAGRAM_CHALLENGE:
    case DATAGRAM_RESPONSE:
        return DATAGRAM_OVERHEAD_BYTES + DATAGRAM_TOKEN_BYTES;
    default:
        return -1;
    }
}

static void get_handshake(struct cursor *c, struct datagram *d)
{
    if (d->kind == DATAGRAM_HELLO || d->kind == DATAGRAM_ROLL) {
        get_hello(c, &d->hello);
        return;
    }
    if (d->kind == DATAGRAM_HERE) {
        d->host = cursor_get_u32(c);
        return;
    }
    d->session = cursor_get_u32(c);
    if (d->kind == DATAGRAM_WELCOME) {
        d->responder_session = cursor_get_u32(c);
        cursor_get_bytes(c, d->nonce, AUTH_NONCE_BYTES);
    } else {
        d->reason = cursor_get_u8(c);
    }
}

static void get_sealed(struct cursor *c, struct datagram *d)
{
    d->session = cursor_get_u32(c);
    d->number = cursor_get_u64(c);
    if (d->kind == DATAGRAM_CONFIRM) {
        get_hello(c, &d->hello);
        cursor_get_bytes(c, d->nonce, AUTH_NONCE_BYTES);
    } else {
        d->payload_bytes = cursor_left(c) - AUTH_TAG_BYTES;
        d->payload = cursor_get_view(c, d->payload_bytes);
    }
}

static bool size_fits(uint8_t kind, size_t size)
{
    int exact = kind_bytes(kind);

    return exact > 0 ? size == (size_t)exact
                     : size >= DATAGRAM_OVERHEAD_BYTES && size <= DATAGRAM_BYTES_MAX;
}

enum datagram_refusal datagram_decode(const uint8_t *bytes, size_t size, uint32_t vm,
                                      struct datagram *d)
{
    struct cursor c = cursor_reader(bytes, size);

    if (size < DATAGRAM_HEAD_BYTES)
        return DATAGRAM_SHORT;
    if (cursor_get_u16(&c) != DATAGRAM_MAGIC)
        return DATAGRAM_FOREIGN;
    d->version = cursor_get_u8(&c);
    if (d->version != WIRE_VERSION)
        return DATAGRAM_VERSION;
    d->kind = cursor_get_u8(&c);
    if (cursor_get_u32(&c) != vm)
        return DATAGRAM_VM;
    if (kind_bytes(d->kind) < 0)
        return DATAGRAM_KIND;
    if (!size_fits(d->kind, size))
        return DATAGRAM_SIZE;
    if (datagram_is_sealed(d->kind))
        get_sealed(&c, d);
    else
        get_handshake(&c, d);
    d->bytes = bytes;
    d->size = size - AUTH_TAG_BYTES;
    d->tag = bytes + d->size;
    return DATAGRAM_GOOD;
}

void datagram_set_body(struct datagram *d, const uint8_t *body)
{
    struct cursor c = cursor_reader(body, d->payload_bytes);

    if (datagram_has_target(d->kind))
        d->target = cursor_get_u32(&c);
    else if (datagram_has_token(d->kind))
        d->token = cursor_get_u64(&c);
    d->payload = body;
}
