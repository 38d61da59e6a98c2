/*
 * raft_replication.c - the leader brings its log to the others, and what a majority has is
 * committed.
 *
 * To each other member the leader first probes where the logs agree, one message at a time; then it
 * streams, without waiting for answers, up to WINDOW entries ahead of what was acknowledged. When
 * nothing is acknowledged for a while it begins anew behind the last entry that was.
 */
#include <assert.h>

#include "proto/raft/raft_state.h"

#define WINDOW 1024

static void raft_advance_commit(struct raft *r)
{
    if (r->role != RAFT_LEADER)
        return;
    uint64_t match[RAFT_MEMBERS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < r->peer_count; i++)
        if (r->peers[i].voter)
            match[count++] = r->peers[i].match;
    if (raft_self_is_voter(r))
        match[count++] = raft_log_last(&r->log);
    uint64_t index = raft_quorum_value(match, count);
    /* 3.6.2: entries of earlier terms are never committed by counting, only by one of this term */
    if (index > r->commit && raft_log_term(&r->log, index) == r->term)
        r->commit = index;
    assert(r->commit <= raft_log_last(&r->log));
}

bool raft_append(struct raft *r, uint8_t kind, const uint8_t *bytes, size_t size)
{
    struct raft_entry entry = {
        .term = r->term, .kind = kind, .size = (uint32_t)size, .bytes = bytes};

    if (raft_log_last(&r->log) >= RAFT_NUMBER_MAX || !raft_log_append(&r->log, &entry))
        return false;
    if (kind == RAFT_CONFIGURATION)
        raft_adopt_entry(r, raft_log_last(&r->log));
    raft_advance_commit(r);
    return true;
}

void raft_begin_replication(struct raft *r, struct raft_peer *peer)
{
    peer->next = raft_log_last(&r->log) + 1;
    peer->match = 0;
    peer->probing = true;
    peer->caught_up = false;
    peer->chunk_index = 0;
    peer->round_end = 0;
    peer->read_round = 0;
    peer->sent_us = peer->pause_us = 0;
    peer->heard_us = peer->progress_us = r->now_us;
}

/* ---- leader: sending ---- */

/* How many entries fit into one message, from peer->next on. */
static uint32_t batch_size(const struct raft *r, const struct raft_peer *peer)
{
    size_t room = RAFT_MESSAGE_BYTES_MAX - RAFT_HEAD_BYTES - 28;
    const struct raft_entry *entry;
    uint32_t count = 0;

    while (peer->next + count <= peer->match + WINDOW &&
           (entry = raft_log_entry(&r->log, peer->next + count)) != NULL &&
           RAFT_ENTRY_HEAD_BYTES + entry->size <= room) {
        room -= RAFT_ENTRY_HEAD_BYTES + entry->size;
        count++;
    }
    return count;
}

static void send_append(struct raft *r, struct raft_peer *peer, uint32_t count)
{
    struct raft_message m = raft_message_to(r, RAFT_APPEND, &peer->id);
    struct cursor c = cursor_writer(r->out, sizeof r->out);

    assert(peer->match < peer->next && peer->match <= raft_log_last(&r->log));
    assert(peer->next > r->log.base_index && peer->next + count <= raft_log_last(&r->log) + 1);
    m.append.prev_index = peer->next - 1;
    m.append.prev_term = raft_log_term(&r->log, peer->next - 1);
    m.append.commit = r->commit;
    m.append.count = count;
    raft_wire_put(&c, &m);
    for (uint32_t i = 0; i < count; i++)
        raft_wire_put_entry(&c, raft_log_entry(&r->log, peer->next + i));
    assert(cursor_ok(&c));
    r->owner.send(r->owner.context, &peer->id, r->out, (size_t)(c.at - r->out));
    peer->sent_us = r->now_us;
    if (peer->probing)
        peer->pause_us = r->now_us + r->config.heartbeat_us;
    else
        peer->next += count;
}

static bool is_unanswered(const struct raft *r, const struct raft_peer *peer)
{
    return !peer->probing && peer->match + 1 < peer->next &&
           r->now_us >= peer->progress_us + 2 * r->config.heartbeat_us;
}

static void send_entries(struct raft *r, struct raft_peer *peer)
{
    uint32_t count;

    while ((count = batch_size(r, peer)) > 0) {
        if (peer->match + 1 == peer->next)
            peer->progress_us = r->now_us;
        send_append(r, peer, count);
        if (peer->probing)
            return;
    }
    if (r->now_us >= peer->sent_us + r->config.heartbeat_us || peer->sent_us == 0)
        send_append(r, peer, 0);
}

static void replicate_to(struct raft *r, struct raft_peer *peer)
{
    if (is_unanswered(r, peer)) {
        peer->next = peer->match + 1;
        peer->probing = true;
        peer->pause_us = 0;
    }
    if (peer->probing && r->now_us < peer->pause_us)
        return;
    if (peer->next <= r->log.base_index)
        raft_send_chunk(r, peer);
    else
        send_entries(r, peer);
}

/* ---- leader: answers ---- */

void raft_on_append_reply(struct raft *r, const struct raft_message *m)
{
    struct raft_peer *peer = raft_peer(r, &m->from);

    if (r->role != RAFT_LEADER || peer == NULL)
        return;
    peer->heard_us = r->now_us;
    if (!(m->flags & RAFT_YES)) {
        /* What was acknowledged stays so (figure 2: matchIndex only grows); a late refusal costs a
         * probe. */
        if (m->index < peer->match || m->index + 1 > peer->next)
            return;
        peer->next = m->index + 1;
        peer->probing = true;
        peer->pause_us = 0;
        return;
    }
    if (m->index > raft_log_last(&r->log))
        return; /* nobody can have that */
    peer->probing = false;
    peer->pause_us = 0;
    if (m->index > peer->match) {
        peer->match = m->index;
        peer->progress_us = r->now_us;
    }
    if (peer->next <= peer->match)
        peer->next = peer->match + 1;
    raft_watch_learner(r, peer);
    raft_advance_commit(r);
}

/* ---- follower ---- */

/* 3.5: the last entry before the new ones must be the same in both logs. What was dropped here is
 * committed, and so it is. */
static bool agrees_before(const struct raft *r, const struct raft_append *a)
{
    if (a->prev_index < r->log.base_index)
        return true;
    return a->prev_index <= raft_log_last(&r->log) &&
           raft_log_term(&r->log, a->prev_index) == a->prev_term;
}

/* 3.5: where the logs can agree at most: before the whole term that conflicts, not before what is
 * committed. */
static uint64_t agrees_at_most(const struct raft *r, const struct raft_append *a)
{
    uint64_t index = a->prev_index, term;

    if (index > raft_log_last(&r->log))
        return raft_log_last(&r->log);
    term = raft_log_term(&r->log, index);
    while (index > r->commit && raft_log_term(&r->log, index) == term)
        index--;
    return index;
}

/* 3.5: an entry that conflicts goes, with all that follow it; one that is there stays. */
static bool take_entry(struct raft *r, uint64_t index, const struct raft_entry *entry)
{
    if (index <= r->log.base_index || raft_log_term(&r->log, index) == entry->term)
        return true;
    if (index <= r->commit) {
        raft_say(r, "raft: refused to replace entry %llu, which is committed",
                 (unsigned long long)index);
        return false;
    }
    if (index <= raft_log_last(&r->log)) {
        raft_log_truncate(&r->log, index - 1);
        if (r->configuration_index >= index)
            raft_restore_configuration(r);
    }
    if (!raft_log_append(&r->log, entry))
        return false;
    if (entry->kind == RAFT_CONFIGURATION)
        raft_adopt_entry(r, index);
    return true;
}

void raft_on_append(struct raft *r, const struct raft_message *m)
{
    struct raft_message reply = raft_message_to(r, RAFT_APPEND_REPLY, &m->from);
    const struct raft_append *a = &m->append;
    uint64_t agreed, commit;

    if (r->role == RAFT_LEADER)
        return; /* there is one leader a term: 3.6.3 */
    raft_follow(r, &m->from);
    if (!agrees_before(r, a)) {
        reply.index = agrees_at_most(r, a);
        raft_send(r, &reply);
        return;
    }
    struct cursor c = a->entries;
    uint64_t index = a->prev_index;

    for (uint32_t i = 0; i < a->count; i++) {
        struct raft_entry entry;

        raft_wire_get_entry(&c, &entry);
        if (!take_entry(r, index + 1, &entry))
            break;
        index++;
    }
    agreed = index;
    /* figure 2: only what is known to agree with the leader's log may be committed */
    commit = a->commit < agreed ? a->commit : agreed;
    if (commit > r->commit)
        r->commit = commit;
    assert(r->commit <= raft_log_last(&r->log));
    reply.flags = RAFT_YES;
    reply.index = agreed > r->commit ? agreed : r->commit;
    raft_send(r, &reply);
}

/* ---- time ---- */

/* 4.2.2: who is removed is told so only when that is committed. If it were the only one to have
 * the entry, those whom it is still to vote for could not win without it, and it does not stand. */
static bool is_served(const struct raft *r, const struct raft_peer *peer)
{
    return peer->member || raft_is_settled(r);
}

void raft_step_replication(struct raft *r)
{
    for (size_t i = r->peer_count; i-- > 0;) /* who has departed is forgotten */
        if (!r->peers[i].member && r->now_us >= r->peers[i].leave_us)
            r->peers[i] = r->peers[--r->peer_count];
    if (r->role != RAFT_LEADER)
        return;
    for (size_t i = 0; i < r->peer_count; i++)
        if (is_served(r, &r->peers[i]))
            replicate_to(r, &r->peers[i]);
}

static uint64_t peer_deadline(const struct raft *r, const struct raft_peer *peer)
{
    uint64_t due_us = peer->sent_us + r->config.heartbeat_us;
    uint64_t again_us = peer->progress_us + 2 * r->config.heartbeat_us;

    if (peer->probing && r->now_us < peer->pause_us)
        return peer->pause_us; /* after that there may be nothing to send but the next heartbeat */
    if (!peer->probing && peer->match + 1 < peer->next && again_us < due_us)
        return again_us;
    return due_us;
}

uint64_t raft_replication_deadline(const struct raft *r)
{
    uint64_t next_us = UINT64_MAX;

    for (size_t i = 0; r->role == RAFT_LEADER && i < r->peer_count; i++) {
        const struct raft_peer *peer = &r->peers[i];
        uint64_t due_us = is_served(r, peer) ? peer_deadline(r, peer) : peer->leave_us;

        next_us = due_us < next_us ? due_us : next_us;
    }
    if (r->role == RAFT_LEADER && r->lead.transfer.active && r->lead.transfer.end_us < next_us)
        next_us = r->lead.transfer.end_us;
    return next_us;
}
