/*
 * raft.h - agreement on a log of commands among at most five voters, after Raft: one leader a term,
 * every committed command applied by every voter in the same order. A pure engine: messages,
 * commands and `now` go in; messages, applied commands and a deadline come out. (What each part
 * does: essay in raft.c.)
 *
 * Messages are byte strings; they may be lost, doubled, delayed and reordered. All times are in us.
 */
#ifndef COVEY_PROTO_RAFT_H
#define COVEY_PROTO_RAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAFT_ID_BYTES 16
#define RAFT_VOTERS_MAX 5
#define RAFT_MEMBERS_MAX 8                  /* voters and learners */
#define RAFT_COMMAND_BYTES_MAX 49152        /* of one command */
#define RAFT_MESSAGE_BYTES_MAX 57344        /* of one message; nothing longer is sent */
#define RAFT_SNAPSHOT_BYTES_MAX (64u << 20) /* of the owner's state */
#define RAFT_PENDING_BYTES_MAX (4u << 20)   /* of commands proposed and not yet committed */
#define RAFT_LOG_BYTES (256u << 10)         /* default of raft_config.log_bytes */

/* Who takes part: a daemon's start. One that ended never comes back under the same id. */
struct raft_id {
    uint32_t host;
    uint8_t id[RAFT_ID_BYTES];
};

bool raft_id_equal(const struct raft_id *a, const struct raft_id *b);

struct raft_member {
    struct raft_id id;
    bool voter; /* otherwise a learner: gets the log, has no vote */
};

struct raft_configuration {
    uint8_t count;
    struct raft_member members[RAFT_MEMBERS_MAX];
};

struct raft;

/* What the engine asks of its owner. send() and log() come from any function, snapshot_load() from
 * raft_on_message(), the others from raft_step() alone; none may call back into the engine but the
 * readers at the end of this file, and apply(), which may propose. */
struct raft_owner {
    void *context;
    void (*send)(void *context, const struct raft_id *to, const uint8_t *bytes, size_t size);
    /* A command is committed: every voter's owner sees the same ones in the same order. */
    void (*apply)(void *context, uint64_t index, uint64_t term, const uint8_t *bytes, size_t size);
    /* The state after everything applied so far as malloc()ed *bytes, which the engine frees;
     * false: it cannot be had now. snapshot_load() replaces the owner's state by such bytes; false:
     * they are malformed, and the state is as it was. */
    bool (*snapshot_save)(void *context, uint8_t **bytes, size_t *size);
    bool (*snapshot_load)(void *context, const uint8_t *bytes, size_t size);
    /* Who leads changed; NULL: nobody known. The own id comes not at the election but when
     * everything that was committed in earlier terms has been applied here. */
    void (*leader)(void *context, const struct raft_id *leader, uint64_t term);
    void (*log)(void *context, const char *line);
};

struct raft_config {
    struct raft_id self;
    uint64_t election_us;  /* shortest election timeout; the longest is half as much again */
    uint64_t heartbeat_us; /* several fit into election_us */
    uint64_t quorum_us;    /* a leader that hears no majority for so long steps down; at least
                            * election_us, which is what 0 means */
    size_t log_bytes;      /* of applied entries, after which a snapshot is taken; 0: default */
    uint64_t seed;
};

/* NULL: no memory. A new engine is no member of anything: it waits to be added. */
struct raft *raft_create(const struct raft_config *config, const struct raft_owner *owner);
void raft_destroy(struct raft *raft); /* NULL is fine */

/* Makes a group whose only voter is this one; exactly one engine of a group does this, once.
 * 0, or -ENOMEM. */
int raft_bootstrap(struct raft *raft, uint64_t now_us);

/* A message arrived; malformed ones and those for another id are dropped. Call raft_step() after
 * one or a batch. */
void raft_on_message(struct raft *raft, const uint8_t *bytes, size_t size, uint64_t now_us);

/* Adds a command to the log and returns its index; it is sent by the next raft_step(). It may still
 * be lost with the leader: who must know waits for apply(). -EPERM: does not lead, or is handing
 * leadership over; -EMSGSIZE; -ENOBUFS: too many are not committed yet; -ENOMEM. */
int64_t raft_propose(struct raft *raft, const uint8_t *bytes, size_t size, uint64_t now_us);

/* A question is to be answered from what was applied here: its number, to be given to
 * raft_read_ok() from time to time; 0: does not lead. Steps are needed in between. */
uint64_t raft_read(struct raft *raft, uint64_t now_us);
/* Whether the question may be answered now: this engine leads, and since it was asked a majority
 * has said so. */
bool raft_read_ok(const struct raft *raft, uint64_t number);

/* Whom the leader works to have as voters, one change at a time; others are removed. The leader
 * never removes itself: if it is not wanted it hands over first. -EINVAL: none, or too many. The
 * wish is forgotten when leadership is lost. */
int raft_want_voters(struct raft *raft, const struct raft_id *voters, size_t count);

/* Leader: hands over to that voter if it can be brought up to date within an election timeout.
 * -EPERM: does not lead; -ENOENT: no such voter; -EALREADY: that is under way;
 * -EHOSTUNREACH: it did not answer lately. */
int raft_transfer(struct raft *raft, const struct raft_id *to, uint64_t now_us);

/* This process stood still: nobody else's silence is measured by that time. */
void raft_on_late(struct raft *raft, uint64_t late_us);

/* Does everything that is due; returns when it must be called again at the latest, UINT64_MAX for
 * never. */
uint64_t raft_step(struct raft *raft, uint64_t now_us);

/* ---- readers ---- */

bool raft_leads(const struct raft *raft); /* and has applied all of earlier terms */
const struct raft_id *raft_leader(const struct raft *raft); /* NULL: none known */
uint64_t raft_term(const struct raft *raft);
uint64_t raft_last_index(const struct raft *raft);
uint64_t raft_commit_index(const struct raft *raft);
uint64_t raft_applied_index(const struct raft *raft);
/* The latest configuration in the log, its index, and whether it is committed. */
const struct raft_configuration *raft_configuration(const struct raft *raft);
uint64_t raft_configuration_index(const struct raft *raft);
bool raft_is_settled(const struct raft *raft);
bool raft_is_voter(const struct raft *raft, const struct raft_id *id);
/* Bytes of memory that the log and the last snapshot take. */
size_t raft_memory(const struct raft *raft);
/* What the simulator compares: the term of an entry that is still in the log, else 0; a snapshot's
 * entries are 0 but for its last. The entry's bytes, NULL when it is not there. */
uint64_t raft_entry_term(const struct raft *raft, uint64_t index);
const uint8_t *raft_entry_bytes(const struct raft *raft, uint64_t index, size_t *size);

#endif
