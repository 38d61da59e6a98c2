/*
 * record.c - seals and opens records; the grammar stands in record.h.
 */
#include "proto/auth/record.h"

#include <assert.h>

#include "proto/wire/cursor.h"

bool record_way_begin(struct record_way *way, const uint8_t key[AUTH_KEY_BYTES])
{
    *way = (struct record_way){.cipher = auth_cipher_create(key)};
    return way->cipher != NULL;
}

void record_way_end(struct record_way *way)
{
    auth_cipher_destroy(way->cipher);
}

void record_seal(struct record_way *way, uint8_t *record, size_t body)
{
    struct cursor c = cursor_writer(record, RECORD_HEAD_BYTES);

    assert(body > 0 && body <= RECORD_BODY_MAX && way->number < UINT64_MAX);
    cursor_put_u32(&c, (uint32_t)body);
    auth_encrypt(record, RECORD_HEAD_BYTES, RECORD_HEAD_BYTES + body, way->cipher, way->number++);
}

size_t record_body_bytes(const uint8_t head[RECORD_HEAD_BYTES])
{
    struct cursor c = cursor_reader(head, RECORD_HEAD_BYTES);
    uint32_t body = cursor_get_u32(&c);

    return body <= RECORD_BODY_MAX ? body : 0;
}

bool record_open(struct record_way *way, uint8_t *body, const uint8_t *record)
{
    struct auth_box box = {record, RECORD_HEAD_BYTES,
                           RECORD_HEAD_BYTES + record_body_bytes(record)};

    if (!auth_decrypt(body, &box, way->cipher, way->number))
        return false;
    way->number++;
    return true;
}
