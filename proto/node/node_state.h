/* node_state.h - what the parts of a node (every file of this room) share and nobody else sees. */
#ifndef COVEY_PROTO_NODE_STATE_H
#define COVEY_PROTO_NODE_STATE_H

#include "proto/member/council.h"
#include "proto/member/member.h"
#include "proto/node/node.h"
#include "proto/session/session.h"

/* A frame for MEDIUM_IP that waits for what was written to this session before it. */
struct behind {
    struct behind *next;
    uint64_t written; /* bytes, of the session when it was queued */
    struct frame frame;
    uint8_t payload[NODE_BEHIND_BYTES];
};

/* One other host with which there is a session on a medium. */
struct peer {
    struct medium *medium;
    uint32_t index;
    size_t at; /* in node->open */
    struct session *session;
    uint64_t deadline_us;                /* of the session */
    uint64_t close_us;                   /* the session ends then; UINT64_MAX: it stays */
    uint64_t try_us;                     /* of MEDIUM_ETHER: not opened for services before */
    bool touched;                        /* it is to be stepped at once */
    struct peer *next_touched;           /* then */
    size_t queued;                       /* bytes, when it was stepped */
    struct behind *behind, *behind_last; /* of MEDIUM_ETHER */
};

struct medium {
    struct node *node;
    enum node_medium number;
    struct endpoint endpoint;
    struct peer *peers[HOST_INDEX_MAX + 1];
    uint64_t silence_logged_us; /* of MEDIUM_ETHER; logged again then */
    uint8_t *detour;            /* of MEDIUM_ETHER: room for a datagram that goes over IP */
};

/* The roll call that this host made last. */
struct rolls {
    uint32_t number; /* 0: none */
    uint32_t mark;   /* of the epoch whose coordinator is not heard */
    uint8_t nonce[AUTH_NONCE_BYTES];
};

struct node {
    struct node_config config;
    struct host_room self_room; /* of config.self */
    struct node_owner owner;
    struct medium media[MEDIA];
    bool has_ether;
    struct member *member;
    struct council *council; /* NULL: the owner keeps no state */
    struct rolls rolls;
    bool changed;         /* the log has something new for membership */
    uint32_t told_leader; /* what the owner knows of who leads */
    uint64_t told_generation;
    struct peer *open[MEDIA * (HOST_INDEX_MAX + 1)]; /* all media' peers, close together */
    size_t open_count;
    struct peer *touched; /* see node_peer_touch() */
    uint64_t peers_us;    /* no other is due before */
    size_t owing;         /* so many have not acknowledged all */
    size_t queued;        /* the sum over all of what they had queued when they were stepped */
    size_t behind_count;  /* frames that wait behind MEDIUM_ETHER */
    uint64_t now_us;
    uint64_t due_us;            /* what node_step() last returned */
    uint64_t log_next_us;       /* refusals are logged again then */
    struct window_stats closed; /* sums over sessions that ended */
};

/* A frame of membership or of the council to a living host. */
void node_member_send(void *context, uint32_t host, uint8_t kind, const uint8_t *payload,
                      size_t size, uint64_t now_us);
/* node_calls.c: who is called when one of the node's parts asks or tells. */
struct member_owner node_member_owner(struct node *node);
struct endpoint_owner node_endpoint_owner(struct medium *medium);
/* node_roll.c: what membership asks; an answer to it: false, it is not authentic. */
void node_roll_ask(void *context, uint32_t host, uint32_t number);
bool node_roll_on_here(struct medium *medium, const struct datagram *d, uint64_t now_us);
/* node_council.c: what is agreed. 0 or -1. */
int node_council_create(struct node *node);
int64_t node_council_propose(void *context, const uint8_t *bytes, size_t size, uint64_t now_us);
void node_council_found(void *context, uint64_t generation, uint64_t now_us);
void node_council_tell(struct node *node);

/* Sends a datagram of the medium, also of MEDIUM_ETHER to an IP address; the same of one that is no
 * session's, which is counted. */
void node_medium_send(struct medium *medium, const struct address *to, const uint8_t *bytes,
                      size_t size);

void node_send_alone(struct medium *medium, const struct address *to, const uint8_t *bytes,
                     size_t size);

/* Takes note of the time, and of standing still (see member_on_late()). */
void node_notice(struct node *node, uint64_t now_us);
/* Bytes that no host has acknowledged yet. */
size_t node_queued_to_all(const struct node *node);
/* The peer of that row, made if there is none; NULL: no memory. */
struct peer *node_peer(struct medium *medium, const struct row *row);
/* The same of a living host on the medium wanted, or the one there is; it is stepped at once. */
struct peer *node_living_peer(struct node *node, uint32_t host, enum node_medium wanted);
void node_peer_destroy(struct peer *peer);
/* So many of the bytes for it are not acknowledged. */
void node_peer_count(struct peer *peer, size_t queued);
/* Something was given to its session, or came: the next node_step() steps it. */
void node_peer_touch(struct peer *peer);
/* Queues a frame behind what was written to this peer; 0 or -ENOMEM. */
int node_peer_behind(struct peer *peer, const struct frame *frame, const uint8_t *payload);
/* Sends those whose time has come. */
void node_release_behind(struct node *node, uint64_t now_us);
/* The medium that goes to a host where that one is wanted; the flags of a frame on a medium. */
const struct medium *node_medium_to(struct node *node, uint32_t host, enum node_medium wanted);
uint8_t node_medium_flags(enum node_medium medium, uint8_t flags);
/* The session that a frame to a host goes by; NULL: the host is not living, or there is no memory.
 * A frame of the agreement is counted. */
struct peer *node_frame_peer(struct node *node, uint32_t host, const struct frame *frame);
void node_log(struct node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));
void node_stat_closed(struct node *node, const struct session *session);

#endif
