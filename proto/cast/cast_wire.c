/*
 * cast_wire.c - casts as bytes: put and get of each kind of control message stand beside each
 * other, and `bodies` has one row for each kind. Fragments are sealed and opened here, too.
 */
#include "proto/cast/cast_wire.h"

#include <string.h>

/* ---- control --------------------------------------------------------------------------------- */

static bool get_flag(struct cursor *c, uint32_t field, unsigned shift)
{
    if (field != 0 && field != 1u << shift)
        c->bad = true;
    return field != 0;
}

static void put_open(struct cursor *c, const struct cast_control *m)
{
    cursor_put_u8(c, m->total);
    cursor_put_u8(c, 0);
    cursor_put_u16(c, m->slot_bytes);
    cursor_put_u16(c, m->window);
    host_set_put(c, &m->members);
}

static void get_open(struct cursor *c, struct cast_control *m)
{
    m->total = get_flag(c, cursor_get_u16(c), 8);
    m->slot_bytes = cursor_get_u16(c);
    m->window = cursor_get_u16(c);
    host_set_get(c, &m->members);
}

static void put_ack(struct cursor *c, const struct cast_control *m)
{
    cursor_put_u64(c, m->have);
    cursor_put_u64(c, m->limit);
    cursor_put_u16(c, m->missing_count);
    for (uint16_t i = 0; i < m->missing_count; i++) {
        cursor_put_u64(c, m->missing[i].first);
        cursor_put_u16(c, m->missing[i].count);
    }
}

static void get_ack(struct cursor *c, struct cast_control *m)
{
    m->have = cursor_get_u64(c);
    m->limit = cursor_get_u64(c);
    m->missing_count = cursor_get_u16(c);
    if (m->missing_count > CAST_MISSING_MAX)
        c->bad = true;
    for (uint16_t i = 0; i < m->missing_count && cursor_ok(c); i++) {
        m->missing[i].first = cursor_get_u64(c);
        m->missing[i].count = cursor_get_u16(c);
    }
}

static void put_sync(struct cursor *c, const struct cast_control *m)
{
    cursor_put_u64(c, m->next);
    cursor_put_u64(c, m->stable);
}

static void get_sync(struct cursor *c, struct cast_control *m)
{
    m->next = cursor_get_u64(c);
    m->stable = cursor_get_u64(c);
}

static void put_flush(struct cursor *c, const struct cast_control *m)
{
    cursor_put_u64(c, m->have);
    cursor_put_u64(c, m->round);
    cursor_put_u8(c, m->total);
    cursor_put_u8(c, m->ended);
    cursor_put_u16(c, 0);
    host_set_put(c, &m->members);
}

static void get_flush(struct cursor *c, struct cast_control *m)
{
    m->have = cursor_get_u64(c);
    m->round = cursor_get_u64(c);
    m->total = get_flag(c, cursor_get_u8(c), 0);
    m->ended = get_flag(c, cursor_get_u8(c), 0);
    get_flag(c, cursor_get_u16(c), 16);
    host_set_get(c, &m->members);
}

static void put_order(struct cursor *c, const struct cast_control *m)
{
    cursor_put_u64(c, m->number);
    cursor_put_bytes(c, m->bytes, m->size);
}

static void put_data(struct cursor *c, const struct cast_control *m)
{
    cursor_put_bytes(c, m->bytes, m->size);
}

static void get_data(struct cursor *c, struct cast_control *m)
{
    m->size = cursor_left(c);
    m->bytes = cursor_get_view(c, m->size);
}

static void get_order(struct cursor *c, struct cast_control *m)
{
    m->number = cursor_get_u64(c);
    get_data(c, m);
}

static void put_nothing(struct cursor *c, const struct cast_control *m)
{
    (void)c, (void)m;
}

static void get_nothing(struct cursor *c, struct cast_control *m)
{
    (void)c, (void)m;
}

static const struct body {
    void (*put)(struct cursor *c, const struct cast_control *m);
    void (*get)(struct cursor *c, struct cast_control *m);
} bodies[] = {[CAST_OPEN] = {put_open, get_open},         [CAST_ACK] = {put_ack, get_ack},
              [CAST_SYNC] = {put_sync, get_sync},         [CAST_FLUSH] = {put_flush, get_flush},
              [CAST_ORDER] = {put_order, get_order},      [CAST_DATA] = {put_data, get_data},
              [CAST_OPENED] = {put_nothing, get_nothing}, [CAST_CLOSE] = {put_nothing, get_nothing},
              [CAST_DONE] = {put_nothing, get_nothing}};

/* NULL: there is no such type. */
static const struct body *body_of(uint8_t type)
{
    bool known = type < sizeof bodies / sizeof bodies[0] && bodies[type].put != NULL;
    return known ? &bodies[type] : NULL;
}

void cast_put_control(struct cursor *c, const struct cast_control *m)
{
    const struct body *body = body_of(m->type);
    cursor_put_u32(c, (uint32_t)m->type << 24);
    cursor_put_u32(c, m->key.sender);
    cursor_put_u64(c, m->key.id);
    cursor_put_u64(c, m->key.incarnation);
    if (body != NULL)
        body->put(c, m);
}

void cast_get_control(struct cursor *c, struct cast_control *m)
{
    uint32_t type = cursor_get_u32(c);
    const struct body *body = body_of((uint8_t)(type >> 24));
    memset(m, 0, sizeof *m);
    m->type = (uint8_t)(type >> 24);
    m->key.sender = cursor_get_u32(c);
    m->key.id = cursor_get_u64(c);
    m->key.incarnation = cursor_get_u64(c);
    if ((type & 0xffffff) != 0 || m->key.sender == 0 || m->key.sender > HOST_INDEX_MAX ||
        body == NULL)
        c->bad = true;
    if (body != NULL)
        body->get(c, m);
}

/* ---- fragments ------------------------------------------------------------------------------- */

bool cast_seal_derive(struct cast_seal *seal, const uint8_t vm_key[AUTH_KEY_BYTES],
                      const uint8_t id[HOST_ID_BYTES], const struct cast_key *key)
{
    uint8_t parts[HOST_ID_BYTES + 20];
    struct cursor c = cursor_writer(parts, sizeof parts);
    cursor_put_bytes(&c, id, HOST_ID_BYTES);
    cursor_put_u32(&c, key->sender);
    cursor_put_u64(&c, key->id);
    cursor_put_u64(&c, key->incarnation);
    uint8_t derived[AUTH_KEY_BYTES];
    auth_derive(derived, vm_key, "covey cast", parts, sizeof parts);
    seal->cipher = auth_cipher_create(derived);
    explicit_bzero(derived, sizeof derived);
    return seal->cipher != NULL;
}

void cast_seal_end(struct cast_seal *seal)
{
    auth_cipher_destroy(seal->cipher);
    seal->cipher = NULL;
}

void cast_seal_put(const struct cast_seal *seal, const struct cast_fragment *f, uint8_t *bytes)
{
    struct cursor c = cursor_writer(bytes, CAST_PREFIX_BYTES);
    size_t sealed = f->size - AUTH_TAG_BYTES;
    datagram_put_sealed(&c, DATAGRAM_CAST, seal->vm, session_id_make(f->sender, f->name),
                        f->number);
    cursor_put_u8(&c, f->flags);
    cursor_put_u8(&c, 0);
    cursor_put_u16(&c, f->back);
    if (seal->encrypt)
        auth_encrypt(bytes, DATAGRAM_SEALED_BYTES, sealed, seal->cipher, f->number);
    else
        auth_seal(bytes + sealed, seal->cipher, f->number, bytes, sealed);
}

bool cast_peek(const uint8_t *bytes, size_t size, uint32_t vm, struct cast_fragment *f)
{
    struct datagram d;
    if (size < CAST_OVERHEAD_BYTES || size > CAST_DATAGRAM_BYTES_MAX)
        return false;
    if (datagram_decode(bytes, size, vm, &d) != DATAGRAM_GOOD || d.kind != DATAGRAM_CAST)
        return false;
    *f = (struct cast_fragment){.sender = session_id_peer(d.session),
                                .name = d.session >> 12,
                                .number = d.number,
                                .size = size};
    return true;
}

bool cast_seal_open(const struct cast_seal *seal, const uint8_t *bytes, struct cast_fragment *f,
                    uint8_t *room, const uint8_t **payload)
{
    size_t sealed = f->size - AUTH_TAG_BYTES;
    const uint8_t *body = bytes + DATAGRAM_SEALED_BYTES;
    struct auth_box box = {.bytes = bytes, .head = DATAGRAM_SEALED_BYTES, .size = sealed};
    if (seal->encrypt) {
        if (!auth_decrypt(room, &box, seal->cipher, f->number))
            return false;
        body = room;
    } else if (!auth_open(bytes + sealed, seal->cipher, f->number, bytes, sealed)) {
        return false;
    }
    struct cursor c = cursor_reader(body, CAST_HEAD_BYTES);
    f->flags = cursor_get_u8(&c);
    cursor_get_u8(&c);
    f->back = cursor_get_u16(&c);
    *payload = body + CAST_HEAD_BYTES;
    return true;
}
