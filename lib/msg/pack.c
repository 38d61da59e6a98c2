/*
 * pack.c - building messages. Copied items go into the message's own memory; an array packed in
 * place becomes a segment that points at the caller's.
 */
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "lib/msg/spare.h"

#include <stdlib.h>
#include <string.h>

static int own_reserve(struct covey_msg *msg, size_t more)
{
    if (msg->own_capacity - msg->own_used >= more)
        return COVEY_OK;
    if (!addressable((uint64_t)msg->own_used + more))
        return error_code(COVEY_ENOMEM);
    size_t capacity = msg->own_capacity < 256 ? 256 : msg->own_capacity;
    while (capacity - msg->own_used < more)
        capacity *= 2;
    uint8_t *own = spare_resize(msg->own, capacity);
    if (own == NULL)
        return error_code(COVEY_ENOMEM);
    msg->own = own;
    msg->own_capacity = capacity;
    return COVEY_OK;
}

static int segments_reserve(struct covey_msg *msg, size_t more)
{
    if (msg->segment_capacity - msg->segment_count >= more)
        return COVEY_OK;
    size_t capacity = 2 * msg->segment_capacity + more;
    struct segment *segments = realloc(msg->segments, capacity * sizeof *segments);
    if (segments == NULL)
        return error_code(COVEY_ENOMEM);
    msg->segments = segments;
    msg->segment_capacity = capacity;
    return COVEY_OK;
}

/* Room for `bytes` of own memory and `segments` more: what follows cannot fail. */
static int pack_reserve(struct covey_msg *msg, size_t bytes, size_t segments)
{
    int error = own_reserve(msg, bytes);
    return error == COVEY_OK ? segments_reserve(msg, segments) : error;
}

static void segment_add(struct covey_msg *msg, struct segment segment)
{
    msg->segments[msg->segment_count++] = segment;
    msg->size += segment.size;
}

/* The next `size` reserved bytes of own memory as part of the message. */
static uint8_t *own_extend(struct covey_msg *msg, size_t size)
{
    uint8_t *at = msg->own + msg->own_used;
    struct segment *last = msg->segment_count == 0 ? NULL : &msg->segments[msg->segment_count - 1];
    if (last != NULL && last->foreign == NULL && last->offset + last->size == msg->own_used) {
        last->size += size;
        msg->size += size;
    } else {
        segment_add(msg, (struct segment){.offset = msg->own_used, .size = size});
    }
    msg->own_used += size;
    return at;
}

/* The packed size of an item that fits the message, which is made ready for it, or an error. */
static int64_t item_check(struct covey_msg *msg, int type, uint64_t count)
{
    if (msg == NULL || covey_type_size(type) == 0)
        return error_set(COVEY_EINVAL, "pack: unknown type %d", type);
    uint64_t size = item_bytes(type, count);
    if (size == 0 || msg->size + size > COVEY_MESSAGE_BYTES_MAX)
        return error_set(COVEY_ETOOBIG,
                         "pack: %llu elements of %s make the message exceed 2^40 bytes",
                         (unsigned long long)count, covey_type_name(type));
    if (!addressable(size))
        return error_code(COVEY_ENOMEM);
    message_make_native(msg); /* one that was received and is packed on */
    return (int64_t)size;
}

int covey_pack(covey_msg_t *msg, int type, const void *base, size_t count, ptrdiff_t stride)
{
    int64_t size = item_check(msg, type, count);
    if (size < 0)
        return (int)size;
    if (count > 0 && (base == NULL || (stride == 0 && count > 1)))
        return error_set(COVEY_EINVAL, "pack: %s", base == NULL ? "NULL array" : "stride 0");
    if (pack_reserve(msg, (size_t)size, 1) != COVEY_OK)
        return COVEY_ENOMEM;
    uint8_t *at = own_extend(msg, (size_t)size);
    size_t width = covey_type_size(type);
    item_header_encode(at, type, count);
    elements_copy(at + ITEM_HEADER_BYTES, 1, base, stride, width, count);
    size_t end = ITEM_HEADER_BYTES + count * width;
    memset(at + end, 0, (size_t)size - end);
    return COVEY_OK;
}

int covey_pack_inplace(covey_msg_t *msg, int type, const void *base, size_t count)
{
    int64_t size = item_check(msg, type, count);
    if (size < 0)
        return (int)size;
    if (base == NULL || count == 0)
        return covey_pack(msg, type, base, count, 1);
    size_t bytes = count * covey_type_size(type);
    size_t padding = (size_t)size - ITEM_HEADER_BYTES - bytes;
    if (pack_reserve(msg, ITEM_HEADER_BYTES + padding, 3) != COVEY_OK)
        return COVEY_ENOMEM;
    item_header_encode(own_extend(msg, ITEM_HEADER_BYTES), type, count);
    segment_add(msg, (struct segment){.foreign = base, .size = bytes});
    if (padding > 0)
        memset(own_extend(msg, padding), 0, padding);
    return COVEY_OK;
}

int covey_pack_string(covey_msg_t *msg, const char *text)
{
    if (text == NULL)
        return error_set(COVEY_EINVAL, "pack: NULL string");
    return covey_pack(msg, COVEY_STRING, text, strlen(text), 1);
}

int covey_pack_bytes(covey_msg_t *msg, const void *bytes, size_t count)
{
    return covey_pack(msg, COVEY_BYTES, bytes, count, 1);
}

/* The nested message carries its representation in its first 8 bytes, as it may differ from that
 * of the message around it (a message that was received and is passed on). */
int covey_pack_msg(covey_msg_t *msg, const covey_msg_t *nested)
{
    if (nested == NULL || nested == msg)
        return error_set(COVEY_EINVAL, "pack: no message, or the message itself");
    int64_t size = item_check(msg, COVEY_MESSAGE, nested->size + 8);
    if (size < 0)
        return (int)size;
    if (pack_reserve(msg, (size_t)size, 1) != COVEY_OK)
        return COVEY_ENOMEM;
    uint8_t *at = own_extend(msg, (size_t)size);
    item_header_encode(at, COVEY_MESSAGE, nested->size + 8);
    at += ITEM_HEADER_BYTES;
    memset(at, 0, (size_t)size - ITEM_HEADER_BYTES);
    at[0] = nested->representation;
    message_copy(nested, 0, at + 8, (size_t)nested->size);
    return COVEY_OK;
}
