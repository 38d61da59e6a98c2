/*
 * window_order.c - the messages of windows: making them, and refusing those that are none. See
 * window_order.h.
 */
#include "lib/onesided/window_order.h"

#define WORDS 4

bool window_order_type_ok(int type)
{
    return covey_type_size(type) > 0 && type != COVEY_STRING && type != COVEY_MESSAGE;
}

bool window_order_is_within(uint64_t at, int type, uint64_t count, uint64_t bytes)
{
    return at <= bytes && count <= (bytes - at) / covey_type_size(type);
}

static bool has_array(int kind)
{
    return kind == WINDOW_PUT || kind == WINDOW_DATA;
}

covey_msg_t *window_order_message(const struct window_order *o, const void *array, bool lend)
{
    const uint64_t words[WORDS] = {o->number, o->at, (uint64_t)o->type, o->count};
    covey_msg_t *msg = covey_msg_new();
    int error = msg == NULL ? COVEY_ENOMEM : covey_pack(msg, COVEY_UINT64, words, WORDS, 1);
    if (error == COVEY_OK && has_array(o->kind))
        error = lend ? covey_pack_inplace(msg, o->type, array, (size_t)o->count)
                     : covey_pack(msg, o->type, array, (size_t)o->count, 1);
    if (error == COVEY_OK)
        return msg;
    covey_msg_free(msg);
    return NULL;
}

const char *window_order_read(covey_msg_t *msg, int kind, struct window_order *o)
{
    uint64_t words[WORDS];
    int type = 0;
    size_t count = 0;
    if (kind < WINDOW_PUT || kind >= WINDOW_ORDER_KINDS)
        return "an order of an unknown kind";
    if (covey_unpack(msg, COVEY_UINT64, words, WORDS, 1) != COVEY_OK)
        return "an order without its numbers";
    if (words[2] > INT32_MAX)
        return "an order of an unknown type";
    *o = (struct window_order){kind, (int)words[2], words[0], words[1], words[3]};
    if (kind != WINDOW_GET && !has_array(kind))
        return NULL;
    if (!window_order_type_ok(o->type))
        return "an array of a type that a window has not";
    if (o->count == 0 || !window_order_is_within(0, o->type, o->count, WINDOW_ORDER_BYTES))
        return "an empty array, or one that is too long for one order";
    if (has_array(kind) &&
        (covey_peek(msg, &type, &count) != COVEY_OK || type != o->type || count != o->count))
        return "another array than it says";
    return NULL;
}
