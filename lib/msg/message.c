/*
 * message.c - message memory and the item format; packing and unpacking are in pack.c and unpack.c.
 */
#include "lib/msg/message.h"
#include "lib/msg/spare.h"

#include "lib/msg/error.h"
#include "proto/wire/cursor.h"

#include <stdlib.h>
#include <string.h>

struct type {
    const char *name;
    uint8_t size;  /* bytes of an element */
    uint8_t parts; /* numbers in an element, each with the byte order of the representation */
};

static const struct type *type_find(int type)
{
    static const struct type types[] = {
        [COVEY_INT8] = {"int8", 1, 1},
        [COVEY_INT16] = {"int16", 2, 1},
        [COVEY_INT32] = {"int32", 4, 1},
        [COVEY_INT64] = {"int64", 8, 1},
        [COVEY_UINT8] = {"uint8", 1, 1},
        [COVEY_UINT16] = {"uint16", 2, 1},
        [COVEY_UINT32] = {"uint32", 4, 1},
        [COVEY_UINT64] = {"uint64", 8, 1},
        [COVEY_FLOAT] = {"float", 4, 1},
        [COVEY_DOUBLE] = {"double", 8, 1},
        [COVEY_COMPLEX_FLOAT] = {"complex_float", 8, 2},
        [COVEY_COMPLEX_DOUBLE] = {"complex_double", 16, 2},
        [COVEY_STRING] = {"string", 1, 1},
        [COVEY_BYTES] = {"bytes", 1, 1},
        [COVEY_MESSAGE] = {"message", 1, 1},
    };
    if (type < COVEY_INT8 || type > COVEY_MESSAGE)
        return NULL;
    return &types[type];
}

size_t covey_type_size(int type)
{
    const struct type *t = type_find(type);
    return t == NULL ? 0 : t->size;
}

const char *covey_type_name(int type)
{
    const struct type *t = type_find(type);
    return t == NULL ? "unknown" : t->name;
}

uint64_t item_bytes(int type, uint64_t count)
{
    uint64_t size = covey_type_size(type);
    uint64_t bytes;
    if (size == 0 || __builtin_mul_overflow(count, size, &bytes) || bytes > COVEY_MESSAGE_BYTES_MAX)
        return 0;
    return ITEM_HEADER_BYTES + ((bytes + 7) & ~(uint64_t)7);
}

void item_header_encode(uint8_t bytes[ITEM_HEADER_BYTES], int type, uint64_t count)
{
    static const uint8_t zero[7];
    struct cursor c = cursor_writer(bytes, ITEM_HEADER_BYTES);
    cursor_put_u8(&c, (uint8_t)type);
    cursor_put_bytes(&c, zero, sizeof zero);
    cursor_put_u64(&c, count);
}

bool item_header_decode(const uint8_t *bytes, uint64_t left, int *type, uint64_t *count)
{
    if (left < ITEM_HEADER_BYTES)
        return false;
    static const uint8_t zero[7];
    struct cursor c = cursor_reader(bytes, ITEM_HEADER_BYTES);
    int t = cursor_get_u8(&c);
    const uint8_t *reserved = cursor_get_view(&c, sizeof zero);
    uint64_t n = cursor_get_u64(&c);
    uint64_t size = item_bytes(t, n);
    if (size == 0 || size > left || memcmp(reserved, zero, sizeof zero) != 0)
        return false;
    *type = t;
    *count = n;
    return true;
}

/* Each as a loop that the compiler turns into vectors: conversion should cost no more than a copy.
 */
static void swap_2(uint8_t *at, size_t count)
{
    for (uint16_t n; count > 0; count--, at += sizeof n) {
        memcpy(&n, at, sizeof n);
        n = __builtin_bswap16(n);
        memcpy(at, &n, sizeof n);
    }
}

static void swap_4(uint8_t *at, size_t count)
{
    for (uint32_t n; count > 0; count--, at += sizeof n) {
        memcpy(&n, at, sizeof n);
        n = __builtin_bswap32(n);
        memcpy(at, &n, sizeof n);
    }
}

static void swap_8(uint8_t *at, size_t count)
{
    for (uint64_t n; count > 0; count--, at += sizeof n) {
        memcpy(&n, at, sizeof n);
        n = __builtin_bswap64(n);
        memcpy(at, &n, sizeof n);
    }
}

void elements_swap(int type, void *base, size_t count)
{
    const struct type *t = type_find(type);
    size_t parts = t == NULL ? 1 : t->parts;
    switch (t == NULL ? 1 : t->size / parts) {
    case 2:
        swap_2(base, count * parts);
        break;
    case 4:
        swap_4(base, count * parts);
        break;
    case 8:
        swap_8(base, count * parts);
        break;
    default:
        break;
    }
}

void elements_copy(void *to, ptrdiff_t to_stride, const void *from, ptrdiff_t from_stride,
                   size_t width, size_t count)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    if (count > 0 && to_stride == 1 && from_stride == 1) {
        memcpy(target, source, count * width);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(target, source, width);
        target += to_stride * (ptrdiff_t)width;
        source += from_stride * (ptrdiff_t)width;
    }
}

covey_msg_t *covey_msg_new(void)
{
    struct covey_msg *msg = calloc(1, sizeof *msg);
    if (msg == NULL)
        error_code(COVEY_ENOMEM);
    else
        msg->representation = representation_native();
    return msg;
}

struct covey_msg *message_receive(uint64_t size, uint8_t representation)
{
    struct covey_msg *msg = covey_msg_new();
    if (msg == NULL)
        return NULL;
    size_t bytes = (size_t)size;
    msg->own = addressable(size) ? spare_take(bytes) : NULL;
    msg->segments = malloc(sizeof *msg->segments);
    if (msg->own == NULL || msg->segments == NULL) {
        covey_msg_free(msg);
        error_code(COVEY_ENOMEM);
        return NULL;
    }
    msg->segments[0] = (struct segment){.size = bytes};
    msg->segment_count = msg->segment_capacity = 1;
    msg->own_used = msg->own_capacity = bytes;
    msg->size = size;
    msg->representation = representation;
    return msg;
}

uint8_t *message_bytes(struct covey_msg *msg)
{
    return msg->own;
}

void covey_msg_free(covey_msg_t *msg)
{
    if (msg == NULL)
        return;
    spare_give(msg->own);
    free(msg->segments);
    free(msg);
}

void covey_msg_reset(covey_msg_t *msg)
{
    msg->own_used = 0;
    msg->segment_count = 0;
    msg->size = 0;
    msg->info = (struct covey_info){0};
    msg->representation = representation_native();
    covey_msg_rewind(msg);
}

void covey_msg_rewind(covey_msg_t *msg)
{
    msg->read_at = 0;
    msg->elements_read = 0;
}

void covey_msg_info(const covey_msg_t *msg, struct covey_info *info)
{
    *info = msg->info;
    info->bytes = msg->size;
}

int message_gather(const struct covey_msg *msg, uint64_t offset, size_t size, struct iovec *iov,
                   int max)
{
    int count = 0;
    for (size_t i = 0; i < msg->segment_count && size > 0 && count < max; i++) {
        const struct segment *s = &msg->segments[i];
        if (offset >= s->size) {
            offset -= s->size;
            continue;
        }
        const uint8_t *base = s->foreign != NULL ? s->foreign : msg->own + s->offset;
        size_t part = s->size - offset < size ? s->size - (size_t)offset : size;
        union {
            const uint8_t *from;
            void *base;
        } u = {.from = base + offset};
        iov[count++] = (struct iovec){u.base, part};
        size -= part;
        offset = 0;
    }
    return count;
}

size_t message_copy(const struct covey_msg *msg, uint64_t offset, void *to, size_t size)
{
    uint8_t *at = to;
    struct iovec iov;
    while (message_gather(msg, offset, size, &iov, 1) > 0) {
        memcpy(at, iov.iov_base, iov.iov_len);
        at += iov.iov_len;
        offset += iov.iov_len;
        size -= iov.iov_len;
    }
    return (size_t)(at - (uint8_t *)to);
}

void message_make_native(struct covey_msg *msg)
{
    uint64_t at = 0, count;
    int type;
    if (msg->representation == representation_native())
        return;
    while (item_header_decode(msg->own + at, msg->size - at, &type, &count)) {
        elements_swap(type, msg->own + at + ITEM_HEADER_BYTES, (size_t)count);
        at += item_bytes(type, count);
    }
    msg->representation = representation_native();
}
