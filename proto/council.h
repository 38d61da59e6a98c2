/*
 * council.h - the hosts that keep what the VM agrees on: which of them vote, who leads them, and
 * what happens when too many of them die. Pure: it knows the host table, the engine of agreement
 * (raft.h), and sessions only as "send this frame".
 *
 *   RAFT     = generation=u64 what=u8 3u8(0) body     ; a frame between daemons
 *   body     = message / announcement / empty         ; enum council_what
 *   message  = see raft_wire.h
 *   announcement = term=u64 leader=u32 count=u8 *voter=u32    ; indices of hosts
 *
 * A generation is one group of voters with one log. There is a second one only after a majority of
 * the voters died before they could be replaced: then what was agreed is lost, and the coordinator
 * founds the next with an empty state.
 */
#ifndef COVEY_PROTO_COUNCIL_H
#define COVEY_PROTO_COUNCIL_H

#include "proto/raft.h"
#include "proto/table.h"

enum council_what {
    COUNCIL_MESSAGE = 1,  /* between members */
    COUNCIL_ANNOUNCE = 2, /* of the leader, to every host */
    COUNCIL_LEAVING = 3   /* to the leader: this host is on its way out */
};

struct council;

/* May be called from any function but the readers; must not call back. For apply(), save() and
 * load() see raft.h. */
struct council_owner {
    void *context;
    void (*send)(void *context, uint32_t host, const uint8_t *payload, size_t size,
                 uint64_t now_us);
    void (*apply)(void *context, uint64_t index, const uint8_t *bytes, size_t size);
    bool (*save)(void *context, uint8_t **bytes, size_t *size);
    bool (*load)(void *context, const uint8_t *bytes, size_t size);
    /* What is kept here is void; an empty state begins. */
    void (*reset)(void *context);
    /* Another host leads, or this one does or ceases to (leader 0), or another generation began. */
    void (*leader)(void *context, uint32_t leader, uint64_t generation);
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
/* The first host of a VM: founds the first generation. 0 or -ENOMEM. */
int council_found(struct council *council, uint64_t now_us);

/* A RAFT frame arrived from a host of the table; a malformed one is logged and has no effect. */
void council_on_frame(struct council *council, uint32_t host, const uint8_t *payload, size_t size,
                      uint64_t now_us);
/* This process stood still for so long. */
void council_on_late(struct council *council, uint64_t late_us);

/* As raft_propose(). */
int64_t council_propose(struct council *council, const uint8_t *bytes, size_t size,
                        uint64_t now_us);

/* As raft_read() and raft_read_ok(). */
uint64_t council_read(struct council *council, uint64_t now_us);
bool council_read_ok(const struct council *council, uint64_t number);

/* Does what is due; `leaving`: this host is on its way out of the VM. Returns when to call again,
 * UINT64_MAX for never. */
uint64_t council_step(struct council *council, bool leaving, uint64_t now_us);

/* ---- readers ---- */

bool council_leads(const struct council *council);
uint32_t council_leader(const struct council *council); /* a living host, 0: none is known */
uint64_t council_generation(const struct council *council);
/* A voter that others are to take the place of, if it leaves. */
bool council_is_busy(const struct council *council);
/* The engine, for those who look inside; NULL: this host is no member. */
const struct raft *council_raft(const struct council *council);

#endif
