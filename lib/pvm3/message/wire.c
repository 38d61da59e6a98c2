/*
 * wire.c - a buffer as a message of Covey, and back.
 */
#include "lib/pvm3/message/wire.h"

#include <string.h>

#include "lib/pvm3/core/abi.h"

#define VERSION 1
#define HEADER 7
#define ORDER_LITTLE 1
#define ORDER_BIG 2

static int own_order(void)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ORDER_LITTLE : ORDER_BIG;
}

/* What was packed in place arrives as raw data. */
static int sent_enc(const struct buffer *b)
{
    return b->info.enc == ENC_INPLACE ? ENC_RAW : b->info.enc;
}

covey_msg_t *wire_message(const struct buffer *b)
{
    const struct pvmminfo *m = &b->info;
    int order = b->swapped ? ORDER_LITTLE + ORDER_BIG - own_order() : own_order();
    const int32_t header[HEADER] = {VERSION, m->ctx, m->tag, m->wid, sent_enc(b), m->crc, order};
    covey_msg_t *msg = covey_msg_new();
    int error = msg == NULL ? COVEY_ENOMEM : covey_pack_int32(msg, header, HEADER, 1);
    for (int i = 0; i < b->body.count && error == COVEY_OK; i++) {
        const struct body_segment *s = &b->body.segments[i];
        error = covey_pack_inplace(msg, COVEY_BYTES, s->bytes, s->size);
    }
    if (error == COVEY_OK)
        return msg;
    covey_msg_free(msg);
    return NULL;
}

static int read_segments(struct buffer *b, covey_msg_t *msg)
{
    const void *bytes;
    size_t size;
    int error = COVEY_OK;
    while (error == COVEY_OK) {
        error = covey_unpack_view(msg, COVEY_BYTES, &bytes, &size);
        if (error == COVEY_OK && body_refer(&b->body, bytes, size) != PvmOk)
            error = COVEY_ENOMEM;
    }
    return error == COVEY_EEND ? COVEY_OK : error;
}

struct buffer *wire_buffer(covey_msg_t **msg)
{
    int32_t h[HEADER];
    struct covey_info from;
    int error = covey_unpack_int32(*msg, h, HEADER, 1);
    struct buffer *b = error == COVEY_OK && h[0] == VERSION ? buffer_create(h[4]) : NULL;
    if (b == NULL)
        return NULL;
    covey_msg_info(*msg, &from);
    b->info = (struct pvmminfo){.ctx = h[1], .tag = h[2], .wid = h[3], .enc = h[4], .crc = h[5]};
    b->info.enc = sent_enc(b); /* nobody's array is in place here */
    b->info.src = from.source;
    b->info.dst = pvmmytid;
    b->swapped = h[6] != own_order();
    if (read_segments(b, *msg) != COVEY_OK) {
        buffer_destroy(b);
        return NULL;
    }
    b->received = *msg;
    *msg = NULL;
    return b;
}

struct buffer *wire_copy(const struct buffer *b)
{
    struct buffer *copy = buffer_create(sent_enc(b));
    if (copy == NULL || (b->body.size > 0 && body_append(&copy->body, &b->body) != PvmOk)) {
        buffer_destroy(copy);
        return NULL;
    }
    int enc = copy->info.enc;
    copy->info = b->info;
    copy->info.enc = enc;
    copy->info.src = pvmmytid;
    copy->info.dst = pvmmytid;
    copy->swapped = b->swapped;
    return copy;
}
