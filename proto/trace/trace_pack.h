/*
 * trace_pack.h - records of a trace as a task writes them down: of most of them a few bytes. A task
 * does much the same again and again: what differs is when, and a number that counts on. So both
 * ends keep what came last of each kind, name and peer, and a record says how it differs.
 *
 *   page   = *record [%xFF]     ; TRACE_PAGE_BYTES, of which the rest, behind FF, means nothing
 *   record = how ended duration
 *          / how ended duration changes                ; of TRACE_PACK_CHANGED
 *          / how ended duration what peer changes      ; of TRACE_PACK_NEW: all was 0 before
 *   how    = u8                 ; its place among what is kept, and enum trace_pack_how above it
 *   ended  = number             ; ticks since the record before it, of a page's first one: since 0
 *   duration = number           ; ticks
 *   what   = number             ; the highest 16 bits of word 1: name and kind
 *   peer   = number
 *   changes = sequence bytes tag ; 3 signed numbers
 *   number = *%x80-FF %x00-7F   ; 7 bits each, the lowest first; a signed one is twice that, or
 *                               ; twice what it is below 0, less one
 *
 * Each page is understood without those before it: what is lost of a trace takes a page with it.
 */
#ifndef COVEY_PROTO_TRACE_PACK_H
#define COVEY_PROTO_TRACE_PACK_H

#include "proto/trace/trace_record.h"
#include "proto/wire/cursor.h"

#include <stddef.h>

#define TRACE_PAGE_BYTES 4096u
#define TRACE_PACKED_MAX 42u /* bytes of one record */
#define TRACE_PAGE_END 0xff
#define TRACE_PACK_PLACES 63 /* so that FF is no record */

enum trace_pack_how {
    TRACE_PACK_SAME = 0x00, /* as the last one */
    TRACE_PACK_NEXT = 0x40, /* its sequence is the next one */
    TRACE_PACK_CHANGED = 0x80,
    TRACE_PACK_NEW = 0xc0
};

/* Of a page, as far as it goes; all 0 at its beginning. */
struct trace_pack {
    uint64_t ended;
    uint64_t known; /* bits: places that have something */
    struct trace_kept {
        uint64_t word2, word3;
        uint16_t what;
    } kept[TRACE_PACK_PLACES];
};

static inline void trace_pack_begin(struct trace_pack *pack)
{
    pack->ended = 0;
    pack->known = 0;
}

/* TRACE_PACKED_MAX bytes at most, and how many. */
size_t trace_pack_put(struct trace_pack *pack, uint8_t *at, const struct trace_record *record);

/* 1: the next record. 0: the page ends here. -1: that is no record. */
int trace_pack_get(struct trace_pack *pack, struct cursor *c, struct trace_record *record);

#endif
