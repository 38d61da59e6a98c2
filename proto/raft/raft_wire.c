/*
 * raft_wire.c - the messages between engines as bytes: put and get of each kind beside each other,
 * a row of `BODIES` for each. A get refuses what no engine writes, as a member that stands twice.
 */
#include "proto/raft/raft_wire.h"

#include <string.h>

/* ---- ids and configurations ---- */

bool raft_id_equal(const struct raft_id *a, const struct raft_id *b)
{
    return a->host == b->host && memcmp(a->id, b->id, RAFT_ID_BYTES) == 0;
}

static void put_id(struct cursor *c, const struct raft_id *id)
{
    cursor_put_u32(c, id->host);
    cursor_put_bytes(c, id->id, RAFT_ID_BYTES);
}

static void get_id(struct cursor *c, struct raft_id *id)
{
    id->host = cursor_get_u32(c);
    cursor_get_bytes(c, id->id, RAFT_ID_BYTES);
}

void raft_wire_put_configuration(struct cursor *c, const struct raft_configuration *conf)
{
    cursor_put_u8(c, conf->count);
    for (uint8_t i = 0; i < conf->count; i++) {
        put_id(c, &conf->members[i].id);
        cursor_put_u8(c, conf->members[i].voter);
    }
}

static bool is_twice(const struct raft_configuration *conf, uint8_t i)
{
    for (uint8_t j = 0; j < i; j++)
        if (raft_id_equal(&conf->members[i].id, &conf->members[j].id))
            return true;
    return false;
}

/* Refuses what no engine makes: too many members or voters, one of them twice, no voter at all. */
static void get_configuration(struct cursor *c, struct raft_configuration *conf)
{
    unsigned voters = 0;

    memset(conf, 0, sizeof *conf);
    conf->count = cursor_get_u8(c);
    c->bad |= conf->count > RAFT_MEMBERS_MAX;
    for (uint8_t i = 0; i < conf->count && cursor_ok(c); i++) {
        uint8_t voter;

        get_id(c, &conf->members[i].id);
        voter = cursor_get_u8(c);
        c->bad |= voter > 1 || is_twice(conf, i);
        conf->members[i].voter = voter == 1;
        voters += voter;
    }
    c->bad |= voters == 0 || voters > RAFT_VOTERS_MAX;
}

bool raft_wire_get_configuration(const uint8_t *bytes, size_t size, struct raft_configuration *conf)
{
    struct cursor c = cursor_reader(bytes, size);
    struct raft_configuration read;

    get_configuration(&c, &read);
    if (!cursor_done(&c))
        return false;
    *conf = read;
    return true;
}

/* ---- entries ---- */

void raft_wire_put_entry(struct cursor *c, const struct raft_entry *entry)
{
    cursor_put_u64(c, entry->term);
    cursor_put_u8(c, entry->kind);
    cursor_put_u32(c, entry->size);
    cursor_put_bytes(c, entry->bytes, entry->size);
}

void raft_wire_get_entry(struct cursor *c, struct raft_entry *entry)
{
    struct raft_configuration conf;

    entry->term = cursor_get_u64(c);
    entry->kind = cursor_get_u8(c);
    entry->size = cursor_get_u32(c);
    c->bad |= entry->term == 0 || entry->kind < RAFT_NOOP || entry->kind > RAFT_CONFIGURATION ||
              entry->size > RAFT_COMMAND_BYTES_MAX;
    entry->bytes = cursor_get_view(c, entry->size);
    if (cursor_ok(c) && entry->kind == RAFT_CONFIGURATION)
        c->bad |= !raft_wire_get_configuration(entry->bytes, entry->size, &conf);
}

/* ---- bodies ---- */

static void put_vote(struct cursor *c, const struct raft_message *m)
{
    cursor_put_u64(c, m->vote.term);
    cursor_put_u64(c, m->vote.last_index);
    cursor_put_u64(c, m->vote.last_term);
}

static void get_vote(struct cursor *c, struct raft_message *m)
{
    m->vote.term = cursor_get_u64(c);
    m->vote.last_index = cursor_get_u64(c);
    m->vote.last_term = cursor_get_u64(c);
}

static void put_vote_reply(struct cursor *c, const struct raft_message *m)
{
    cursor_put_u64(c, m->asked);
}

static void get_vote_reply(struct cursor *c, struct raft_message *m)
{
    m->asked = cursor_get_u64(c);
}

static void put_append(struct cursor *c, const struct raft_message *m)
{
    cursor_put_u64(c, m->append.prev_index);
    cursor_put_u64(c, m->append.prev_term);
    cursor_put_u64(c, m->append.commit);
    cursor_put_u32(c, m->append.count);
}

/* Terms never fall along a log and never exceed the sender's. */
static void get_append(struct cursor *c, struct raft_message *m)
{
    struct raft_append *a = &m->append;
    uint64_t term;

    a->prev_index = cursor_get_u64(c);
    a->prev_term = term = cursor_get_u64(c);
    a->commit = cursor_get_u64(c);
    a->count = cursor_get_u32(c);
    a->entries = *c;
    for (uint32_t i = 0; i < a->count && cursor_ok(c); i++) {
        struct raft_entry entry;

        raft_wire_get_entry(c, &entry);
        c->bad |= entry.term < term;
        term = entry.term;
    }
    c->bad |= m->term == 0 || term > m->term || a->prev_index > RAFT_NUMBER_MAX;
}

static void put_append_reply(struct cursor *c, const struct raft_message *m)
{
    cursor_put_u64(c, m->index);
}

static void get_append_reply(struct cursor *c, struct raft_message *m)
{
    m->index = cursor_get_u64(c);
}

static void put_snapshot(struct cursor *c, const struct raft_message *m)
{
    cursor_put_u64(c, m->chunk.index);
    cursor_put_u64(c, m->chunk.last_term);
    raft_wire_put_configuration(c, &m->chunk.configuration);
    cursor_put_u32(c, m->chunk.total);
    cursor_put_u32(c, m->chunk.offset);
    cursor_put_u32(c, m->chunk.size);
    cursor_put_bytes(c, m->chunk.bytes, m->chunk.size);
}

static void get_snapshot(struct cursor *c, struct raft_message *m)
{
    struct raft_chunk *chunk = &m->chunk;

    chunk->index = cursor_get_u64(c);
    chunk->last_term = cursor_get_u64(c);
    get_configuration(c, &chunk->configuration);
    chunk->total = cursor_get_u32(c);
    chunk->offset = cursor_get_u32(c);
    chunk->size = cursor_get_u32(c);
    chunk->bytes = cursor_get_view(c, chunk->size);
    c->bad |= chunk->total > RAFT_SNAPSHOT_BYTES_MAX || chunk->offset > chunk->total ||
              chunk->size > chunk->total - chunk->offset || chunk->index == 0 ||
              chunk->index > RAFT_NUMBER_MAX || chunk->last_term == 0 || chunk->last_term > m->term;
}

static void put_snapshot_reply(struct cursor *c, const struct raft_message *m)
{
    cursor_put_u64(c, m->have.index);
    cursor_put_u32(c, m->have.offset);
}

static void get_snapshot_reply(struct cursor *c, struct raft_message *m)
{
    m->have.index = cursor_get_u64(c);
    m->have.offset = cursor_get_u32(c);
}

static void put_timeout_now(struct cursor *c, const struct raft_message *m)
{
    (void)c;
    (void)m;
}

static void get_timeout_now(struct cursor *c, struct raft_message *m)
{
    (void)c;
    (void)m;
}

static void put_round(struct cursor *c, const struct raft_message *m)
{
    cursor_put_u64(c, m->round);
}

static void get_round(struct cursor *c, struct raft_message *m)
{
    m->round = cursor_get_u64(c);
    c->bad |= m->term == 0;
}

/* ---- messages ---- */

struct body {
    const char *name;
    void (*put)(struct cursor *c, const struct raft_message *m);
    void (*get)(struct cursor *c, struct raft_message *m);
};

static const struct body *body_of(int kind)
{
    static const struct body BODIES[] = {
#define RAFT_BODY(number, name, body) [number] = {#name, put_##body, get_##body},
        RAFT_KINDS(RAFT_BODY)
#undef RAFT_BODY
    };

    return kind > 0 && kind < (int)(sizeof BODIES / sizeof BODIES[0]) ? &BODIES[kind] : NULL;
}

const char *raft_wire_kind_name(int kind)
{
    return body_of(kind) != NULL ? body_of(kind)->name : NULL;
}

void raft_wire_put(struct cursor *c, const struct raft_message *m)
{
    cursor_put_u8(c, m->kind);
    cursor_put_u8(c, m->flags);
    cursor_put_u16(c, 0);
    cursor_put_u64(c, m->term);
    put_id(c, &m->from);
    put_id(c, &m->to);
    body_of(m->kind)->put(c, m);
}

bool raft_wire_get(const uint8_t *bytes, size_t size, struct raft_message *m)
{
    struct cursor c = cursor_reader(bytes, size);

    memset(m, 0, sizeof *m);
    m->kind = cursor_get_u8(&c);
    m->flags = cursor_get_u8(&c);
    c.bad |= cursor_get_u16(&c) != 0 || m->flags > (RAFT_PRE | RAFT_TRANSFER | RAFT_YES);
    m->term = cursor_get_u64(&c);
    c.bad |= m->term > RAFT_NUMBER_MAX;
    get_id(&c, &m->from);
    get_id(&c, &m->to);
    if (!cursor_ok(&c) || body_of(m->kind) == NULL)
        return false;
    body_of(m->kind)->get(&c, m);
    return cursor_done(&c);
}
