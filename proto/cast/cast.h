/*
 * cast.h - reliable multicast between daemons: one datagram on the wire for all hosts that are to
 * get it, where the owner has a wire that carries it to all, or one to each host. Pure, like
 * node.h, beside which it stands: datagrams, control frames and `now` go in; datagrams, control
 * frames and messages come out.
 *
 * What it promises of a message that cast_send() or cast_send_total() took, while the hosts that
 * it is for live:
 *  - each of them is given it once, whole;
 *  - FIFO: messages of one host to the same set of hosts are given out in the order of sending;
 *  - all or none: when the sender dies, every surviving host of the set is given the message or
 *    none is, and they stop at the same one of its messages;
 *  - total order: all messages of cast_send_total() are given out in one order at all hosts of the
 *    VM, the sender's own included, and those of one sender in the order of sending.
 *
 * Data goes in datagrams of its own kind (datagram.h), which may be lost; everything else as the
 * payload of CAST_CONTROL frames, which the windows between daemons carry reliably and in order.
 * (How it works: essay in cast.c.)
 */
#ifndef COVEY_PROTO_CAST_H
#define COVEY_PROTO_CAST_H

#include "proto/wire/frame.h"
#include "proto/wire/host.h"
#include "proto/wire/host_set.h"
#include "proto/wire/sizes.h"

#define CAST_MESSAGE_MAX (FRAME_PAYLOAD_MAX - 64)
#define CAST_TOTAL_BYTES 12 /* so much less in total order */
#define CAST_DATAGRAM_BYTES_MIN 576
#define CAST_DATAGRAM_BYTES_MAX 9216

enum cast_order { CAST_FIFO = 0, CAST_TOTAL = 1 };

/* A message given out. */
struct cast_message {
    uint32_t sender; /* host index */
    enum cast_order order;
    const uint8_t *bytes;
    size_t size;
};

/* Called from inside the engine's functions; they must not call back into it. */
struct cast_owner {
    void *context;
    /* One datagram for all those hosts, by as many copies as it takes; for one host. Errors are
     * losses. */
    void (*multicast)(void *context, const struct host_set *to, const uint8_t *bytes, size_t size);
    void (*unicast)(void *context, uint32_t host, const uint8_t *bytes, size_t size);
    /* A CAST_CONTROL frame to the daemon of a host: reliable, in order. */
    void (*control)(void *context, uint32_t host, const uint8_t *payload, size_t size);
    /* A message in its turn. False: not now; it is offered again, and its sender is held back. */
    bool (*deliver)(void *context, const struct cast_message *message);
    /* How large datagrams to all those hosts may be now; NULL: as the configuration says. */
    size_t (*datagram_bytes)(void *context, const struct host_set *to);
};

struct cast_config {
    char vm[VM_NAME_MAX + 1];
    uint8_t key[VM_KEY_BYTES];
    bool encrypt;
    struct host self;      /* index, incarnation and id */
    size_t datagram_bytes; /* where the owner says nothing else; bounded as that is to
                            * CAST_DATAGRAM_BYTES_... */
    size_t buffer_bytes;   /* of a sender to one set of hosts; 0: 1.5 MiB */
    uint64_t seed;
};

struct cast;

struct cast *cast_create(const struct cast_config *config, const struct cast_owner *owner);
void cast_destroy(struct cast *cast); /* NULL is fine */

/* Membership, as the node tells it: another host is up (again: no effect), or gone for ever. */
void cast_host_up(struct cast *cast, const struct host *host, uint64_t now_us);
void cast_host_gone(struct cast *cast, uint32_t host, uint64_t now_us);

/* Takes a copy of a message for all those hosts, of which this one and those gone are left out.
 * There is no limit here: ask cast_queued(). 0, -ENOMEM, -EMSGSIZE (above CAST_MESSAGE_MAX),
 * -EBUSY (casts to too many different sets are under way). */
int cast_send(struct cast *cast, const struct host_set *to, const uint8_t *bytes, size_t size,
              uint64_t now_us);

/* Takes a copy of a message for all hosts of the VM, in total order. 0, -ENOMEM, -EMSGSIZE. */
int cast_send_total(struct cast *cast, const uint8_t *bytes, size_t size, uint64_t now_us);

/* Bytes of messages taken of which nothing was sent yet. */
size_t cast_queued(const struct cast *cast);

/* Where the messages of cast_send() taken so far end; whether all up to there are at all hosts that
 * they are for. */
uint64_t cast_mark(const struct cast *cast);
bool cast_passed(const struct cast *cast, uint64_t mark);

/* Whether nothing of that host is still to come: when it is gone, the survivors have agreed. */
bool cast_settled(const struct cast *cast, uint32_t host);

/* Whether a datagram is one of cast's, of whatever VM. */
bool cast_is_datagram(const uint8_t *bytes, size_t size);

/* A datagram, from wherever; what is not authentic is dropped and counted. */
void cast_on_datagram(struct cast *cast, const uint8_t *bytes, size_t size, uint64_t now_us);

/* The payload of a CAST_CONTROL frame of that host; returns NULL, or why it was refused. */
const char *cast_on_control(struct cast *cast, uint32_t host, const uint8_t *payload, size_t size,
                            uint64_t now_us);

/* Does what is due; returns when to call again at the latest, UINT64_MAX for never. Call it after
 * every batch of the calls above. */
uint64_t cast_step(struct cast *cast, uint64_t now_us);

/* The i-th counter: its name and value; NULL at the end. */
const char *cast_stat(const struct cast *cast, size_t i, uint64_t *value);

#endif
