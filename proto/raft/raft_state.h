/*
 * raft_state.h - what the parts of the engine share and nobody else sees: raft.c and those of
 * raft_*.c that are declared below. raft_log and raft_wire know nothing of it.
 */
#ifndef COVEY_PROTO_RAFT_STATE_H
#define COVEY_PROTO_RAFT_STATE_H

#include "proto/raft/raft.h"
#include "proto/raft/raft_log.h"
#include "proto/raft/raft_wire.h"

#define RAFT_DEPARTED_MAX 4 /* members removed lately, which are still told so */
#define RAFT_PEERS_MAX (RAFT_MEMBERS_MAX + RAFT_DEPARTED_MAX)

enum raft_role { RAFT_FOLLOWER, RAFT_PRE_CANDIDATE, RAFT_CANDIDATE, RAFT_LEADER };

/* What this engine knows of another. All but id, member, voter and granted is the leader's. */
struct raft_peer {
    struct raft_id id;
    bool member, voter;   /* in the latest configuration; neither: departed */
    bool granted;         /* candidate: it gave its vote */
    uint64_t next, match; /* the entry to be sent next; the log agrees up to match */
    bool probing;         /* where the logs agree is not known: one message at a time */
    uint64_t heard_us;    /* its last answer in this term, or the begin of the term */
    uint64_t sent_us;     /* the last message to it */
    uint64_t progress_us; /* when match last advanced, or sending began anew */
    uint64_t pause_us;    /* probing: nothing is sent before this, unless it answers */
    uint64_t leave_us;    /* departed: forgotten then */
    uint64_t chunk_index; /* snapshot under way to it, 0: none; how much of it is there */
    uint32_t chunk_offset;
    uint64_t round_end, round_us; /* learner: the round ends with that entry, began then */
    bool caught_up;
    uint64_t read_round; /* the last one that it answered in this term */
};

/* The owner's state after entry `index`, and the configuration then. */
struct raft_snapshot {
    uint64_t index, term;
    struct raft_configuration configuration;
    uint8_t *bytes;
    size_t size, capacity; /* capacity: of one on its way in */
    uint32_t total;
};

struct raft_transfer {
    bool active;
    bool told; /* TIMEOUT-NOW was sent */
    struct raft_id to;
    uint64_t end_us;
};

/* What the owner was told of the leader. */
struct raft_told {
    bool has; /* there is one */
    struct raft_id leader;
    uint64_t term;
};

/* What the leader keeps of its term. */
struct raft_lead {
    uint64_t lead_index; /* its first entry, a no-op */
    struct raft_id wanted[RAFT_VOTERS_MAX];
    size_t wanted_count;
    uint64_t roll, roll_us; /* the round in which the members say that they live, see
                             * raft_membership.c; 0: none; when it began */
    struct raft_transfer transfer;
    uint64_t read_round, read_due_us; /* the last question; when it is sent, or sent again */
};

struct raft {
    struct raft_config config;
    struct raft_owner owner;
    uint64_t now_us, random;
    /* what Raft holds on stable storage (figure 2), and why memory will do: essay in raft.c */
    uint64_t term;
    bool has_voted;
    struct raft_id voted_for;
    struct raft_log log;
    /* volatile */
    enum raft_role role;
    bool has_leader;
    struct raft_id leader;
    uint64_t heard_leader_us;
    uint64_t election_us; /* when an election begins; UINT64_MAX: never */
    uint64_t commit, applied;
    size_t applied_bytes; /* of entries applied and still in the log */
    struct raft_configuration configuration;
    uint64_t configuration_index;
    struct raft_peer peers[RAFT_PEERS_MAX];
    size_t peer_count;
    struct raft_snapshot snapshot, incoming;
    struct raft_lead lead;
    struct raft_told told;
    uint8_t out[RAFT_MESSAGE_BYTES_MAX];
};

/* ---- raft.c ---- */
void raft_say(struct raft *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t raft_random(struct raft *r);
struct raft_peer *raft_peer(struct raft *r, const struct raft_id *id); /* NULL: none */
struct raft_message raft_message_to(const struct raft *r, uint8_t kind, const struct raft_id *to);
void raft_send(struct raft *r, const struct raft_message *message);
void raft_become_follower(struct raft *r, uint64_t term);
/* This is heard from the leader of the current term. */
void raft_follow(struct raft *r, const struct raft_id *leader);
bool raft_self_is_voter(const struct raft *r);
size_t raft_majority(const struct raft *r);
static inline bool raft_is_self(const struct raft *r, const struct raft_id *id)
{
    return raft_id_equal(&r->config.self, id);
}
/* The value that a majority of voters has reached, when values[i] is that of the i-th one. */
uint64_t raft_quorum_value(uint64_t *values, size_t count);

/* ---- raft_election.c ---- */
void raft_arm_election(struct raft *r);
bool raft_may_stand(const struct raft *r);
void raft_campaign(struct raft *r, uint8_t flags);
bool raft_is_sticky(const struct raft *r);
void raft_on_vote(struct raft *r, const struct raft_message *m);
void raft_on_vote_reply(struct raft *r, const struct raft_message *m);
void raft_step_election(struct raft *r);
uint64_t raft_election_deadline(const struct raft *r);

/* ---- raft_replication.c ---- */
/* Appends to the own log what a new leader, a client or a change of members adds. */
bool raft_append(struct raft *r, uint8_t kind, const uint8_t *bytes, size_t size);
void raft_on_append(struct raft *r, const struct raft_message *m);
void raft_on_append_reply(struct raft *r, const struct raft_message *m);
void raft_begin_replication(struct raft *r, struct raft_peer *peer);
void raft_step_replication(struct raft *r);
uint64_t raft_replication_deadline(const struct raft *r);

/* ---- raft_snapshot.c ---- */
void raft_take_snapshot(struct raft *r);
void raft_send_chunk(struct raft *r, struct raft_peer *peer);
void raft_on_snapshot(struct raft *r, const struct raft_message *m);
void raft_on_snapshot_reply(struct raft *r, const struct raft_message *m);
void raft_snapshot_clear(struct raft_snapshot *snapshot);

/* ---- raft_membership.c ---- */
/* Entry `index` was appended and is a configuration, which counts from now on. */
void raft_adopt_entry(struct raft *r, uint64_t index);
/* The log was truncated, or replaced by a snapshot: finds the configuration that counts now. */
void raft_restore_configuration(struct raft *r);
void raft_step_membership(struct raft *r);
void raft_watch_learner(struct raft *r, struct raft_peer *peer);

/* ---- raft_read.c ---- */
void raft_on_read(struct raft *r, const struct raft_message *m);
void raft_on_read_reply(struct raft *r, const struct raft_message *m);
void raft_step_read(struct raft *r);
uint64_t raft_read_deadline(const struct raft *r);

/* ---- raft_transfer.c ---- */
void raft_step_transfer(struct raft *r);
void raft_on_timeout_now(struct raft *r, const struct raft_message *m);

#endif
