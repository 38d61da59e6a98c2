/*
 * unpack.c - reading messages. What is read may come from another machine: every item header is
 * checked against the bytes that are there before anything is taken, and the first read turns the
 * arrays to this machine's byte order.
 */
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "lib/msg/spare.h"

#include <string.h>

struct item {
    int type;
    uint64_t count;      /* elements left */
    const uint8_t *data; /* the first of them */
};

static bool scattered(const struct covey_msg *msg)
{
    return msg->segment_count > 1 || (msg->segment_count == 1 && msg->segments[0].foreign != NULL);
}

/* Reading wants a message in one piece and in this machine's representation. */
static int make_readable(struct covey_msg *msg)
{
    message_make_native(msg);
    if (!scattered(msg))
        return COVEY_OK;
    size_t size = (size_t)msg->size;
    uint8_t *own = addressable(msg->size) ? spare_take(size) : NULL;
    if (own == NULL)
        return error_code(COVEY_ENOMEM);
    message_copy(msg, 0, own, size);
    spare_give(msg->own);
    msg->own = own;
    msg->own_used = msg->own_capacity = size;
    msg->segments[0] = (struct segment){.size = size};
    msg->segment_count = 1;
    return COVEY_OK;
}

/* The item that is read next: one that is only partly read, or the one after it. Works on a
 * scattered message too, but then without the data. */
static int item_next(const struct covey_msg *msg, struct item *item)
{
    uint8_t header[ITEM_HEADER_BYTES];
    uint64_t left = msg->size - msg->read_at;
    if (left == 0)
        return error_set(COVEY_EEND, "unpack: the message has no further item");
    if (message_copy(msg, msg->read_at, header, sizeof header) < sizeof header ||
        !item_header_decode(header, left, &item->type, &item->count))
        return error_set(COVEY_EPROTO, "unpack: the message is damaged at byte %zu", msg->read_at);
    item->count -= msg->elements_read;
    item->data = scattered(msg) ? NULL
                                : msg->own + msg->read_at + ITEM_HEADER_BYTES +
                                      msg->elements_read * covey_type_size(item->type);
    return COVEY_OK;
}

/* Moves past `count` elements of the item that item_next() gave. */
static void item_advance(struct covey_msg *msg, const struct item *item, uint64_t count)
{
    if (count < item->count) {
        msg->elements_read += (size_t)count;
        return;
    }
    msg->read_at += (size_t)item_bytes(item->type, msg->elements_read + item->count);
    msg->elements_read = 0;
}

/* The next item if it has that type and at least `count` elements. */
static int item_expect(struct covey_msg *msg, int type, size_t count, struct item *item)
{
    if (msg == NULL || covey_type_size(type) == 0)
        return error_set(COVEY_EINVAL, "unpack: unknown type %d", type);
    int error = make_readable(msg);
    if (error == COVEY_OK)
        error = item_next(msg, item);
    if (error == COVEY_EEND)
        return error_set(error, "unpack: wanted %zu %s, the message has no further item", count,
                         covey_type_name(type));
    if (error != COVEY_OK)
        return error;
    if (item->type != type || item->count < count)
        return error_set(COVEY_ETYPE, "unpack: wanted %zu %s, the message has %llu %s", count,
                         covey_type_name(type), (unsigned long long)item->count,
                         covey_type_name(item->type));
    return COVEY_OK;
}

int covey_unpack(covey_msg_t *msg, int type, void *base, size_t count, ptrdiff_t stride)
{
    struct item item;
    if (count > 0 && (base == NULL || (stride == 0 && count > 1)))
        return error_set(COVEY_EINVAL, "unpack: %s", base == NULL ? "NULL array" : "stride 0");
    int error = item_expect(msg, type, count, &item);
    if (error != COVEY_OK)
        return error;
    elements_copy(base, stride, item.data, 1, covey_type_size(type), count);
    item_advance(msg, &item, count);
    return COVEY_OK;
}

int covey_peek(const covey_msg_t *msg, int *type, size_t *count)
{
    struct item item;
    int error = item_next(msg, &item);
    if (error != COVEY_OK)
        return error;
    *type = item.type;
    *count = (size_t)item.count;
    return COVEY_OK;
}

int covey_unpack_view(covey_msg_t *msg, int type, const void **base, size_t *count)
{
    struct item item;
    int error = item_expect(msg, type, 0, &item);
    if (error != COVEY_OK)
        return error;
    *base = item.data;
    *count = (size_t)item.count;
    item_advance(msg, &item, item.count);
    return COVEY_OK;
}

int covey_unpack_string(covey_msg_t *msg, char *text, size_t capacity)
{
    struct item item;
    int error = item_expect(msg, COVEY_STRING, 0, &item);
    if (error != COVEY_OK)
        return error;
    if (text == NULL || item.count >= capacity)
        return error_set(COVEY_ETRUNC,
                         "unpack: a string of %llu bytes and its NUL need more than %zu",
                         (unsigned long long)item.count, capacity);
    memcpy(text, item.data, (size_t)item.count);
    text[item.count] = '\0';
    item_advance(msg, &item, item.count);
    return COVEY_OK;
}

int covey_unpack_bytes(covey_msg_t *msg, void *bytes, size_t count)
{
    return covey_unpack(msg, COVEY_BYTES, bytes, count, 1);
}

int covey_unpack_msg(covey_msg_t *msg, covey_msg_t **nested)
{
    struct item item;
    int error = item_expect(msg, COVEY_MESSAGE, 8, &item);
    if (error != COVEY_OK)
        return error;
    uint8_t representation = item.data[0];
    if (representation != REPRESENTATION_LITTLE && representation != REPRESENTATION_BIG)
        return error_set(COVEY_EPROTO, "unpack: a nested message of unknown representation");
    struct covey_msg *copy = message_receive(item.count - 8, representation);
    if (copy == NULL)
        return COVEY_ENOMEM;
    memcpy(message_bytes(copy), item.data + 8, (size_t)item.count - 8);
    copy->info = msg->info;
    item_advance(msg, &item, item.count);
    *nested = copy;
    return COVEY_OK;
}

int covey_unpack_output(covey_msg_t *msg, int *stream, const char **text, size_t *bytes)
{
    int32_t number;
    const void *base;
    int error = covey_unpack_int32(msg, &number, 1, 1);
    if (error == COVEY_OK)
        error = covey_unpack_view(msg, COVEY_BYTES, &base, bytes);
    if (error != COVEY_OK)
        return error;
    *stream = number;
    *text = base;
    return COVEY_OK;
}

int covey_unpack_notice(covey_msg_t *msg, struct covey_notice *notice)
{
    int32_t fields[5];
    int error = covey_unpack_int32(msg, fields, 5, 1);
    if (error != COVEY_OK)
        return error;
    *notice = (struct covey_notice){fields[0], fields[1], fields[2], fields[3], fields[4]};
    return COVEY_OK;
}

int covey_unpack_end(covey_msg_t *msg, struct covey_end *end)
{
    struct covey_notice notice;
    struct covey_end e;
    int32_t fields[2];
    int error = covey_unpack_notice(msg, &notice);
    if (error == COVEY_OK)
        error = covey_unpack_int32(msg, fields, 2, 1);
    if (error == COVEY_OK)
        error = covey_unpack_string(msg, e.host_name, sizeof e.host_name);
    if (error == COVEY_OK)
        error = covey_unpack_string(msg, e.command, sizeof e.command);
    if (error != COVEY_OK)
        return error;
    e.notice = notice;
    e.parent = fields[0];
    e.asked = fields[1];
    *end = e;
    return COVEY_OK;
}
