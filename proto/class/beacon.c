/*
 * beacon.c - the two datagrams of a class, written and read; see beacon.h.
 */
#include "proto/class/beacon.h"

#include <string.h>

#include "proto/wire/cursor.h"

#define NAME_BYTES 12
static const char question_name[NAME_BYTES + 1] = "covey-class?";
static const char answer_name[NAME_BYTES + 1] = "covey-class!";

static void beacon_put(uint8_t bytes[BEACON_BYTES], const struct beacon *beacon, const char *name)
{
    struct cursor c = cursor_writer(bytes, BEACON_BYTES);
    memset(bytes, 0, BEACON_BYTES);
    cursor_put_bytes(&c, name, NAME_BYTES);
    cursor_put_u8(&c, beacon->version);
    cursor_put_u8(&c, beacon->label);
    cursor_put_bytes(&c, beacon->nonce, sizeof beacon->nonce);
    cursor_put_u16(&c, beacon->port);
    cursor_put_bytes(&c, beacon->id, sizeof beacon->id);
}

void beacon_put_question(uint8_t bytes[BEACON_BYTES], const struct beacon *beacon)
{
    beacon_put(bytes, beacon, question_name);
}

void beacon_put_answer(uint8_t bytes[BEACON_BYTES], const struct beacon *beacon)
{
    beacon_put(bytes, beacon, answer_name);
}

static bool beacon_get(const uint8_t *bytes, size_t size, struct beacon *beacon, const char *name)
{
    uint8_t said[NAME_BYTES];
    struct cursor c = cursor_reader(bytes, size);
    cursor_get_bytes(&c, said, sizeof said);
    struct beacon got = {.version = cursor_get_u8(&c), .label = cursor_get_u8(&c)};
    cursor_get_bytes(&c, got.nonce, sizeof got.nonce);
    got.port = cursor_get_u16(&c);
    cursor_get_bytes(&c, got.id, sizeof got.id);
    if (!cursor_done(&c) || memcmp(said, name, NAME_BYTES) != 0)
        return false;
    *beacon = got;
    return true;
}

bool beacon_get_question(const uint8_t *bytes, size_t size, struct beacon *beacon)
{
    return beacon_get(bytes, size, beacon, question_name);
}

bool beacon_get_answer(const uint8_t *bytes, size_t size, struct beacon *beacon)
{
    return beacon_get(bytes, size, beacon, answer_name) && beacon->port != 0;
}
