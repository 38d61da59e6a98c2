/*
 * raft.c - agreement on a log, after D. Ongaro, J. Ousterhout, "In Search of an Understandable
 * Consensus Algorithm" (2014; "figure 2" is its summary) and D. Ongaro's dissertation, "Consensus:
 * Bridging Theory and Practice" (2014; all other numbers are its sections).
 *
 *   FOLLOWER -> PRE_CANDIDATE -> CANDIDATE -> LEADER
 *       ^______________|_____________|___________|     a later term, a leader, or no quorum
 *
 * The parts:
 *   raft_log.c          entries in memory
 *   raft_wire.c         messages as bytes
 *   raft_election.c     timeouts, pre-vote, votes, check-quorum
 *   raft_replication.c  APPEND and its answers, what is committed
 *   raft_snapshot.c     taking, sending and loading the owner's state; bounds the log
 *   raft_membership.c   the configuration in the log, learners, replacement of voters
 *   raft_transfer.c     handing leadership over
 *   raft_read.c         answering questions without the log
 * This file owns the engine, dispatches messages, applies what is committed, and is the one place
 * where a role ends (raft_become_follower()).
 *
 * No stable storage. Figure 2 has a server write its term, vote and log to disk before it answers,
 * so that what it said holds after a restart. Here nothing is written, and nobody restarts: a
 * member is one start of a daemon, told by its host's index and 16 random bytes. When the daemon
 * ends, that member is dead for ever, its successor is another one, which begins as a learner
 * with an empty log and no vote. So no member ever takes back a vote or an entry it acknowledged,
 * which is all that the proof (3.6.3) needs of the disk; what is left is Raft among servers
 * that crash and do not return. The price is liveness and durability, not safety: when a majority
 * of the voters has died before they could be replaced, the group is lost and says so by never
 * electing again; a power failure of all is such a case. The owner must keep its part: never reuse
 * an id.
 *
 * Invariants: base <= snapshot.index <= applied <= commit <= last (the log may still hold entries
 * that the snapshot covers); the configuration is the latest one in the log, committed or not
 * (4.1); peers are its other members, and for a while those that it removed last.
 */
#include "proto/raft/raft.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/raft/raft_state.h"
#include "proto/wire/deadline.h"
#include "proto/wire/format.h"
#include "proto/wire/splitmix.h"

struct raft *raft_create(const struct raft_config *config, const struct raft_owner *owner)
{
    struct raft *r = calloc(1, sizeof *r);

    if (r == NULL)
        return NULL;
    r->config = *config;
    r->owner = *owner;
    r->random = config->seed;
    r->election_us = UINT64_MAX;
    if (r->config.log_bytes == 0)
        r->config.log_bytes = RAFT_LOG_BYTES;
    if (r->config.quorum_us == 0)
        r->config.quorum_us = r->config.election_us;
    return r;
}

void raft_destroy(struct raft *r)
{
    if (r == NULL)
        return;
    raft_log_destroy(&r->log);
    raft_snapshot_clear(&r->snapshot);
    raft_snapshot_clear(&r->incoming);
    free(r);
}

void raft_say(struct raft *r, const char *format, ...)
{
    char line[256];
    FORMAT(line, sizeof line, format);
    r->owner.log(r->owner.context, line);
}

uint64_t raft_random(struct raft *r)
{
    return splitmix_next(&r->random);
}

/* ---- members ---- */

struct raft_peer *raft_peer(struct raft *r, const struct raft_id *id)
{
    for (size_t i = 0; i < r->peer_count; i++)
        if (raft_id_equal(&r->peers[i].id, id))
            return &r->peers[i];
    return NULL;
}

bool raft_is_voter(const struct raft *r, const struct raft_id *id)
{
    for (uint8_t i = 0; i < r->configuration.count; i++)
        if (raft_id_equal(&r->configuration.members[i].id, id))
            return r->configuration.members[i].voter;
    return false;
}

bool raft_self_is_voter(const struct raft *r)
{
    return raft_is_voter(r, &r->config.self);
}

size_t raft_majority(const struct raft *r)
{
    size_t voters = 0;

    for (uint8_t i = 0; i < r->configuration.count; i++)
        voters += r->configuration.members[i].voter;
    return voters / 2 + 1;
}

uint64_t raft_quorum_value(uint64_t *values, size_t count)
{
    assert(count <= RAFT_MEMBERS_MAX);
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && values[j] > values[j - 1]; j--) {
            uint64_t swapped = values[j];

            values[j] = values[j - 1];
            values[j - 1] = swapped;
        }
    return count ? values[count / 2] : 0;
}

/* ---- roles ---- */

void raft_become_follower(struct raft *r, uint64_t term)
{
    assert(term >= r->term);
    if (r->role == RAFT_LEADER)
        raft_say(r, "raft: no longer leads, term %llu -> %llu", (unsigned long long)r->term,
                 (unsigned long long)term);
    if (term > r->term) {
        r->term = term;
        r->has_voted = false;
    }
    r->role = RAFT_FOLLOWER;
    r->has_leader = false;
    r->lead.wanted_count = 0;
    r->lead.roll = 0;
    r->lead.transfer.active = false;
    raft_arm_election(r);
}

void raft_follow(struct raft *r, const struct raft_id *leader)
{
    assert(r->role != RAFT_LEADER);
    if (r->role != RAFT_FOLLOWER)
        raft_become_follower(r, r->term);
    r->has_leader = true;
    r->leader = *leader;
    r->heard_leader_us = r->now_us;
    raft_arm_election(r);
}

int raft_bootstrap(struct raft *r, uint64_t now_us)
{
    struct raft_configuration conf = {.count = 1, .members = {{r->config.self, true}}};
    uint8_t bytes[RAFT_CONFIGURATION_BYTES_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);

    r->now_us = now_us;
    r->term = 1; /* an entry's term is never 0 */
    raft_wire_put_configuration(&c, &conf);
    if (!raft_append(r, RAFT_CONFIGURATION, bytes, (size_t)(c.at - bytes)))
        return -ENOMEM;
    raft_campaign(r, 0);
    return 0;
}

/* ---- messages ---- */

struct raft_message raft_message_to(const struct raft *r, uint8_t kind, const struct raft_id *to)
{
    return (struct raft_message){.kind = kind, .term = r->term, .from = r->config.self, .to = *to};
}

void raft_send(struct raft *r, const struct raft_message *message)
{
    struct cursor c = cursor_writer(r->out, sizeof r->out);

    raft_wire_put(&c, message);
    assert(cursor_ok(&c));
    r->owner.send(r->owner.context, &message->to, r->out, (size_t)(c.at - r->out));
}

typedef void message_handler(struct raft *r, const struct raft_message *m);

static message_handler *handler_of(uint8_t kind)
{
    static message_handler *const HANDLERS[] = {
        [RAFT_VOTE] = raft_on_vote,
        [RAFT_VOTE_REPLY] = raft_on_vote_reply,
        [RAFT_APPEND] = raft_on_append,
        [RAFT_APPEND_REPLY] = raft_on_append_reply,
        [RAFT_SNAPSHOT] = raft_on_snapshot,
        [RAFT_SNAPSHOT_REPLY] = raft_on_snapshot_reply,
        [RAFT_TIMEOUT_NOW] = raft_on_timeout_now,
        [RAFT_READ] = raft_on_read,
        [RAFT_READ_REPLY] = raft_on_read_reply,
    };

    assert(kind < sizeof HANDLERS / sizeof HANDLERS[0] && HANDLERS[kind] != NULL);
    return HANDLERS[kind];
}

/* The sender is behind: a candidate or leader of an earlier term hears of this one (figure 2). */
static void refuse_stale(struct raft *r, const struct raft_message *m)
{
    struct raft_message reply = raft_message_to(r, RAFT_APPEND_REPLY, &m->from);

    if (m->kind == RAFT_VOTE) {
        reply.kind = RAFT_VOTE_REPLY;
        reply.flags = m->flags & RAFT_PRE;
        reply.asked = m->vote.term;
    } else if (m->kind != RAFT_APPEND && m->kind != RAFT_SNAPSHOT && m->kind != RAFT_READ) {
        return;
    }
    raft_send(r, &reply);
}

void raft_on_message(struct raft *r, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    struct raft_message m;

    r->now_us = now_us;
    if (!raft_wire_get(bytes, size, &m) || raft_is_self(r, &m.from)) {
        raft_say(r, "raft: refused a malformed message of %zu bytes", size);
        return;
    }
    if (!raft_is_self(r, &m.to))
        return; /* for a member that is dead: essay, "No stable storage" */
    /* 4.2.3: who hears a leader takes no notice of a candidate, not even of its term */
    if (m.kind == RAFT_VOTE && !(m.flags & RAFT_TRANSFER) && raft_is_sticky(r))
        return;
    /* figure 2, "rules for all servers" */
    if (m.term > r->term)
        raft_become_follower(r, m.term);
    if (m.term < r->term)
        refuse_stale(r, &m);
    else
        handler_of(m.kind)(r, &m);
}

int64_t raft_propose(struct raft *r, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    r->now_us = now_us;
    if (!raft_leads(r) || r->lead.transfer.active)
        return -EPERM;
    if (size > RAFT_COMMAND_BYTES_MAX)
        return -EMSGSIZE;
    assert(r->applied_bytes <= r->log.bytes);
    if (r->log.bytes - r->applied_bytes + size > RAFT_PENDING_BYTES_MAX)
        return -ENOBUFS;
    if (!raft_append(r, RAFT_COMMAND, bytes, size))
        return -ENOMEM;
    return (int64_t)raft_log_last(&r->log);
}

/* ---- time ---- */

/* 6.4, 8: a new leader knows what is committed only when its no-op is */
static void tell_leader(struct raft *r)
{
    bool has = r->role == RAFT_LEADER ? raft_leads(r) : r->has_leader;
    const struct raft_id *id = has ? &r->leader : NULL;
    bool same = has == r->told.has &&
                (!has || (raft_id_equal(id, &r->told.leader) && r->told.term == r->term));

    if (same)
        return;
    r->told.has = has;
    r->told.term = r->term;
    if (id != NULL)
        r->told.leader = *id;
    r->owner.leader(r->owner.context, id != NULL ? &r->told.leader : NULL, r->term);
}

uint64_t raft_step(struct raft *r, uint64_t now_us)
{
    r->now_us = now_us;
    raft_step_election(r);
    raft_step_membership(r);
    raft_step_transfer(r);
    raft_step_replication(r);
    while (r->applied < r->commit) {
        const struct raft_entry *entry = raft_log_entry(&r->log, r->applied + 1);

        assert(entry != NULL);
        r->applied++;
        r->applied_bytes += sizeof *entry + entry->size;
        if (entry->kind == RAFT_COMMAND)
            r->owner.apply(r->owner.context, r->applied, entry->term, entry->bytes, entry->size);
    }
    raft_take_snapshot(r);
    assert(r->log.base_index <= r->snapshot.index && r->snapshot.index <= r->applied);
    assert(r->applied == r->commit && r->commit <= raft_log_last(&r->log));
    assert(r->configuration_index <= raft_log_last(&r->log));
    raft_step_read(r);
    tell_leader(r);
    return earlier(earlier(raft_election_deadline(r), raft_replication_deadline(r)),
                   raft_read_deadline(r));
}

static void raft_shift(uint64_t *time_us, uint64_t late_us)
{
    if (*time_us != 0 && *time_us != UINT64_MAX)
        *time_us += late_us;
}

void raft_on_late(struct raft *r, uint64_t late_us)
{
    raft_shift(&r->heard_leader_us, late_us);
    raft_shift(&r->election_us, late_us);
    raft_shift(&r->lead.transfer.end_us, late_us);
    for (size_t i = 0; i < r->peer_count; i++)
        raft_shift(&r->peers[i].heard_us, late_us);
}

/* ---- readers ---- */

bool raft_leads(const struct raft *r)
{
    return r->role == RAFT_LEADER && r->applied >= r->lead.lead_index;
}

const struct raft_id *raft_leader(const struct raft *r)
{
    return r->has_leader ? &r->leader : NULL;
}

uint64_t raft_term(const struct raft *r)
{
    return r->term;
}

uint64_t raft_last_index(const struct raft *r)
{
    return raft_log_last(&r->log);
}

uint64_t raft_commit_index(const struct raft *r)
{
    return r->commit;
}

uint64_t raft_applied_index(const struct raft *r)
{
    return r->applied;
}

const struct raft_configuration *raft_configuration(const struct raft *r)
{
    return &r->configuration;
}

uint64_t raft_configuration_index(const struct raft *r)
{
    return r->configuration_index;
}

bool raft_is_settled(const struct raft *r)
{
    return r->configuration_index <= r->commit;
}

size_t raft_memory(const struct raft *r)
{
    return r->log.bytes + r->snapshot.size + r->incoming.capacity;
}

uint64_t raft_entry_term(const struct raft *r, uint64_t index)
{
    return raft_log_term(&r->log, index);
}

const uint8_t *raft_entry_bytes(const struct raft *r, uint64_t index, size_t *size)
{
    const struct raft_entry *entry = raft_log_entry(&r->log, index);

    *size = entry != NULL ? entry->size : 0;
    return entry != NULL ? entry->bytes : NULL;
}
