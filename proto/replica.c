/*
 * replica.c - the host table of those who do not coordinate: applies what the coordinator
 * publishes, in the order of versions, and acknowledges it.
 *
 * A full table may also come from another host that has a later one (a successor that lags behind
 * is brought up to date this way); a change is taken from the coordinator alone.
 */
#include <string.h>

#include "proto/member_state.h"

/* Walks over all rows of a frame without taking any. */
static bool is_well_formed(struct cursor c, const struct table_head *head)
{
    struct host host;
    uint8_t flags;

    for (uint16_t i = 0; i < head->count && cursor_ok(&c); i++)
        table_get_row(&c, &host, &flags);
    return cursor_done(&c);
}

static bool is_later(const struct table *t, const struct table_head *head)
{
    return head->epoch > t->epoch || (head->epoch == t->epoch && head->version > t->version);
}

/* Why a TABLE frame is not taken; NULL: take it; "": silently not. */
static const char *table_refusal(const struct member *m, uint32_t host,
                                 const struct table_head *head)
{
    const struct reading *r = &m->reading;

    if (!is_later(&m->table, head))
        return "";
    if (head->flags & TABLE_FULL) {
        bool goes_on = r->sender == host && r->epoch == head->epoch && r->version == head->version;
        return head->flags & TABLE_FIRST || goes_on ? NULL : "";
    }
    if (host != head->coordinator)
        return "a change from a host that does not coordinate";
    if (head->epoch != m->table.epoch || head->base != m->table.version)
        return "a change of a version that is not here";
    return NULL;
}

/* ---- rows ---- */

static void gone_missing(struct member *m, struct row *row, const char *cause, uint64_t now_us)
{
    if (row->host.index == m->self)
        member_end(m, NODE_END_CUT_OFF, "the coordinator declared this host gone");
    else
        member_set_state(m, row, HOST_DOWN, cause, now_us);
}

/* What a row says anew, apart from its state. */
static void refresh_row(struct row *row, const struct host *host)
{
    uint8_t state = row->host.state;

    row->host = *host;
    row->host.state = state;
}

static void apply_self(struct member *m, struct row *row, const struct host *host, uint64_t now_us)
{
    row->host.incarnation = host->incarnation;
    if (host->state == HOST_DOWN)
        gone_missing(m, row, "", now_us);
    else
        row->host.state = host->state == HOST_JOINING ? HOST_JOINING : HOST_UP;
}

static void apply_row(struct member *m, const struct host *host, uint8_t flags, uint64_t now_us)
{
    struct row *row = table_row(&m->table, host->index);

    if (row && memcmp(row->host.id, host->id, HOST_ID_BYTES) != 0 && row->host.index != m->self) {
        member_set_state(m, row, HOST_DOWN, "another daemon has its index", now_us);
        table_drop(&m->table, row);
        row = NULL;
    }
    if (!row) {
        row = table_add(&m->table, host);
        if (!row)
            return;
        if (host->state != HOST_DOWN)
            row->host.state = HOST_JOINING;
        row->heard_us = now_us;
    }
    row->marked = true;
    if (row->host.index == m->self) {
        apply_self(m, row, host, now_us);
        return;
    }
    /* who was declared gone stays gone: its session has ended here */
    if (!row_is_living(row))
        return;
    row->flags = flags | (row->flags & ROW_LEFT);
    refresh_row(row, host);
    member_set_state(m, row, host->state, "so says the coordinator", now_us);
}

/* ---- frames ---- */

static void unmark_all(struct member *m)
{
    for (size_t i = 0; i < m->table.count; i++)
        table_at(&m->table, i)->marked = false;
}

static void drop_unmarked(struct member *m, uint64_t now_us)
{
    for (size_t i = 0; i < m->table.count && m->phase != MEMBER_ENDED; i++) {
        struct row *row = table_at(&m->table, i);

        if (!row->marked && row_is_living(row))
            gone_missing(m, row, "it is not in the table", now_us);
    }
}

/* A coordinator that is new here was perhaps never heard of: its silence begins now. */
static void watch_coordinator(struct member *m, uint64_t now_us)
{
    struct row *row = table_row(&m->table, m->table.coordinator);

    if (row && m->watched != row->host.index)
        row->heard_us = row->direct_us = now_us;
    if (!row && m->watched != 0)
        election_orphan(m, now_us);
    m->watched = m->table.coordinator;
    detector_start(m, now_us);
}

/* The coordinator, who may not be the one that sent this, must know who has which version. */
static void acknowledge(struct member *m, uint64_t now_us)
{
    uint8_t ack[16];
    struct cursor c = cursor_writer(ack, sizeof ack);

    cursor_put_u64(&c, m->table.epoch);
    cursor_put_u64(&c, m->table.version);
    member_send(m, m->table.coordinator, FRAME_TABLE_ACK, ack, sizeof ack, now_us);
}

static void complete(struct member *m, const struct table_head *head, uint64_t now_us)
{
    if (head->flags & TABLE_FULL)
        drop_unmarked(m, now_us);
    m->reading.sender = 0;
    if (head->epoch > m->table.epoch)
        m->election.claimed = 0;
    m->table.epoch = head->epoch;
    m->table.version = head->version;
    m->table.incarnation = head->incarnation;
    m->table.next_index = head->next_index;
    if (m->phase == MEMBER_ENDED)
        return;
    watch_coordinator(m, now_us);
    acknowledge(m, now_us);
    if (m->phase == MEMBER_JOINING && row_is_up(table_row(&m->table, m->self)))
        member_begin_up(m, now_us);
    table_tidy(&m->table);
}

static void begin(struct member *m, const struct table_head *head, uint32_t host)
{
    const struct row *row;

    if (head->flags & TABLE_FULL && head->flags & TABLE_FIRST) {
        m->reading = (struct reading){host, head->epoch, head->version};
        unmark_all(m);
    }
    /* before the rows: who hears of them may ask who coordinates; who said goodbye does not, though
     * its last tables may come after that */
    row = table_row(&m->table, head->coordinator);
    table_set_coordinator(&m->table, row && row->flags & ROW_LEFT ? 0 : head->coordinator);
}

void replica_on_table(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                      uint64_t now_us)
{
    struct cursor c = cursor_reader(payload, size);
    struct table_head head;
    struct host row;
    const char *refusal;
    uint8_t flags;

    table_get_head(&c, &head);
    refusal = is_well_formed(c, &head) ? table_refusal(m, host, &head) : "it is malformed";
    if (refusal) {
        if (*refusal)
            member_log(m, "refused TABLE of host %u: %s", host, refusal);
        return;
    }
    begin(m, &head, host);
    for (uint16_t i = 0; i < head.count && m->phase != MEMBER_ENDED; i++) {
        table_get_row(&c, &row, &flags);
        apply_row(m, &row, flags, now_us);
    }
    if (head.flags & TABLE_LAST)
        complete(m, &head, now_us);
}
