/*
 * buffer.c - the table of message buffers, and the two that packing and unpacking work on.
 *
 * A number is given again soon after its buffer was freed, the last freed first: programs that
 * free what they no longer need see few numbers.
 */
#include "lib/pvm3/message/buffer.h"

#include <stdlib.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/message/inbox.h"

static struct buffer **table; /* by number; [0] is not used */
static int *free_ids;
static int free_count, table_size;
static struct buffer *sending, *receiving;

/* ---- the table ------------------------------------------------------------------------------ */

static int table_grow(void)
{
    int size = table_size == 0 ? 16 : 2 * table_size;
    struct buffer **grown = realloc(table, (size_t)size * sizeof *grown);
    if (grown == NULL)
        return PvmNoMem;
    table = grown;
    int *ids = realloc(free_ids, (size_t)size * sizeof *ids);
    if (ids == NULL)
        return PvmNoMem;
    free_ids = ids;
    for (int i = size - 1; i >= table_size && i > 0; i--) {
        table[i] = NULL;
        free_ids[free_count++] = i;
    }
    table_size = size;
    return PvmOk;
}

struct buffer *buffer_find(int id)
{
    return id > 0 && id < table_size ? table[id] : NULL;
}

struct buffer *buffer_create(int enc)
{
    if (free_count == 0 && table_grow() != PvmOk)
        return NULL;
    struct buffer *b = calloc(1, sizeof *b);
    if (b == NULL)
        return NULL;
    b->id = free_ids[--free_count];
    b->info.enc = enc;
    b->info.src = pvmmytid;
    table[b->id] = b;
    return b;
}

void buffer_destroy(struct buffer *b)
{
    if (b == NULL)
        return;
    inbox_remove(b);
    table[b->id] = NULL;
    free_ids[free_count++] = b->id;
    sending = sending == b ? NULL : sending;
    receiving = receiving == b ? NULL : receiving;
    body_fini(&b->body);
    covey_msg_free(b->received);
    free(b);
}

struct buffer *buffer_sending(void)
{
    return sending;
}

struct buffer *buffer_receiving(void)
{
    return receiving;
}

void buffer_receive(struct buffer *b)
{
    if (receiving != b)
        buffer_destroy(receiving);
    receiving = b;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static int enc_of(int encoding)
{
    switch (encoding) {
    case PvmDataDefault:
        return ENC_DEFAULT;
    case PvmDataRaw:
        return ENC_RAW;
    case PvmDataInPlace:
        return ENC_INPLACE;
    default:
        return PvmBadParam;
    }
}

int call_mkbuf(int encoding)
{
    int enc = enc_of(encoding);
    struct buffer *b = enc < 0 ? NULL : buffer_create(enc);
    if (b == NULL)
        return lpvmerr("pvm_mkbuf", enc < 0 ? enc : PvmNoMem);
    return b->id;
}

int call_initsend(int encoding)
{
    int id = call_mkbuf(encoding);
    if (id < 0)
        return lpvmerr("pvm_initsend", id);
    buffer_destroy(sending);
    sending = table[id];
    return id;
}

int call_freebuf(int id)
{
    if (id < 0)
        return lpvmerr("pvm_freebuf", PvmBadParam);
    if (id == 0)
        return PvmOk;
    struct buffer *b = buffer_find(id);
    if (b == NULL)
        return lpvmerr("pvm_freebuf", PvmNoSuchBuf);
    buffer_destroy(b);
    return PvmOk;
}

int call_getsbuf(void)
{
    return sending == NULL ? 0 : sending->id;
}

int call_getrbuf(void)
{
    return receiving == NULL ? 0 : receiving->id;
}

/* A buffer is packed or unpacked, but not both: it leaves the other place. */
static int switch_to(struct buffer **active, struct buffer **other, int id, const char *call)
{
    int before = *active == NULL ? 0 : (*active)->id;
    struct buffer *b = buffer_find(id);
    if (id < 0 || (id > 0 && b == NULL))
        return lpvmerr(call, id < 0 ? PvmBadParam : PvmNoSuchBuf);
    *active = b;
    if (b != NULL && *other == b)
        *other = NULL;
    return before;
}

int call_setsbuf(int id)
{
    return switch_to(&sending, &receiving, id, "pvm_setsbuf");
}

int call_setrbuf(int id)
{
    return switch_to(&receiving, &sending, id, "pvm_setrbuf");
}

/* ---- what is known of a buffer -------------------------------------------------------------- */

static int length_of(const struct buffer *b)
{
    return b->info.enc == ENC_INPLACE ? 0 : (int)b->body.size;
}

int call_bufinfo(int id, int *bytes, int *tag, int *tid)
{
    struct buffer *b = buffer_find(id);
    if (b == NULL)
        return lpvmerr("pvm_bufinfo", id <= 0 ? PvmBadParam : PvmNoSuchBuf);
    if (bytes != NULL)
        *bytes = length_of(b);
    if (tag != NULL)
        *tag = b->info.tag;
    if (tid != NULL)
        *tid = b->info.src;
    return PvmOk;
}

int call_getminfo(int id, struct pvmminfo *info)
{
    struct buffer *b = buffer_find(id);
    if (b == NULL || info == NULL)
        return lpvmerr("pvm_getminfo", b == NULL && id > 0 ? PvmNoSuchBuf : PvmBadParam);
    *info = b->info;
    info->len = length_of(b);
    return PvmOk;
}

int call_setminfo(int id, struct pvmminfo *info)
{
    struct buffer *b = buffer_find(id);
    if (b == NULL || info == NULL)
        return lpvmerr("pvm_setminfo", b == NULL && id > 0 ? PvmNoSuchBuf : PvmBadParam);
    int enc = b->info.enc; /* what was packed stays as it is */
    b->info = *info;
    b->info.enc = enc;
    return PvmOk;
}
