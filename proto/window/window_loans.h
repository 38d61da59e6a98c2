/*
 * window_loans.h - bytes of a stream that are read where their writer has them, in the order of
 * their offsets. What lies between two loans is elsewhere.
 */
#ifndef COVEY_PROTO_WINDOW_LOANS_H
#define COVEY_PROTO_WINDOW_LOANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOANS_MAX 256u

struct loan {
    const uint8_t *bytes;
    uint64_t begin, end;
};

struct loans {
    struct loan *at;
    unsigned count;
    size_t capacity;
};

void loans_free(struct loans *l);

/* Offsets from `begin` on, which no loan reached before; false: there are LOANS_MAX of them, or
 * memory is exhausted. */
bool loans_add(struct loans *l, const uint8_t *bytes, uint64_t begin, size_t size);

/* Offsets below it are needed no more. */
void loans_remove_below(struct loans *l, uint64_t offset);

/* Whether the byte at `offset` is lent: sets *bytes to where. Either way *end, if it is beyond,
 * becomes the offset up to which the bytes that follow are of the same kind. */
bool loans_find(const struct loans *l, uint64_t offset, uint64_t *end, const uint8_t **bytes);

#endif
