/*
 * registry.c - the coordinator's side of the host table: invitations, joins, removal, agreement and
 * publication. Changes are collected (row->dirty) and published together by the next step, so a
 * storm of joins costs one version per round trip and not one per host.
 *
 * Hosts that sent JOIN wait (row->wants) until no batch is open; then all that wait are proposed in
 * one version, as JOINING. Hosts that were silent for too long are proposed at once, as condemned.
 * They become UP and DOWN together when the batch is agreed (see member.c).
 */
#include <errno.h>
#include <string.h>

#include "proto/control.h"
#include "proto/member_state.h"

void registry_touch(struct member *m, struct row *row)
{
    row->dirty = true;
    m->publish = true;
}

/* Joins wait for an open batch, this extends it: else the death of those whose acknowledgement it
 * waits for could keep it open for ever. */
void registry_condemn(struct member *m, struct row *row)
{
    if (row_is_condemned(row))
        return;
    row->flags |= ROW_CONDEMNED;
    registry_touch(m, row);
    m->batch_version = m->table.version + 1;
}

/* ---- invitations ---- */

int member_invite(struct member *m, const char *name, uint64_t *incarnation, uint64_t now_us)
{
    struct host host = {.state = HOST_JOINING};
    struct row *row;

    if (!is_coordinator(m) || m->phase != MEMBER_UP)
        return -EPERM;
    if (table_living(&m->table, name))
        return -EEXIST;
    host.index = table_take_index(&m->table);
    if (host.index == 0)
        return -ENOSPC;
    strncpy(host.name, name, HOST_NAME_MAX_BYTES);
    host.incarnation = m->table.incarnation + 1;
    row = table_add(&m->table, &host);
    if (!row)
        return -ENOSPC;
    m->table.incarnation++;
    row->invited = true;
    row->heard_us = now_us;
    *incarnation = host.incarnation;
    return (int)host.index;
}

void member_uninvite(struct member *m, uint32_t index, uint64_t now_us)
{
    struct row *row = table_row(&m->table, index);

    if (!row || row->host.state != HOST_JOINING || index == m->self || !is_coordinator(m))
        return;
    if (!row->invited && !row->wants)
        registry_touch(m, row);
    row->invited = row->wants = false;
    member_set_state(m, row, HOST_DOWN, "its invitation was withdrawn", now_us);
}

int member_remove(struct member *m, uint32_t index, uint64_t now_us)
{
    struct row *row = table_row(&m->table, index);
    uint8_t why = NODE_END_REMOVED;

    if (!is_coordinator(m) || m->phase != MEMBER_UP)
        return -EPERM;
    if (!row || !row_is_living(row))
        return -ENOENT;
    if (index == m->self)
        member_start_leave(m, why, now_us);
    else if (row->host.state == HOST_JOINING)
        member_uninvite(m, index, now_us);
    else
        member_send(m, index, FRAME_SHUTDOWN, &why, sizeof why, now_us);
    return 0;
}

/* ---- joins ---- */

/* Why a JOIN is refused, or NULL. */
static const char *join_refusal(const struct member *m, const struct row *row,
                                const struct host *host)
{
    if (!is_coordinator(m) || m->phase != MEMBER_UP)
        return "this host does not coordinate";
    if (!row->invited)
        return "it was not invited";
    if (strcmp(row->host.name, host->name) != 0)
        return "it was invited under another name";
    if (memcmp(row->host.id, host->id, HOST_ID_BYTES) != 0)
        return "its id is not that of its session";
    return NULL;
}

void registry_on_join(struct member *m, uint32_t index, const uint8_t *payload, size_t size,
                      uint64_t now_us)
{
    struct row *row = table_row(&m->table, index);
    struct cursor c = cursor_reader(payload, size);
    struct host host;
    const char *refusal;

    control_get_host(&c, &host);
    refusal = cursor_done(&c) ? join_refusal(m, row, &host) : "it is malformed";
    if (refusal) {
        member_log(m, "refused JOIN of host %u: %s", index, refusal);
        return;
    }
    host.index = index;
    host.incarnation = row->host.incarnation;
    host.state = HOST_JOINING;
    host.coordinator = 0;
    row->host = host;
    row->invited = false;
    row->wants = true;
    row->heard_us = row->direct_us = now_us;
    m->waiting = true;
    detector_start(m, now_us);
}

/* ---- agreement ---- */

/* Whether the coordinator and those that acknowledged `version` are at least half: of the hosts
 * before the open batch, or of those after it. */
static bool is_agreed_by(const struct member *m, uint64_t version, bool after)
{
    size_t all = 0, agreed = 0;

    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);
        bool joins = row->host.state == HOST_JOINING && !row->invited && !row->wants;
        bool counts = after ? (row_is_up(row) && !row_is_condemned(row)) || joins : row_is_up(row);

        if (!counts)
            continue;
        all++;
        agreed += row->host.index == m->self || row->acked >= version;
    }
    return 2 * agreed >= all;
}

static bool batch_is_agreed(const struct member *m)
{
    return m->batch_version != 0 && is_agreed_by(m, m->batch_version, false) &&
           is_agreed_by(m, m->batch_version, true);
}

static void finish_batch(struct member *m, uint64_t now_us)
{
    m->batch_version = 0;
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (!row_is_living(row) || row->invited || row->wants)
            continue;
        if (row_is_condemned(row)) {
            registry_touch(m, row);
            member_set_state(m, row, HOST_DOWN, "not heard of for too long", now_us);
        } else if (row->host.state == HOST_JOINING) {
            registry_touch(m, row);
            member_set_state(m, row, HOST_UP, "joined", now_us);
        }
    }
}

void registry_on_ack(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                     uint64_t now_us)
{
    struct cursor c = cursor_reader(payload, size);
    uint64_t epoch = cursor_get_u64(&c), version = cursor_get_u64(&c);
    struct row *row = table_row(&m->table, host);

    (void)now_us;
    if (!cursor_done(&c)) {
        member_log(m, "refused TABLE_ACK of host %u: it is malformed", host);
        return;
    }
    if (!is_coordinator(m) || epoch != m->table.epoch || version > m->table.version)
        return;
    if (version > row->acked)
        row->acked = version;
}

/* ---- publication ---- */

static bool is_reader(const struct member *m, const struct row *row)
{
    return row_is_living(row) && !row->invited && !row->wants && row->host.index != m->self;
}

static void send_to(struct member *m, bool synced, const uint8_t *payload, size_t size,
                    uint64_t now_us)
{
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (is_reader(m, row) && row->synced == synced)
            member_send(m, row->host.index, FRAME_TABLE, payload, size, now_us);
    }
}

/* Sends the table, or what changed, to all who have or have not the last version. */
static void send_table(struct member *m, bool synced, uint64_t now_us)
{
    size_t at = 0;

    do {
        size_t size = table_encode(&m->table, synced ? 0 : TABLE_FULL, m->table.version - 1, &at,
                                   m->scratch, sizeof m->scratch);
        send_to(m, synced, m->scratch, size, now_us);
    } while (at < m->table.count);
}

void registry_send_full(struct member *m, uint32_t host, uint64_t now_us)
{
    size_t at = 0;

    do {
        size_t size = table_encode(&m->table, TABLE_FULL, 0, &at, m->scratch, sizeof m->scratch);
        member_send(m, host, FRAME_TABLE, m->scratch, size, now_us);
    } while (at < m->table.count);
}

static void publish(struct member *m, uint64_t now_us)
{
    m->table.version++;
    m->publish = false;
    send_table(m, true, now_us);
    send_table(m, false, now_us);
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        row->dirty = false;
        row->synced = is_reader(m, row);
    }
    table_tidy(&m->table);
}

/* All hosts that wait are proposed in one version. */
static void open_batch(struct member *m)
{
    if (m->batch_version != 0 || !m->waiting)
        return;
    m->waiting = false;
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (!row->wants)
            continue;
        row->wants = false;
        registry_touch(m, row);
        m->batch_version = m->table.version + 1;
    }
}

void registry_take_over(struct member *m, uint64_t epoch, uint64_t now_us)
{
    m->table.epoch = epoch;
    m->batch_version = m->table.version + 1;
    m->publish = true;
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (row->flags & ROW_LEFT)
            member_set_state(m, row, HOST_DOWN, "said goodbye", now_us);
        if (row->host.index == m->table.coordinator && row_is_living(row))
            row->flags |= ROW_CONDEMNED;
        row->heard_us = row->direct_us = now_us;
        row->synced = row->wants = false;
        row->acked = 0;
    }
    table_set_coordinator(&m->table, m->self);
}

/* Proposes and publishes until nothing is left that can go on without an answer. */
void registry_step(struct member *m, uint64_t now_us)
{
    if (!is_coordinator(m) || m->phase >= MEMBER_HALTING)
        return;
    for (;;) {
        open_batch(m);
        if (m->publish)
            publish(m, now_us);
        if (!batch_is_agreed(m))
            return;
        finish_batch(m, now_us);
    }
}
