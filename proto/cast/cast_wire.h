/*
 * cast_wire.h - what casts look like on the wire.
 *
 *   CAST = sealed-head flags=u8 u8(0) back=u16 *u8 tag       ; a fragment, see datagram.h
 *     its session names the channel: name=20 bits, sender's host index=12 bits
 *     name: the lowest bits of the channel's id, which no two open channels of a sender have alike;
 *     fragments of an earlier channel of that name are sealed by another key
 *     its number counts the channel's fragments from 0 and is, as a fragment is never sealed
 *     twice, never used twice under the channel's key
 *   flags    = CAST_FIRST and CAST_LAST: of a message; CAST_ASK: acknowledge at once
 *   back     = every host of the set has all fragments below number - back
 *
 *   control  = type=u8 3u8(0) sender=u32 id=u64 incarnation=u64 body  ; payload of CAST_CONTROL
 *     id: counts the channels of a sender, never twice in its incarnation
 *   OPEN     = total=u8 u8(0) slot-bytes=u16 window=u16 members=set   ; sender to members
 *   OPENED   =                                                       ; member to sender
 *   ACK      = have=u64 limit=u64 missing=u16 *(first=u64 count=u16) ; member to sender
 *   SYNC     = next=u64 stable=u64                                   ; sender to members
 *   CLOSE    =                                                       ; sender to members
 *   FLUSH    = have=u64 round=u64 total=u8 ended=u8 u16(0) members=set ; member to member
 *   DATA     = CAST                                ; member to member, or sender to members
 *   DONE     =                                                       ; member to member
 *   ORDER    = number=u64 *u8                                        ; to the sequencer: a message
 *
 *   have: all fragments below it are here; limit: those from it on are not wanted yet
 *   round: host_set_hash() of the members that are gone
 *   a message of a channel in total order begins with origin=u32 number=u64
 */
#ifndef COVEY_PROTO_CAST_WIRE_H
#define COVEY_PROTO_CAST_WIRE_H

#include "proto/auth/auth.h"
#include "proto/cast/cast.h"
#include "proto/wire/datagram.h"
#include "proto/wire/host_set.h"

#define CAST_HEAD_BYTES 4
#define CAST_PREFIX_BYTES (DATAGRAM_SEALED_BYTES + CAST_HEAD_BYTES)
#define CAST_OVERHEAD_BYTES (CAST_PREFIX_BYTES + AUTH_TAG_BYTES)
#define CAST_NAME_MAX 0xfffffu
#define CAST_MISSING_MAX 32
#define CAST_CONTROL_BYTES 24 /* before the body */

enum cast_flags { CAST_FIRST = 1, CAST_LAST = 2, CAST_ASK = 4 };

enum cast_type {
    CAST_OPEN = 1,
    CAST_OPENED = 2,
    CAST_ACK = 3,
    CAST_SYNC = 4,
    CAST_CLOSE = 5,
    CAST_FLUSH = 6,
    CAST_DATA = 7,
    CAST_DONE = 8,
    CAST_ORDER = 9
};

/* Whose fragments they are: a channel of one incarnation of one host. */
struct cast_key {
    uint32_t sender;
    uint64_t id, incarnation;
};

/* What fragments of the channel call it. */
static inline uint32_t cast_name(uint64_t id)
{
    return (uint32_t)(id & CAST_NAME_MAX);
}

struct cast_missing {
    uint64_t first;
    uint16_t count;
};

struct cast_control {
    uint8_t type;
    struct cast_key key;
    bool ended;                  /* FLUSH: the channel ended there, no answer is needed */
    bool total;                  /* OPEN, FLUSH */
    uint16_t slot_bytes, window; /* OPEN */
    struct host_set members;     /* OPEN, FLUSH */
    uint64_t have;               /* ACK, FLUSH */
    uint64_t limit;              /* ACK */
    uint64_t next, stable;       /* SYNC */
    uint64_t round;              /* FLUSH */
    uint64_t number;             /* ORDER */
    uint16_t missing_count;      /* ACK */
    struct cast_missing missing[CAST_MISSING_MAX];
    const uint8_t *bytes; /* DATA, ORDER: inside what was read */
    size_t size;
};

void cast_put_control(struct cursor *c, const struct cast_control *control);
/* Ask cursor_done(). */
void cast_get_control(struct cursor *c, struct cast_control *control);

/* A fragment before it is sealed and after it was opened; the payload lies behind the prefix. */
struct cast_fragment {
    uint32_t sender, name;
    uint64_t number;
    uint8_t flags;
    uint16_t back;
    size_t size; /* of the whole datagram */
};

/* What seals and opens the fragments of a channel. */
struct cast_seal {
    struct auth_cipher *cipher;
    uint32_t vm;
    bool encrypt;
};

/* The channel's key: it binds the sender's id, so that no two daemons ever have the same. False:
 * memory is exhausted. */
bool cast_seal_derive(struct cast_seal *seal, const uint8_t vm_key[AUTH_KEY_BYTES],
                      const uint8_t id[HOST_ID_BYTES], const struct cast_key *key);

void cast_seal_end(struct cast_seal *seal);

/* Writes prefix and tag around the payload that lies at bytes + CAST_PREFIX_BYTES. */
void cast_seal_put(const struct cast_seal *seal, const struct cast_fragment *fragment,
                   uint8_t *bytes);

/* Whose fragment a datagram says it is, before anything of it is believed; false: none. */
bool cast_peek(const uint8_t *bytes, size_t size, uint32_t vm, struct cast_fragment *fragment);

/* Opens a datagram that was peeked at: sets flags and back, and *payload, which is in the datagram
 * or, when the VM encrypts, in `room` (as large as the datagram). False: not authentic. */
bool cast_seal_open(const struct cast_seal *seal, const uint8_t *bytes,
                    struct cast_fragment *fragment, uint8_t *room, const uint8_t **payload);

static inline size_t cast_payload_bytes(const struct cast_fragment *fragment)
{
    return fragment->size - CAST_OVERHEAD_BYTES;
}

#endif
