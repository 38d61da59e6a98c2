/*
 * replica.c - the host table as every host has it: applies what is agreed, in the order of
 * versions, and acknowledges it to the coordinator.
 *
 * A voter learns of a change from the log, everyone from the coordinator's TABLE frames; of a
 * version both say the same, and it is applied once. So the host that the voters elect has all that
 * is agreed, whatever it heard of the last coordinator. A full table may also come from another
 * host that has a later one (who claims with an old one is brought up to date this way); a change
 * is taken from the coordinator alone. Who has not the table that a change is based on says so, and
 * is sent the full one. So a coordinator that is new need not send all of it to everyone. Nothing
 * is taken of a generation before the one promised.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/member/member_state.h"

#define READING_BYTES_MAX (4u << 20)
#define READING_STEP (256u << 10) /* of its room: so much leaves no gap among the rows */

static bool is_later(const struct table *t, const struct table_head *head)
{
    return head->epoch > t->epoch || (head->epoch == t->epoch && head->version > t->version);
}

static bool continues(const struct reading *r, uint32_t host, const struct table_head *head)
{
    return r->sender == host && r->epoch == head->epoch && r->version == head->version;
}

/* Why a TABLE frame is not taken; NULL: take it; "": silently not. */
static const char *table_refusal(const struct member *m, uint32_t host,
                                 const struct table_head *head)
{
    if (!is_later(&m->table, head) || epoch_generation(head->epoch) < m->table.promised)
        return "";
    if (head->flags & TABLE_FULL)
        return head->flags & TABLE_FIRST || continues(&m->reading, host, head) ? NULL : "";
    if (host != head->coordinator)
        return "a change from a host that does not coordinate";
    return NULL;
}

static bool is_based_here(const struct table *t, const struct table_head *head)
{
    return head->flags & TABLE_FULL || (head->base_epoch == t->epoch && head->base == t->version);
}

/* Whoever coordinates must know who has which version, and who cannot take a change. */
static void acknowledge(struct member *m, uint32_t coordinator, const struct table_head *head,
                        bool missing, uint64_t now_us)
{
    uint8_t ack[TABLE_ACK_BYTES];
    struct cursor c = cursor_writer(ack, sizeof ack);

    cursor_put_u64(&c, head->epoch);
    cursor_put_u64(&c, head->version);
    cursor_put_u8(&c, missing);
    member_send(m, coordinator, FRAME_TABLE_ACK, ack, sizeof ack, now_us);
}

/* ---- rows ---- */

static void gone_missing(struct member *m, struct row *row, const char *cause, uint64_t now_us)
{
    if (row->host.index == m->self)
        member_end(m, NODE_END_CUT_OFF, "the coordinator declared this host gone");
    else
        member_set_state(m, row, HOST_DOWN, cause, now_us);
}

/* What is known of a host that was not, or not under this id; NULL: no memory. */
static struct row *new_row(struct member *m, const struct host *host, uint64_t now_us)
{
    struct row *row = table_row(&m->table, host->index);

    if (row != NULL) {
        member_set_state(m, row, HOST_DOWN, "another daemon has its index", now_us);
        table_drop(&m->table, row);
    }
    row = table_add(&m->table, host);
    if (row != NULL && host->state != HOST_DOWN)
        row->host.state = HOST_JOINING;
    if (row != NULL)
        row->heard_us = now_us;
    return row;
}

static bool is_same_daemon(const struct member *m, const struct row *row, const struct host *host)
{
    return row != NULL &&
           (row->host.index == m->self || memcmp(row->host.id, host->id, HOST_ID_BYTES) == 0);
}

static void apply_row(struct member *m, const struct host *host, uint8_t flags, uint64_t now_us)
{
    struct row *row = table_row(&m->table, host->index);

    if (!is_same_daemon(m, row, host))
        row = new_row(m, host, now_us);
    if (row == NULL)
        return;
    row->marked = true;
    row->fresh = false;
    /* who was declared gone stays gone: its session has ended here */
    if (row->host.index != m->self && !row_is_living(row)) {
        row->flags |= flags & ROW_FORGOTTEN;
        row->host.forgotten = (row->flags & ROW_FORGOTTEN) != 0;
        return;
    }
    row->flags = flags | (row->flags & ROW_LEFT);
    if (row->host.index == m->self) {
        row->host.incarnation = host->incarnation;
        if (host->state == HOST_DOWN)
            gone_missing(m, row, "", now_us);
        else
            row->host.state = host->state == HOST_JOINING ? HOST_JOINING : HOST_UP;
        if (row_is_up(row))
            table_rise(&m->table, row);
        return;
    }
    /* What a row says anew, apart from its state; without memory it goes on saying what it did. */
    uint8_t state = row->host.state;

    table_describe(row, host);
    row->host.state = state;
    member_set_state(
        m, row, host->state,
        is_coordinator(m) && row->cause != NULL ? row->cause : "so says the coordinator", now_us);
}

/* Says of a host that is in the table what becomes of it. One that is not was gone, and the row of
 * it was dropped here. */
static void apply_brief(struct member *m, const struct host *said, uint8_t flags, uint64_t now_us)
{
    const struct row *row = table_row(&m->table, said->index);

    if (row == NULL)
        return;
    struct host host = row->host;

    host.state = said->state;
    apply_row(m, &host, flags, now_us);
}

/* ---- frames ---- */

/* Who resigned or said goodbye does not coordinate, though its last changes may come after that. */
static void follow(struct member *m, const struct table_head *head)
{
    const struct row *row = table_row(&m->table, head->coordinator);
    bool former = head->epoch <= m->resigned || (row != NULL && row->flags & ROW_LEFT);

    table_set_coordinator(&m->table, former ? 0 : head->coordinator);
}

static void complete(struct member *m, const struct table_head *head, uint64_t now_us)
{
    struct table *t = &m->table;

    if (head->epoch > t->epoch) {
        m->election.claimed = 0;
        registry_discard_fresh(m, now_us);
    }
    t->epoch = head->epoch;
    t->version = head->version;
    if (epoch_generation(t->epoch) > t->promised)
        t->promised = epoch_generation(t->epoch);
    follow(m, head); /* the rows said who it was once */
    if (is_coordinator(m)) {
        m->watched = 0;
        return;
    }
    t->incarnation = head->incarnation;
    t->next_index = head->next_index;
    if (m->phase == MEMBER_ENDED)
        return;
    /* A coordinator that is new here was perhaps never heard of: its silence begins now. */
    struct row *row = table_row(&m->table, m->table.coordinator);

    if (row != NULL && m->watched != row->host.index)
        row->heard_us = row->direct_us = now_us;
    if (row == NULL && m->watched != 0)
        election_orphan(m, now_us);
    if (row != NULL && m->watched != row->host.index && m->phase == MEMBER_GOODBYE)
        member_say_goodbye(m, now_us);
    /* A change of the one that fell silent may come after that, from who leads the log next: the
     * roll call goes on. */
    if (row != NULL && m->watched != row->host.index)
        roll_end(m);
    m->watched = m->last = m->table.coordinator;
    detector_start(m, now_us);
    if (m->table.coordinator != 0) /* who may not be the one that sent this */
        acknowledge(m, m->table.coordinator, head, false, now_us);
    if (m->phase == MEMBER_JOINING && row_is_up(table_row(t, m->self)))
        member_begin_up(m, now_us);
    table_tidy(t);
}

static void apply_rows(struct member *m, const uint8_t *payload, size_t size, uint64_t now_us)
{
    struct cursor c = cursor_reader(payload, size);
    struct table_head head;
    struct host_room room = {0};
    struct host host = host_in(&room);
    uint8_t flags;

    table_get_head(&c, &head);
    follow(m, &head); /* before the rows: who hears of them may ask who coordinates */
    for (uint16_t i = 0; i < head.count && m->phase != MEMBER_ENDED; i++) {
        bool described = table_get_row(&c, &host, &room, &flags);

        host.coordinator = host.index == m->table.coordinator;
        if (described)
            apply_row(m, &host, flags, now_us);
        else
            apply_brief(m, &host, flags, now_us);
    }
}

/* ---- full tables ---- */

/* The frame at the front; false: the bytes are none. */
static bool next_frame(struct cursor *c, const uint8_t **payload, size_t *size,
                       struct table_head *head)
{
    *size = cursor_get_u32(c);
    *payload = cursor_get_view(c, *size);
    return cursor_ok(c) && table_is_well_formed(*payload, *size, head) && head->flags & TABLE_FULL;
}

/* See table_save(): well-formed, and all of one version. */
static void apply_full(struct member *m, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    struct cursor c = cursor_reader(bytes, size);
    struct table_head head;
    const uint8_t *payload;
    size_t length;

    for (size_t i = 0; i < m->table.count; i++)
        table_at(&m->table, i)->marked = false;
    while (cursor_left(&c) > 0 && next_frame(&c, &payload, &length, &head))
        apply_rows(m, payload, length, now_us);
    for (size_t i = 0; i < m->table.count && m->phase != MEMBER_ENDED; i++) {
        struct row *row = table_at(&m->table, i);

        if (!row->marked && row_is_living(row))
            gone_missing(m, row, "it is not in the table", now_us);
    }
    complete(m, &head, now_us);
}

bool member_on_snapshot(struct member *m, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    struct cursor c = cursor_reader(bytes, size);
    struct table_head head = {0}, first = {0};
    const uint8_t *payload;
    size_t length;

    while (cursor_left(&c) > 0) {
        if (!next_frame(&c, &payload, &length, &head))
            return false;
        if (first.epoch == 0)
            first = head;
        if (head.epoch != first.epoch || head.version != first.version)
            return false;
    }
    if (!(head.flags & TABLE_LAST))
        return false;
    if (is_later(&m->table, &head) && epoch_generation(head.epoch) >= m->table.promised)
        apply_full(m, bytes, size, now_us);
    return true;
}

void replica_drop_reading(struct member *m)
{
    free(m->reading.bytes);
    m->reading = (struct reading){0};
}

/* A frame of a full table is kept until all are there. */
static void replica_collect(struct member *m, uint32_t host, const struct table_head *head,
                            const uint8_t *payload, size_t size)
{
    struct reading *r = &m->reading;
    struct cursor c;
    uint8_t *bytes;

    if (head->flags & TABLE_FIRST) {
        replica_drop_reading(m);
        *r = (struct reading){.sender = host, .epoch = head->epoch, .version = head->version};
    }
    bytes = r->bytes;
    if (r->size + 4 + size > r->room) {
        r->room = r->size + 4 + size + READING_STEP;
        bytes = r->room > READING_BYTES_MAX ? NULL : realloc(r->bytes, r->room);
    }
    if (bytes == NULL) {
        replica_drop_reading(m);
        return;
    }
    c = cursor_writer(bytes + r->size, 4 + size);
    cursor_put_u32(&c, (uint32_t)size);
    cursor_put_bytes(&c, payload, size);
    r->bytes = bytes;
    r->size += 4 + size;
}

/* ---- frames ---- */

void replica_on_table(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                      uint64_t now_us)
{
    struct table_head head;
    const char *refusal = table_is_well_formed(payload, size, &head) ? table_refusal(m, host, &head)
                                                                     : "it is malformed";

    if (refusal != NULL) {
        if (*refusal)
            member_log(m, "refused TABLE of host %u: %s", host, refusal);
        return;
    }
    if (!is_based_here(&m->table, &head)) {
        member_log(m, "TABLE of host %u is a change of a version that is not here", host);
        acknowledge(m, host, &head, true, now_us);
        return;
    }
    if (!(head.flags & TABLE_FULL)) {
        apply_rows(m, payload, size, now_us);
        complete(m, &head, now_us);
        return;
    }
    replica_collect(m, host, &head, payload, size);
    if (!(head.flags & TABLE_LAST) || m->reading.sender == 0)
        return;
    apply_full(m, m->reading.bytes, m->reading.size, now_us);
    replica_drop_reading(m);
}

/* ---- the log ---- */

/* What is agreed comes to the host that proposed it as to all who keep the log. */
void member_on_change(struct member *m, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    struct table_head head;
    bool own, new_office;

    if (!table_is_well_formed(bytes, size, &head) || head.flags & TABLE_FULL) {
        member_log(m, "refused a change of the table: it is malformed");
        return;
    }
    own = head.coordinator == m->self && head.epoch == m->office.epoch;
    new_office = own && head.epoch > m->table.epoch;
    if (!is_later(&m->table, &head) || epoch_generation(head.epoch) < m->table.promised)
        return; /* a TABLE frame was faster */
    if (head.base != m->table.version ||
        (!own && epoch_generation(head.epoch) != epoch_generation(m->table.epoch))) {
        member_log(m, "a change of the table is based on version %llu, which is not here",
                   (unsigned long long)head.base);
        return;
    }
    apply_rows(m, bytes, size, now_us);
    complete(m, &head, now_us);
    if (own && m->phase != MEMBER_ENDED)
        registry_on_change(m, bytes, size, new_office, now_us);
}
