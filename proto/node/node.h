/*
 * node.h - all that one daemon says to the others, as one pure engine: sessions (authentication),
 * windows (reliable frames) and membership (who is in the VM). The daemon gives it datagrams and
 * time and carries out what it asks for; the simulator does the same for hundreds of nodes.
 *
 * Layers inside: auth.h (keys, tags, anti-replay), datagram.h (the wire), session.h (one per other
 * host: handshake, path, window, frames), member.h (host table, coordinator, failure detection).
 *
 * One host coordinates the VM: the one that leads the log of what is agreed (council.h). Where an
 * owner keeps no state there is no log, and the first host coordinates until it is gone.
 *
 * A node is either bootstrapped (the first host of a VM, index 1, coordinator) or joins through a
 * coordinator that invited it. Invitations are made by the coordinator's daemon when it launches
 * a host: node_invite() gives the index that the new host will have.
 */
#ifndef COVEY_PROTO_NODE_H
#define COVEY_PROTO_NODE_H

#include "proto/wire/frame.h"
#include "proto/wire/host.h"
#include "proto/wire/sizes.h"

struct node;

/* Two ways to another host, each with sessions, keys, numbers and datagram sizes of its own: what
 * was recorded on one means nothing on the other. Where both hosts have raw Ethernet, frames
 * flagged FRAME_ETHER take MEDIUM_ETHER, and so do those of the agreement once the two were found
 * to be on one segment (node_medium.c). Membership and all other frames take MEDIUM_IP. A host that
 * has no IP address is spoken to over MEDIUM_ETHER alone. */
enum node_medium { MEDIUM_IP = 0, MEDIUM_ETHER = 1, MEDIA = 2 };
enum node_medium node_medium_of(const struct address *address);

/* What the node asks its owner to do. Called from inside the node's functions; they must not call
 * back into the node except node_send(), node_host() and node_stats(); host() may propose, too. */
struct node_owner {
    void *context;
    /* Send one datagram: the family of `to` says over what. `to` lives only for the call. Errors
     * are losses. */
    void (*send)(void *context, const struct address *to, const uint8_t *bytes, size_t size);
    /* Where the next datagram for send() may be built, as long as any to that address can be, so
     * that it need not be copied; the place is free again when none is sent. It returns NULL where
     * there is no such place; an owner that never has one sets NULL here. */
    uint8_t *(*room)(void *context, const struct address *to);
    /* A frame arrived, in order and exactly once per host and medium; FRAME_ETHER says by which it
     * came. payload has frame->length bytes. */
    void (*frame)(void *context, uint32_t host, const struct frame *frame, const uint8_t *payload);
    void (*host)(void *context, const struct host *host, int event);
    /* This node joined and is up (also after node_bootstrap()). */
    void (*joined)(void *context);
    /* This node's membership ended (enum node_end); text says why in one line. */
    void (*ended)(void *context, int why, const char *text);
    /* Something worth a line in the log: refusals, state changes `event: from -> to`. */
    void (*log)(void *context, const char *line);
    /* What the VM agrees on (council.h): of an owner without agreed() the node is no voter. A
     * command was agreed on, the index-th of the log; */
    void (*agreed)(void *context, uint64_t index, const uint8_t *bytes, size_t size);
    /* the state after all commands so far, as malloc()ed bytes, and back (raft.h); */
    bool (*state_save)(void *context, uint8_t **bytes, size_t *size);
    bool (*state_load)(void *context, const uint8_t *bytes, size_t size);
    /* an empty state begins; */
    void (*state_reset)(void *context);
    /* another host takes commands (0: none is known), or what was agreed in earlier generations is
     * lost. */
    void (*leader)(void *context, uint32_t leader, uint64_t generation);
};

struct node_config {
    char vm[VM_NAME_MAX + 1];
    uint8_t key[VM_KEY_BYTES];
    bool encrypt;              /* what goes to other hosts; the same in the whole VM */
    struct host self;          /* index 0 for a bootstrap: becomes 1; the node keeps a copy */
    uint64_t fail_timeout_us;  /* default 5 s: silence after which a host is declared gone */
    uint64_t join_timeout_us;  /* default 20 s */
    size_t datagram_bytes_min; /* what every path carries, e.g. 1200 */
    size_t datagram_bytes_max; /* what may be probed for, e.g. 8900 or 65000 */
    size_t ether_bytes_min;    /* the same for MEDIUM_ETHER; 0: there is none */
    size_t ether_bytes_max;
    bool ether_services; /* frames of the agreement prefer MEDIUM_ETHER */
    uint64_t seed;       /* all randomness but keys' nonces, which come from `random` */
    void (*random)(void *context, void *bytes, size_t size); /* cryptographic in the daemon */
};

struct node *node_create(const struct node_config *config, const struct node_owner *owner);
void node_destroy(struct node *node);

/* Become the first host of a new VM. */
void node_bootstrap(struct node *node, uint64_t now_us);

/* Join through the coordinator, whose id, index and addresses the invitation gave. */
void node_join(struct node *node, const struct host *coordinator, uint64_t now_us);

/* Coordinator: expects a host of that name to join and gives its index (> 0) and incarnation;
 * < 0: the name is taken by a living host (-EEXIST) or no index is free (-ENOSPC), or this node
 * does not coordinate (-EPERM). node_uninvite() gives up a host that never came. */
int node_invite(struct node *node, const char *name, uint64_t *incarnation, uint64_t now_us);
void node_uninvite(struct node *node, uint32_t index);

/* Coordinator: ends a host in order (its daemon gets NODE_END_REMOVED; others hear that it is gone
 * when it said goodbye, which it does as after node_leave()) or the whole VM: this node ends last,
 * when all others said goodbye or after the fail timeout. One that is gone becomes `forgotten`, at
 * all hosts. node_remove(): 0, -EPERM: does not coordinate, -ENOENT: no such host. Its own index:
 * it leaves, and ends as removed. node_shutdown() does nothing unless it coordinates. */
int node_remove(struct node *node, uint32_t index, uint64_t now_us);
void node_shutdown(struct node *node, uint64_t now_us);

/* Leaves the VM in order (SIGTERM): first all frames are delivered and the others made ready to go
 * on without this host (departure.c), then goodbye is said. That takes some round trips; while
 * hosts are dead and not declared gone yet, until they are; three and a half fail timeouts at most.
 * ended() is not called. node_has_left(): it is done. */
void node_leave(struct node *node, uint64_t now_us);
bool node_has_left(const struct node *node);

/* All other hosts have gone, or said goodbye: nobody acknowledges anything. */
bool node_is_alone(const struct node *node);

/* Bytes of frames that no host has acknowledged yet; not 0 while a goodbye is to be said. */
size_t node_unsent(const struct node *node);

/* A datagram arrived from `from`. Anything not authentic is dropped and counted. Call node_step()
 * after one or after a batch: what it answers (acknowledgements too) is sent there. */
void node_on_datagram(struct node *node, const struct address *from, const uint8_t *bytes,
                      size_t size, uint64_t now_us);

/* Queues a frame for another host. Frames to one host arrive in order on each medium: one that is
 * flagged FRAME_ETHER takes MEDIUM_ETHER, or MEDIUM_IP where node_ether_state() says that there is
 * none; but a REPLY so flagged goes with the frames of the agreement, see enum node_medium. There
 * is no limit here: the credit between tasks bounds what can be queued. Returns 0, or -EHOSTUNREACH
 * for a host that is unknown or gone, -ENOMEM. It is sent by the next node_step(). */
int node_send(struct node *node, uint32_t host, const struct frame *frame, const uint8_t *payload,
              uint64_t now_us);

/* The same of a payload that lies, FRAME_HEADER_BYTES behind its beginning, in memory from
 * malloc(): the node keeps it and copies nothing; on an error `own` is the caller's still. */
int node_send_own(struct node *node, uint32_t host, const struct frame *frame,
                  const uint8_t *payload, uint8_t *own);

/* The same for a frame over MEDIUM_IP that must not arrive before what was queued over
 * MEDIUM_ETHER: it waits here until all that is acknowledged. At most NODE_BEHIND_BYTES of payload.
 */
#define NODE_BEHIND_BYTES 64
int node_send_behind(struct node *node, uint32_t host, const struct frame *frame,
                     const uint8_t *payload, uint64_t now_us);

/* Whether frames can take MEDIUM_ETHER to a host: a session may be opened before the first of them,
 * which shows whether the two are on one segment. node_open_ether() has no effect on one that is
 * open or being opened; it gives up after some seconds unless frames wait. */
enum node_ether { NODE_ETHER_NONE, NODE_ETHER_CLOSED, NODE_ETHER_OPENING, NODE_ETHER_OPEN };
enum node_ether node_ether_state(const struct node *node, uint32_t host);
void node_open_ether(struct node *node, uint32_t host, uint64_t now_us);

/* Bytes queued for a host and not yet acknowledged (to hold back a task that floods). */
size_t node_queued(const struct node *node, uint32_t host);

/* Bytes that the frame under way still lacks, of the host that was last heard over MEDIUM_IP: while
 * many are missing nothing is delivered later by reading datagrams less often. */
size_t node_missing(const struct node *node);

/* Does everything that is due: timers, handshakes, datagrams that may be sent now. Returns when it
 * must be called again at the latest, UINT64_MAX for never. */
uint64_t node_step(struct node *node, uint64_t now_us);

/* The host table: a row by index (NULL: unknown), and the i-th row of known hosts (NULL: end), of
 * which hosts that are gone stay for a while. Rows are valid until the next call of a function that
 * is not a reader. */
const struct host *node_host(const struct node *node, uint32_t index);
const struct host *node_host_at(const struct node *node, size_t i);
uint32_t node_coordinator(const struct node *node); /* index, 0: none known now */
const struct host *node_self(const struct node *node);

/* The IP address by which the host answered, or NULL. */
const struct address *node_path(const struct node *node, uint32_t host);
/* The MAC by which it answered over MEDIUM_ETHER, or NULL. */
const struct address *node_ether_path(const struct node *node, uint32_t host);
/* How large a datagram MEDIUM_IP carries to it, as far as was found out. */
size_t node_datagram_bytes(const struct node *node, uint32_t host);
uint32_t node_vm(const struct node *node); /* the VM's number in datagrams */

/* What the VM agrees on. Gives a command to the log if this host leads: its index, or as
 * raft_propose(); it is agreed when agreed() says so, and may be lost with the leader. */
int64_t node_propose(struct node *node, const uint8_t *bytes, size_t size, uint64_t now_us);
/* Questions about what is agreed, as raft_read() and raft_read_ok(): one may be answered when this
 * host is sure that nobody else leads. */
uint64_t node_read(struct node *node, uint64_t now_us);
bool node_read_ok(const struct node *node, uint64_t number);
bool node_leads(const struct node *node);
/* This host coordinates, and many hosts answer it too late: what can wait should. */
bool node_is_strained(const struct node *node);
uint32_t node_leader(const struct node *node); /* 0: none is known now */
/* The generation of the agreed state: another one has nothing of what was agreed before. */
uint64_t node_generation(const struct node *node);

/* The i-th counter: its name and value; NULL at the end. */
const char *node_stat(const struct node *node, size_t i, uint64_t *value);

#endif
