/*
 * nested.c - messages in messages: what is known of one and its bytes, or the bytes alone.
 */
#include "lib/pvm3/message/nested.h"

#include <limits.h>
#include <pvm3.h>
#include <string.h>

#include "lib/pvm3/core/error.h"
#include "lib/pvm3/message/pack.h"

#define HEADER 9 /* integers in front of a nested message */

static int pack_header(struct buffer *to, const struct buffer *from)
{
    const struct pvmminfo *m = &from->info;
    const int header[HEADER] = {
        (int)from->body.size, m->ctx, m->tag, m->wid, m->enc, m->crc, m->src, m->dst,
        from->swapped};
    return pack_array(to, PVM_INT, header, HEADER, 1);
}

static int pack_bytes(struct buffer *to, const struct buffer *from)
{
    for (int i = 0; i < from->body.count; i++) {
        const struct body_segment *s = &from->body.segments[i];
        uint8_t *room = body_extend(&to->body, s->size);
        if (room == NULL)
            return PvmNoMem;
        memcpy(room, s->bytes, s->size);
    }
    return PvmOk;
}

static size_t filling_of(size_t size)
{
    return (4 - size % 4) % 4;
}

/* The bytes of a nested message are filled up as those of an array are. */
static int pack_filled(struct buffer *to, const struct buffer *from)
{
    size_t size = to->info.enc == ENC_DEFAULT ? filling_of(from->body.size) : 0;
    int error = pack_bytes(to, from);
    uint8_t *room = error == PvmOk ? body_extend(&to->body, size) : NULL;
    if (room == NULL)
        return PvmNoMem;
    memset(room, 0, size);
    return PvmOk;
}

/* The two buffers of a call, or why there are not. */
static int nested_check(int id, struct buffer **from)
{
    *from = buffer_find(id);
    if (id <= 0 || *from == NULL)
        return id <= 0 ? PvmBadParam : PvmNoSuchBuf;
    if (buffer_sending() == NULL)
        return PvmNoBuf;
    return *from == buffer_sending() ? PvmBadParam : PvmOk;
}

int nested_pack(struct buffer *to, const struct buffer *from)
{
    int error = to->info.enc == ENC_INPLACE ? PvmNotImpl : PvmOk;
    if (from->body.size > INT_MAX)
        error = PvmOverflow; /* its length is an integer */
    if (error == PvmOk)
        error = pack_header(to, from);
    return error == PvmOk ? pack_filled(to, from) : error;
}

int pvm_pkmesg(int id)
{
    struct buffer *from, *to = buffer_sending();
    int error = nested_check(id, &from);
    if (error == PvmOk)
        error = nested_pack(to, from);
    return error_reported("pvm_pkmesg", error);
}

int pvm_pkmesgbody(int id)
{
    struct buffer *from, *to = buffer_sending();
    int error = nested_check(id, &from);
    if (error == PvmOk && (from->info.enc != to->info.enc || from->swapped))
        error = PvmMismatch;
    if (error == PvmOk)
        error = pack_bytes(to, from);
    return error_reported("pvm_pkmesgbody", error);
}

int nested_unpack(struct buffer *from, struct buffer **nested)
{
    int h[HEADER];
    int error = unpack_array(from, PVM_INT, h, HEADER, 1);
    if (error != PvmOk)
        return error;
    if (h[0] < 0 || (size_t)h[0] > body_left(&from->body))
        return PvmBadMsg;
    struct buffer *b = buffer_create(h[4] == ENC_INPLACE ? ENC_RAW : h[4]);
    uint8_t *room = b == NULL ? NULL : body_extend(&b->body, (size_t)h[0]);
    if (room == NULL) {
        buffer_destroy(b);
        return PvmNoMem;
    }
    b->info = (struct pvmminfo){.ctx = h[1],
                                .tag = h[2],
                                .wid = h[3],
                                .enc = b->info.enc,
                                .crc = h[5],
                                .src = h[6],
                                .dst = h[7]};
    b->swapped = (h[8] != 0) != from->swapped;
    error = unpack_array(from, PVM_BYTE, room, h[0], 1);
    if (error == PvmOk)
        *nested = b;
    else
        buffer_destroy(b);
    return error;
}

int pvm_upkmesg(void)
{
    struct buffer *nested = NULL;
    int error = buffer_receiving() == NULL ? PvmNoBuf : nested_unpack(buffer_receiving(), &nested);
    return error == PvmOk ? nested->id : lpvmerr("pvm_upkmesg", error);
}
