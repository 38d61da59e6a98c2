/*
 * cursor.c - the bounded cursor. Every access goes through cursor_take(), which refuses what does
 * not fit; after a refusal nothing moves any more.
 */
#include "proto/wire/cursor.h"

#include <endian.h>
#include <string.h>

struct cursor cursor_writer(void *base, size_t size)
{
    uint8_t *at = base;
    return (struct cursor){.at = at, .end = at + size, .bad = false};
}

/* A reader shares the writer's type; nothing in this file writes through one made here. */
struct cursor cursor_reader(const void *base, size_t size)
{
    union {
        const void *foreign;
        uint8_t *bytes;
    } u = {.foreign = base};
    return (struct cursor){.at = u.bytes, .end = u.bytes + size, .bad = false};
}

struct cursor cursor_counter(void)
{
    return (struct cursor){.counts = true};
}

bool cursor_ok(const struct cursor *c)
{
    return !c->bad;
}

bool cursor_done(const struct cursor *c)
{
    return !c->bad && c->at == c->end;
}

size_t cursor_left(const struct cursor *c)
{
    return c->bad ? 0 : (size_t)(c->end - c->at);
}

static uint8_t *cursor_take(struct cursor *c, size_t size)
{
    if (c->bad || (size_t)(c->end - c->at) < size) {
        c->bad = !c->counts;
        c->counted += size;
        return NULL;
    }
    uint8_t *at = c->at;
    c->at += size;
    return at;
}

/* Of a size that the compiler knows: then it is one store or load. */
static inline void cursor_put(struct cursor *c, const void *bytes, size_t size)
{
    uint8_t *at = cursor_take(c, size);
    if (at != NULL && size > 0)
        memcpy(at, bytes, size);
}

static inline void get(struct cursor *c, void *bytes, size_t size)
{
    const uint8_t *at = cursor_take(c, size);
    if (at != NULL)
        memcpy(bytes, at, size);
    else
        memset(bytes, 0, size);
}

void cursor_put_u8(struct cursor *c, uint8_t value)
{
    cursor_put(c, &value, sizeof value);
}

void cursor_put_u16(struct cursor *c, uint16_t value)
{
    value = htobe16(value);
    cursor_put(c, &value, sizeof value);
}

void cursor_put_u32(struct cursor *c, uint32_t value)
{
    value = htobe32(value);
    cursor_put(c, &value, sizeof value);
}

void cursor_put_u64(struct cursor *c, uint64_t value)
{
    value = htobe64(value);
    cursor_put(c, &value, sizeof value);
}

void cursor_put_i32(struct cursor *c, int32_t value)
{
    cursor_put_u32(c, (uint32_t)value);
}

void cursor_put_bytes(struct cursor *c, const void *bytes, size_t size)
{
    cursor_put(c, bytes, size);
}

void cursor_put_text(struct cursor *c, const char *text)
{
    size_t size = text == NULL ? 0 : strlen(text);
    if (size > UINT16_MAX || (!c->counts && cursor_left(c) < 2 + size)) {
        c->bad = true;
        return;
    }
    cursor_put_u16(c, (uint16_t)size);
    cursor_put_bytes(c, text, size);
}

uint8_t cursor_get_u8(struct cursor *c)
{
    uint8_t value;
    get(c, &value, sizeof value);
    return value;
}

uint16_t cursor_get_u16(struct cursor *c)
{
    uint16_t value;
    get(c, &value, sizeof value);
    return be16toh(value);
}

uint32_t cursor_get_u32(struct cursor *c)
{
    uint32_t value;
    get(c, &value, sizeof value);
    return be32toh(value);
}

uint64_t cursor_get_u64(struct cursor *c)
{
    uint64_t value;
    get(c, &value, sizeof value);
    return be64toh(value);
}

int32_t cursor_get_i32(struct cursor *c)
{
    return (int32_t)cursor_get_u32(c);
}

void cursor_get_bytes(struct cursor *c, void *bytes, size_t size)
{
    get(c, bytes, size);
}

const uint8_t *cursor_get_view(struct cursor *c, size_t size)
{
    return cursor_take(c, size);
}

void cursor_get_text(struct cursor *c, char *text, size_t capacity)
{
    struct cursor ahead = *c;
    size_t size = cursor_get_u16(&ahead);
    const uint8_t *at = size < capacity ? cursor_take(&ahead, size) : NULL;
    text[0] = '\0';
    if (at == NULL || memchr(at, '\0', size) != NULL) {
        c->bad = true;
        return;
    }
    memcpy(text, at, size);
    text[size] = '\0';
    *c = ahead;
}
