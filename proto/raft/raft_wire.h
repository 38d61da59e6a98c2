/*
 * raft_wire.h - the messages between engines, as bytes.
 *
 *   message       = kind=u8 flags=u8 reserved=u16(0) term=u64 from=id to=id body
 *   id            = host=u32 16u8
 *   body          = vote / vote-reply / append / append-reply / snapshot / snapshot-reply
 *                 / timeout-now / round
 *   vote          = term=u64 last-index=u64 last-term=u64 ; flags RAFT_PRE, RAFT_TRANSFER
 *   vote-reply    = term=u64                    ; the term that was asked for; RAFT_PRE, RAFT_YES
 *   append        = prev-index=u64 prev-term=u64 commit=u64 count=u32 *entry
 *   entry         = term=u64 kind=u8 size=u32 *u8
 *   append-reply  = index=u64                   ; RAFT_YES: the log agrees up to there; else it can
 *                                               ; agree up to there at most
 *   snapshot      = index=u64 last-term=u64 configuration total=u32 offset=u32 size=u32 *u8
 *   snapshot-reply = index=u64 offset=u32       ; how much of that snapshot is there
 *   timeout-now   =                             ; nothing
 *   round         = number=u64                  ; of questions, which the answer repeats
 *   configuration = count=u8 *(id voter=u8)     ; no id twice, at most RAFT_MEMBERS_MAX
 *
 * The term of the head is always the sender's own. No term or index exceeds RAFT_NUMBER_MAX, so
 * that counting on from one does not overflow.
 */
#ifndef COVEY_PROTO_RAFT_WIRE_H
#define COVEY_PROTO_RAFT_WIRE_H

#include "proto/raft/raft.h"
#include "proto/raft/raft_log.h"
#include "proto/wire/cursor.h"

/* X(number, NAME, body) */
#define RAFT_KINDS(X)                                                                              \
    X(1, VOTE, vote)                                                                               \
    X(2, VOTE_REPLY, vote_reply)                                                                   \
    X(3, APPEND, append)                                                                           \
    X(4, APPEND_REPLY, append_reply)                                                               \
    X(5, SNAPSHOT, snapshot)                                                                       \
    X(6, SNAPSHOT_REPLY, snapshot_reply)                                                           \
    X(7, TIMEOUT_NOW, timeout_now)                                                                 \
    X(8, READ, round)                                                                              \
    X(9, READ_REPLY, round)

enum raft_kind {
#define RAFT_ENUM(number, name, body) RAFT_##name = number,
    RAFT_KINDS(RAFT_ENUM)
#undef RAFT_ENUM
};

enum raft_flags { RAFT_PRE = 1, RAFT_TRANSFER = 2, RAFT_YES = 4 };

#define RAFT_NUMBER_MAX (UINT64_MAX >> 2)
#define RAFT_HEAD_BYTES (12 + 2 * (4 + RAFT_ID_BYTES))
#define RAFT_CONFIGURATION_BYTES_MAX (1 + RAFT_MEMBERS_MAX * (5 + RAFT_ID_BYTES))
#define RAFT_ENTRY_HEAD_BYTES 13

struct raft_vote {
    uint64_t term, last_index, last_term;
};
struct raft_append {
    uint64_t prev_index, prev_term, commit;
    uint32_t count;
    struct cursor entries; /* count well-formed entries: raft_wire_get_entry() */
};
struct raft_chunk {
    uint64_t index, last_term;
    struct raft_configuration configuration;
    uint32_t total, offset, size;
    const uint8_t *bytes;
};

struct raft_message {
    uint8_t kind, flags;
    uint64_t term;
    struct raft_id from, to;
    union {
        struct raft_vote vote;
        uint64_t asked; /* VOTE_REPLY */
        struct raft_append append;
        uint64_t index; /* APPEND_REPLY */
        uint64_t round; /* READ, READ_REPLY */
        struct raft_chunk chunk;
        struct {
            uint64_t index;
            uint32_t offset;
        } have; /* SNAPSHOT_REPLY */
    };
};

/* Writes the message; of an APPEND without its entries, which raft_wire_put_entry() adds. */
void raft_wire_put(struct cursor *c, const struct raft_message *message);
void raft_wire_put_entry(struct cursor *c, const struct raft_entry *entry);
void raft_wire_put_configuration(struct cursor *c, const struct raft_configuration *conf);

/* Reads a whole message, all entries included; views stay in `bytes`. false: it is malformed. */
bool raft_wire_get(const uint8_t *bytes, size_t size, struct raft_message *message);
/* entry->bytes is a view. */
void raft_wire_get_entry(struct cursor *c, struct raft_entry *entry);
/* false, with *conf as it was: these are not exactly one configuration. */
bool raft_wire_get_configuration(const uint8_t *bytes, size_t size,
                                 struct raft_configuration *conf);

const char *raft_wire_kind_name(int kind); /* NULL: there is none */

#endif
