/*
 * raft_snapshot.c - snapshots (chapter 5): they bound the log, and bring a member up to date that
 * lacks entries which were dropped.
 *
 * When the applied entries in the log take more than config.log_bytes, the owner's state is saved
 * and entries are dropped until half of that is left, which serves followers that are only a little
 * behind. A snapshot travels in chunks, each sent when the one before it was answered.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/raft/raft_state.h"
#include "proto/wire/grow.h"

#define CHUNK_BYTES (RAFT_MESSAGE_BYTES_MAX - 1024)

void raft_snapshot_clear(struct raft_snapshot *snapshot)
{
    free(snapshot->bytes);
    *snapshot = (struct raft_snapshot){0};
}

/* ---- taking ---- */

static void drop_applied(struct raft *r)
{
    uint64_t index = r->log.base_index;
    size_t before = r->log.bytes;

    while (index < r->snapshot.index && r->applied_bytes > r->config.log_bytes / 2) {
        const struct raft_entry *entry = raft_log_entry(&r->log, ++index);

        assert(entry != NULL && r->applied_bytes >= sizeof *entry + entry->size);
        r->applied_bytes -= sizeof *entry + entry->size;
    }
    raft_log_drop(&r->log, index);
    if (before > r->log.bytes)
        raft_say(r, "raft: snapshot of %zu bytes at entry %llu, log %zu -> %zu bytes",
                 r->snapshot.size, (unsigned long long)r->snapshot.index, before, r->log.bytes);
}

static bool is_sending(const struct raft *r)
{
    for (size_t i = 0; r->role == RAFT_LEADER && i < r->peer_count; i++) {
        const struct raft_peer *peer = &r->peers[i];

        if (peer->member && peer->next <= r->log.base_index && peer->chunk_index != 0 &&
            r->now_us < peer->heard_us + r->config.election_us)
            return true;
    }
    return false;
}

/* One that is on its way is not replaced: who receives slowly would never have all of one. */
static bool is_wanted(const struct raft *r)
{
    return r->applied > r->snapshot.index && r->applied_bytes > r->config.log_bytes &&
           (r->applied_bytes > 4 * r->config.log_bytes || !is_sending(r));
}

void raft_take_snapshot(struct raft *r)
{
    struct raft_snapshot taken = {0};

    if (!is_wanted(r) || !r->owner.snapshot_save(r->owner.context, &taken.bytes, &taken.size))
        return;
    if (taken.size > RAFT_SNAPSHOT_BYTES_MAX) {
        raft_say(r, "raft: the state is too large for a snapshot: %zu bytes", taken.size);
        raft_snapshot_clear(&taken);
        return;
    }
    taken.index = r->applied;
    taken.term = raft_log_term(&r->log, r->applied);
    /* The configuration in force at entry `index`, which is not after the last one applied. */
    uint64_t index = r->applied;
    struct raft_configuration conf = r->snapshot.configuration;

    for (uint64_t i = index; i > r->log.base_index && i > r->snapshot.index; i--) {
        const struct raft_entry *entry = raft_log_entry(&r->log, i);

        if (entry->kind == RAFT_CONFIGURATION &&
            raft_wire_get_configuration(entry->bytes, entry->size, &conf))
            break;
    }
    taken.configuration = conf;
    raft_snapshot_clear(&r->snapshot);
    r->snapshot = taken;
    drop_applied(r);
}

/* ---- sending ---- */

void raft_send_chunk(struct raft *r, struct raft_peer *peer)
{
    struct raft_message m = raft_message_to(r, RAFT_SNAPSHOT, &peer->id);
    const struct raft_snapshot *s = &r->snapshot;
    size_t left;

    if (peer->chunk_index != s->index || peer->chunk_offset > s->size) {
        peer->chunk_index = s->index;
        peer->chunk_offset = 0;
    }
    assert(peer->next <= s->index);
    left = s->size - peer->chunk_offset;
    m.chunk = (struct raft_chunk){.index = s->index,
                                  .last_term = s->term,
                                  .configuration = s->configuration,
                                  .total = (uint32_t)s->size,
                                  .offset = peer->chunk_offset,
                                  .size = (uint32_t)(left < CHUNK_BYTES ? left : CHUNK_BYTES),
                                  .bytes = s->bytes + peer->chunk_offset};
    raft_send(r, &m);
    peer->probing = true;
    peer->sent_us = r->now_us;
    peer->pause_us = r->now_us + r->config.heartbeat_us;
}

void raft_on_snapshot_reply(struct raft *r, const struct raft_message *m)
{
    struct raft_peer *peer = raft_peer(r, &m->from);

    if (r->role != RAFT_LEADER || peer == NULL)
        return;
    peer->heard_us = r->now_us;
    if (m->have.index != peer->chunk_index || m->have.offset <= peer->chunk_offset)
        return; /* of another one, or late: the heartbeat sends the chunk again */
    peer->chunk_offset = m->have.offset;
    peer->pause_us = 0;
}

/* ---- receiving ---- */

/* What is there grows by what arrived, not by what a message says will come. */
static void snapshot_collect(struct raft *r, const struct raft_chunk *chunk)
{
    struct raft_snapshot *s = &r->incoming;

    if (s->index != chunk->index || s->term != chunk->last_term || s->total != chunk->total) {
        raft_snapshot_clear(s);
        s->index = chunk->index;
        s->term = chunk->last_term;
        s->total = chunk->total;
        s->configuration = chunk->configuration;
    }
    if (chunk->offset != s->size ||
        !GROW(s->bytes, s->capacity, s->size + chunk->size, CHUNK_BYTES))
        return;
    if (chunk->size)
        memcpy(s->bytes + s->size, chunk->bytes, chunk->size);
    s->size += chunk->size;
}

static void install(struct raft *r)
{
    struct raft_snapshot *s = &r->incoming;

    if (!r->owner.snapshot_load(r->owner.context, s->bytes, s->size)) {
        raft_say(r, "raft: refused a snapshot of %zu bytes: it is malformed", s->size);
        raft_snapshot_clear(s);
        return;
    }
    raft_say(r, "raft: loaded the snapshot at entry %llu, %zu bytes", (unsigned long long)s->index,
             s->size);
    /* 5, figure 5.3: a log that agrees with the snapshot's last entry keeps what follows it, any
     * other is replaced as a whole. */
    uint64_t index = r->incoming.index;

    assert(index > r->commit && r->role != RAFT_LEADER);
    if (raft_log_last(&r->log) > index && raft_log_term(&r->log, index) == r->incoming.term)
        raft_log_drop(&r->log, index);
    else
        raft_log_clear(&r->log, index, r->incoming.term);
    raft_snapshot_clear(&r->snapshot);
    r->snapshot = r->incoming;
    r->incoming = (struct raft_snapshot){0};
    r->commit = r->applied = index;
    r->applied_bytes = 0;
    raft_restore_configuration(r);
}

void raft_on_snapshot(struct raft *r, const struct raft_message *m)
{
    if (r->role == RAFT_LEADER)
        return;
    raft_follow(r, &m->from);
    if (m->chunk.index > r->commit)
        snapshot_collect(r, &m->chunk);
    if (r->incoming.index > r->commit && r->incoming.size == r->incoming.total)
        install(r);
    struct raft_message reply = raft_message_to(r, RAFT_APPEND_REPLY, &m->from);

    if (m->chunk.index <= r->commit) {
        reply.flags = RAFT_YES;
        reply.index = r->commit;
    } else {
        reply.kind = RAFT_SNAPSHOT_REPLY;
        reply.have.index = m->chunk.index;
        reply.have.offset = (uint32_t)r->incoming.size;
    }
    raft_send(r, &reply);
}
