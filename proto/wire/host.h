/*
 * host.h - a host of the VM, as all know it: the noun of the host table, of membership and of what
 * tasks are told. control_put_host() writes it.
 */
#ifndef COVEY_PROTO_HOST_H
#define COVEY_PROTO_HOST_H

#include "proto/wire/address.h"

#define HOST_NAME_MAX_BYTES 63
#define HOST_ARCH_MAX_BYTES 31
#define HOST_ID_BYTES 16

/* Every state of a host: its name in C, its number on the wire, its name for people. */
#define HOST_STATES(ROW)                                                                           \
    ROW(JOINING, 1, "joining")                                                                     \
    ROW(UP, 2, "up")                                                                               \
    ROW(SUSPECT, 3, "suspect")                                                                     \
    ROW(DOWN, 4, "down")

#define HOST_STATE_NUMBER(name, number, text) HOST_##name = number,
enum host_state { HOST_STATES(HOST_STATE_NUMBER) };
#undef HOST_STATE_NUMBER

const char *host_state_name(int state); /* "unknown" for others */

/* One row of the host table. What it points to is not its own: it lies in a room, or in the block
 * of a row (table_describe()), and a copy of the struct points there, too. Each daemon has
 * thousands of rows, and names are short. */
struct host {
    const char *name;
    const char *arch;
    const struct address *addresses; /* candidates, tried in parallel */
    uint64_t incarnation;            /* larger for each daemon that joins under the name: it counts
                                      * the invitations of the VM */
    uint64_t memory_bytes;
    uint32_t index; /* 1 .. HOST_INDEX_MAX, not soon reused */
    uint32_t cores;
    uint32_t speed;
    uint8_t state;          /* enum host_state */
    uint8_t representation; /* REPRESENTATION_... */
    uint8_t address_count;
    bool coordinator : 1;      /* coordinates the VM */
    bool forgotten : 1;        /* gone, and not to be shown any more; not part of a host row */
    uint8_t id[HOST_ID_BYTES]; /* random, made anew by every daemon start */
};

/* Place for all that a host can point to, of one that is read, made or kept. */
struct host_room {
    char name[HOST_NAME_MAX_BYTES + 1];
    char arch[HOST_ARCH_MAX_BYTES + 1];
    struct address addresses[HOST_ADDRESSES_MAX];
};

/* A host that points there, and of which nothing else is set. */
static inline struct host host_in(const struct host_room *room)
{
    return (struct host){.name = room->name, .arch = room->arch, .addresses = room->addresses};
}
/* A copy that points to its own room: of one that is kept. The source may lie in that room. */
void host_keep(struct host *host, struct host_room *room, const struct host *source);

/* What becomes of another host, in the order of its life. */
enum node_host_event {
    NODE_HOST_ADDED = 1,   /* another host: up, and this node has joined(); state is HOST_UP */
    NODE_HOST_SUSPECT = 2, /* not heard of for a while */
    NODE_HOST_ALIVE = 3,   /* a suspect was heard of again */
    NODE_HOST_GONE = 4     /* left, died or was cut off: frames to it are dropped from now on */
};

/* Why the membership of a host ended, as its own daemon is told. */
enum node_end {
    NODE_END_REMOVED = 1,  /* the coordinator removed this host in order */
    NODE_END_SHUTDOWN = 2, /* the VM is halted */
    NODE_END_CUT_OFF = 3,  /* the rest of the VM could not be reached, or declared this host gone */
    NODE_END_JOIN_FAILED = 4 /* refused, or the coordinator did not answer in time */
};

#endif
