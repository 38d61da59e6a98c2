/*
 * cursor.h - the bounded cursor: the only place that turns numbers into foreign bytes and back.
 *
 * A cursor runs over memory that the caller owns. A read or write that does not fit changes
 * nothing, sets `bad` and makes every later one fail too; reads then give 0. So a decoder reads
 * all its fields and asks cursor_ok() once. Numbers are big-endian.
 */
#ifndef COVEY_PROTO_CURSOR_H
#define COVEY_PROTO_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
    uint8_t *at;
    uint8_t *end;
    bool bad;
    bool counts; /* what is put is not written, only counted */
    size_t counted;
};

/* A number as the word of memory that has its bytes, or back, for who writes or reads whole words.
 */
static inline uint64_t cursor_word(uint64_t number)
{
    const union {
        uint16_t number;
        uint8_t bytes[2];
    } probe = {.number = 1};
    return probe.bytes[0] == 1 ? __builtin_bswap64(number) : number;
}

/* A cursor to write into, or to read from, `size` bytes at `base`. */
struct cursor cursor_writer(void *base, size_t size);
struct cursor cursor_reader(const void *base, size_t size);
/* One that tells in `counted` how many bytes would have been written. */
struct cursor cursor_counter(void);

bool cursor_ok(const struct cursor *c);     /* nothing was refused so far */
bool cursor_done(const struct cursor *c);   /* ok and nothing is left */
size_t cursor_left(const struct cursor *c); /* bytes left, 0 when bad */

void cursor_put_u8(struct cursor *c, uint8_t value);
void cursor_put_u16(struct cursor *c, uint16_t value);
void cursor_put_u32(struct cursor *c, uint32_t value);
void cursor_put_u64(struct cursor *c, uint64_t value);
void cursor_put_i32(struct cursor *c, int32_t value);
void cursor_put_bytes(struct cursor *c, const void *bytes, size_t size);
/* u16 length, then the bytes without a NUL; NULL is written as "". */
void cursor_put_text(struct cursor *c, const char *text);

uint8_t cursor_get_u8(struct cursor *c);
uint16_t cursor_get_u16(struct cursor *c);
uint32_t cursor_get_u32(struct cursor *c);
uint64_t cursor_get_u64(struct cursor *c);
int32_t cursor_get_i32(struct cursor *c);
/* Copies exactly `size` bytes out; on refusal `bytes` is zeroed. */
void cursor_get_bytes(struct cursor *c, void *bytes, size_t size);
/* A pointer to the next `size` bytes inside the foreign memory, or NULL when refused. */
const uint8_t *cursor_get_view(struct cursor *c, size_t size);
/* A text into text[capacity] with a NUL; one that does not fit, or holds a NUL, is refused. */
void cursor_get_text(struct cursor *c, char *text, size_t capacity);

#endif
