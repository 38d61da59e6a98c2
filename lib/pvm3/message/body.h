/*
 * body.h - the bytes of a message, as they are packed and unpacked.
 *
 * A body is a list of segments: memory of its own, which grows, arrays of the program that were
 * packed in place, and parts of a message that was received. Reading goes through them as if they
 * were one array.
 */
#ifndef COVEY_PVM3_BODY_H
#define COVEY_PVM3_BODY_H

#include <stddef.h>
#include <stdint.h>

struct body_segment {
    uint8_t *bytes;
    size_t size;
    size_t capacity; /* 0: the memory is not the body's own */
};

struct body {
    struct body_segment *segments;
    int count, capacity;
    size_t size;   /* of all segments */
    int at;        /* segment that is read */
    size_t offset; /* in it */
};

void body_fini(struct body *body);

/* Room for `size` more bytes at the end, or NULL when memory is exhausted. */
uint8_t *body_extend(struct body *body, size_t size);

/* The array itself becomes the end. Returns 0 or PvmNoMem. */
int body_refer(struct body *body, const void *bytes, size_t size);

/* Copies the next bytes out. Returns 0, or PvmNoData when there are fewer; nothing is read then. */
int body_read(struct body *body, void *bytes, size_t size);

void body_rewind(struct body *body);
size_t body_left(const struct body *body);

/* Appends all bytes of another. Returns 0 or PvmNoMem. */
int body_append(struct body *body, const struct body *from);

#endif
