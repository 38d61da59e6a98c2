/*
 * datagram.h - the wire between two daemons.
 *
 *   datagram = head body
 *   head     = magic=u16(0xc04e) version=u8 kind=u8 vm=u32
 *              ; vm: derived from the VM's key and name, tells the VMs of one network apart
 *
 *   HELLO    = head hello mac    ; "I want to talk to you": initiator to every candidate address
 *   WELCOME  = head session responder-session=u32 nonce mac
 *   REFUSE   = head session reason=u8 3u8(0) mac
 *              ; mac(handshake key; "answer", the HELLO's body and the answer up to here)
 *   ROLL     = head hello mac    ; "I hear no coordinator: are you there?", to every candidate
 *              ; address; session: the mark of the epoch whose coordinator is silent (table.h)
 *   HERE     = head host=u32 u32(0) mac
 *              ; the host's own index; mac as of an answer to HELLO
 *   CONFIRM  = sealed-head hello nonce tag
 *   DATA     = sealed-head *u8 tag             ; payload: see window.h
 *   PING, PONG = sealed-head tag
 *   PROBE, PROBED, CALL, CALL-BACK = sealed-head target=u32 tag
 *   CHALLENGE, RESPONSE = sealed-head token=u64 tag
 *              ; to an address that the peer was heard from; back from there (session_path.c)
 *   CAST     = sealed-head *u8 tag             ; to many hosts at once, no session's: cast_wire.h
 *
 *   sealed-head = head session number=u64
 *   session  = u32     ; the receiver's: count=20 bits, host index of the peer=12 bits
 *   number   = u64     ; never twice under one key; highest bit set in all kinds but DATA, CAST
 *   hello    = from=u32 to=u32 session=u32 from-id=16u8 to-id=16u8 nonce
 *              ; host indices and ids; session: the initiator's, for answers
 *   nonce, mac, tag = 16u8
 *              ; HELLO's mac(handshake key; all before it); tag: auth_seal() of all before it
 *
 *   detour   = magic=u16(0xc04f) u16(0) datagram
 *              ; over UDP, of a session on raw Ethernet whose segment carries nothing (session.h)
 *
 * In a VM that encrypts, what stands between sealed-head and tag is encrypted, except in CONFIRM:
 * hosts' indices and ids and the nonces are what the keys are made of. So an onlooker sees who
 * talks to whom, when, how many datagrams of which kind and size; nothing of what.
 *
 * All numbers are big-endian. An answer to a datagram that anyone may have replayed is never longer
 * than that datagram; to an address from which an authentic one came that may have been sent on go
 * at most three times as many bytes.
 */
#ifndef COVEY_PROTO_DATAGRAM_H
#define COVEY_PROTO_DATAGRAM_H

#include "proto/wire/cursor.h"
#include "proto/wire/frame.h"
#include "proto/wire/host.h"
#include "proto/wire/sizes.h"

#define DATAGRAM_MAGIC 0xc04e
#define DATAGRAM_HEAD_BYTES 8
#define DETOUR_MAGIC 0xc04f
#define DETOUR_BYTES 4           /* before the datagram */
#define DATAGRAM_SEALED_BYTES 20 /* before the payload of a sealed datagram */
#define DATAGRAM_OVERHEAD_BYTES (DATAGRAM_SEALED_BYTES + AUTH_TAG_BYTES)
#define DATAGRAM_BYTES_MAX 65535
#define DATAGRAM_CONTROL_NUMBER (UINT64_C(1) << 63)

#define HELLO_BODY_BYTES (12 + 2 * HOST_ID_BYTES + AUTH_NONCE_BYTES)
#define HELLO_BYTES (DATAGRAM_HEAD_BYTES + HELLO_BODY_BYTES + AUTH_TAG_BYTES)
#define WELCOME_BYTES (DATAGRAM_HEAD_BYTES + 8 + AUTH_NONCE_BYTES + AUTH_TAG_BYTES)
#define REFUSE_BYTES (DATAGRAM_HEAD_BYTES + 8 + AUTH_TAG_BYTES)
#define HERE_BYTES (DATAGRAM_HEAD_BYTES + 8 + AUTH_TAG_BYTES)
#define CONFIRM_BYTES (DATAGRAM_OVERHEAD_BYTES + HELLO_BODY_BYTES + AUTH_NONCE_BYTES)

/* X(number, NAME, "name as covey sniff shows it") */
#define DATAGRAM_KINDS(X)                                                                          \
    X(1, HELLO, "hello")                                                                           \
    X(2, WELCOME, "welcome")                                                                       \
    X(3, REFUSE, "refuse")                                                                         \
    X(4, CONFIRM, "confirm")                                                                       \
    X(5, DATA, "data")                                                                             \
    X(6, PING, "ping")                                                                             \
    X(7, PONG, "pong")                                                                             \
    X(8, PROBE, "probe")   /* "do you hear host target?" */                                        \
    X(9, PROBED, "probed") /* "I hear host target" */                                              \
    X(10, CALL, "call")    /* to the coordinator: "I cannot reach target: have it call me" */      \
    X(11, CALL_BACK, "call-back") /* from the coordinator: "shake hands with target" */            \
    X(12, CAST, "cast")           /* a fragment of a multicast */                                  \
    X(13, CHALLENGE, "challenge") /* "are you at this address?" */                                 \
    X(14, RESPONSE, "response")   /* "I am" */                                                     \
    X(15, ROLL, "roll")           /* "are you there?", without a session */                        \
    X(16, HERE, "here")           /* "I am" */

enum datagram_kind {
#define DATAGRAM_ENUM(number, name, text) DATAGRAM_##name = number,
    DATAGRAM_KINDS(DATAGRAM_ENUM)
#undef DATAGRAM_ENUM
};

/* What stands between sealed-head and tag. */
#define DATAGRAM_TARGET_BYTES 4
#define DATAGRAM_TOKEN_BYTES 8

enum datagram_reason {
    REASON_GONE = 1,    /* the host was declared gone, or never invited */
    REASON_IDENTITY = 2 /* another daemon holds that index */
};

struct hello {
    uint32_t from, to;
    uint32_t session;
    uint8_t from_id[HOST_ID_BYTES], to_id[HOST_ID_BYTES];
    uint8_t nonce[AUTH_NONCE_BYTES];
};

/* A datagram taken apart; only the fields of its kind are set. Pointers look into the datagram. */
struct datagram {
    uint8_t version, kind;
    uint32_t session;
    uint64_t number;
    struct hello hello;              /* HELLO, ROLL, CONFIRM */
    uint32_t responder_session;      /* WELCOME */
    uint32_t host;                   /* HERE */
    uint8_t nonce[AUTH_NONCE_BYTES]; /* WELCOME, CONFIRM: the responder's */
    uint8_t reason;                  /* REFUSE */
    uint32_t target;                 /* PROBE ... CALL_BACK, once datagram_set_body() was called */
    uint64_t token;                  /* CHALLENGE, RESPONSE, likewise */
    const uint8_t *payload;          /* DATA */
    size_t payload_bytes;            /* as long as all sealed kinds but CONFIRM are sealed: body */
    const uint8_t *tag;              /* the last 16 bytes: mac or tag */
    const uint8_t *bytes;            /* the whole, without the tag */
    size_t size;
};

enum datagram_refusal {
    DATAGRAM_GOOD,
    DATAGRAM_SHORT,
    DATAGRAM_FOREIGN, /* other magic */
    DATAGRAM_VERSION, /* d->version is set */
    DATAGRAM_VM,
    DATAGRAM_KIND,
    DATAGRAM_SIZE
};

/* Takes a datagram apart without judging its authenticity. */
enum datagram_refusal datagram_decode(const uint8_t *bytes, size_t size, uint32_t vm,
                                      struct datagram *d);

/* "hello", or NULL for an unknown kind. */
const char *datagram_kind_name(int kind);

/* Says where the body of a sealed datagram can be read, payload_bytes long, and reads it. */
void datagram_set_body(struct datagram *d, const uint8_t *body);

/* The beginnings of datagrams, mirrored by datagram_decode(). */
void datagram_put_head(struct cursor *c, uint8_t kind, uint32_t vm);
void datagram_put_sealed(struct cursor *c, uint8_t kind, uint32_t vm, uint32_t session,
                         uint64_t number);
void datagram_put_hello(struct cursor *c, const struct hello *hello);

static inline bool datagram_is_sealed(uint8_t kind)
{
    return kind >= DATAGRAM_CONFIRM && kind < DATAGRAM_ROLL;
}

static inline bool datagram_has_target(uint8_t kind)
{
    return kind >= DATAGRAM_PROBE && kind <= DATAGRAM_CALL_BACK;
}

static inline bool datagram_has_token(uint8_t kind)
{
    return kind == DATAGRAM_CHALLENGE || kind == DATAGRAM_RESPONSE;
}

/* Session ids say whose session it is, so that a receiver finds it without a search. Of the count
 * they have the lowest bits: the keys of an earlier session of that id are others. */
static inline uint32_t session_id_make(uint32_t peer, uint64_t count)
{
    return (uint32_t)count << 12 | peer;
}
static inline uint32_t session_id_peer(uint32_t id)
{
    return id & HOST_INDEX_MAX;
}

#endif
