/*
 * council.h - the hosts that keep what the VM agrees on: which of them vote, and who leads them.
 * Pure: it knows the host table, the engine of agreement (raft.h), and sessions only as "send this
 * frame".
 *
 *   RAFT     = generation=u64 what=u8 3u8(0) body     ; a frame between daemons
 *   body     = message / empty                        ; enum council_what
 *   message  = see raft_wire.h
 *
 *   command  = kind=u8 body                           ; of the log; enum council_kind
 *   body     = change / *u8                           ; change: see table.h
 *   snapshot = size=u32 table *u8                     ; table: see table.h
 *
 * A generation is one group of voters with one log. There is a second one only after a majority of
 * the voters was lost before they could be replaced: then what was agreed is lost but the host
 * table, and one of more than half of all hosts founds the next (election.c).
 */
#ifndef COVEY_PROTO_COUNCIL_H
#define COVEY_PROTO_COUNCIL_H

#include "proto/member/table.h"
#include "proto/raft/raft.h"

enum council_what {
    COUNCIL_MESSAGE = 1, /* between members */
    COUNCIL_LEAVING = 3  /* to the leader: this host is on its way out */
};

/* What a command of the log is about. */
enum council_kind {
    COUNCIL_CHANGE = 1, /* the host table */
    COUNCIL_COMMAND = 2 /* all else: the owner's */
};

struct council;

/* May be called from any function but the readers; must not call back, but for apply(), which may
 * propose. For apply(), save() and load() see raft.h. */
struct council_owner {
    void *context;
    void (*send)(void *context, uint32_t host, const uint8_t *payload, size_t size,
                 uint64_t now_us);
    void (*apply)(void *context, enum council_kind kind, uint64_t index, const uint8_t *bytes,
                  size_t size);
    bool (*save)(void *context, uint8_t **bytes, size_t *size);
    bool (*load)(void *context, const uint8_t *bytes, size_t size);
    /* What is kept here is void; an empty state begins. */
    void (*reset)(void *context);
    /* This host leads the log from that epoch on (table.h); 0: it does not any more. */
    void (*leads)(void *context, uint64_t epoch);
    /* Of the coordinator: these hosts vote. */
    void (*voters)(void *context, const uint32_t *hosts, size_t count);
    /* That host is on its way out: the table says so from now on (row->leaves_us). */
    void (*leaves)(void *context, uint32_t host, uint64_t now_us);
    void (*log)(void *context, const char *line);
};

struct council_config {
    uint8_t id[HOST_ID_BYTES]; /* of this daemon */
    const struct table *table; /* of hosts; read at every call */
    uint64_t fail_timeout_us;
    uint64_t seed;
};

struct council *council_create(const struct council_config *config,
                               const struct council_owner *owner); /* NULL: no memory */
void council_destroy(struct council *council);                     /* NULL is fine */

/* This host has that index in the VM, and may be a member from now on. */
void council_join(struct council *council, uint32_t self);
/* Founds a generation, later than any before: an empty log, of which this host is the only voter.
 * 0 or -ENOMEM. */
int council_found(struct council *council, uint64_t generation, uint64_t now_us);

/* A RAFT frame arrived from a host of the table; a malformed one is logged and has no effect. */
void council_on_frame(struct council *council, uint32_t host, const uint8_t *payload, size_t size,
                      uint64_t now_us);
/* This process stood still for so long. */
void council_on_late(struct council *council, uint64_t late_us);

/* As raft_propose(); bytes has at most COUNCIL_BODY_BYTES_MAX. */
#define COUNCIL_BODY_BYTES_MAX (RAFT_COMMAND_BYTES_MAX - 1)
int64_t council_propose(struct council *council, enum council_kind kind, const uint8_t *bytes,
                        size_t size, uint64_t now_us);

/* As raft_read() and raft_read_ok(). */
uint64_t council_read(struct council *council, uint64_t now_us);
bool council_read_ok(const struct council *council, uint64_t number);

/* Does what is due; `leaving`: this host is on its way out of the VM. Returns when to call again,
 * UINT64_MAX for never. */
uint64_t council_step(struct council *council, bool leaving, uint64_t now_us);

/* ---- readers ---- */

bool council_leads(const struct council *council);
uint64_t council_generation(const struct council *council);
/* This host is on its way out, and others must first be ready for that: another is to vote in its
 * place, or the coordinator is to release it (departure.c). */
bool council_is_needed(const struct council *council);
/* Coordinator: nothing that is agreed needs that host's vote. */
bool council_spares(const struct council *council, uint32_t host);
/* The engine, for those who look inside; NULL: this host is no member. */
const struct raft *council_raft(const struct council *council);

#endif
