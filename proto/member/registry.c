/*
 * registry.c - the coordinator's side of the host table: taking office, invitations, joins,
 * removal, proposals, agreement and publication.
 *
 * Nothing is changed in the table before it is agreed. What the coordinator wants of a row is
 * written beside it (row->dirty, row->wanted); the next step proposes all of that to the log as one
 * change, and when the log has it, it is in the table here as at every voter, and goes to all other
 * hosts. One change is under way at a time, so a storm of joins costs one version per round trip
 * and not one per host.
 *
 * Hosts that sent JOIN wait (row->wants) until no batch is open and the last one is some time ago;
 * then all that wait are proposed together, as JOINING. Hosts that were silent for too long are
 * proposed at once, as condemned. They become UP and DOWN together when enough hosts acknowledged
 * the batch (see member.c). An invitation is a matter of the coordinator alone, and ends with its
 * office.
 */
#include <errno.h>
#include <string.h>

#include "proto/member/member_state.h"
#include "proto/wire/control.h"
#include "proto/wire/deadline.h"

/* From one batch of joins to the next so much for each host, but for the first few, where others
 * are expected and where nobody is; and so many times that by which this host was late, lately:
 * what a batch asks of all hosts may be more than they, or the machine that they share, can do. */
#define JOINS_EACH_US 500
#define JOINS_LAST_US 100
#define JOINS_FREE 64
#define JOINS_LATE_TIMES 8

/* A batch may add so much to what waits to be sent, in rows of about so many bytes. */
#define JOINS_BYTES (32u << 20)
#define JOINS_ROW_BYTES 64
#define JOINS_LEAST 160 /* come all the same */

/* From one change that nobody waits for to the next, as between joins. */
#define SUSPECTS_EACH_US 100

/* ---- wishes ---- */

static bool is_expected(const struct row *row)
{
    return row->invited || row->wants;
}

static void begin_wish(struct member *m, struct row *row, bool urgent)
{
    row->dirty = true;
    m->office.publish = true;
    m->office.urgent |= urgent;
}

void registry_want(struct member *m, struct row *row, uint8_t state, const char *cause,
                   uint64_t now_us)
{
    if (is_expected(row)) {
        member_set_state(m, row, state, cause, now_us);
        return;
    }
    /* who is suspected, or not any more, stays in the VM */
    begin_wish(m, row, !row_is_up(row) || (state != HOST_UP && state != HOST_SUSPECT));
    row->wanted = state;
    row->wanted_flags |= row->flags & ROW_LEFT;
    row->cause = cause;
}

static void open_batch(struct member *m)
{
    m->office.batch = true;
    m->office.batch_version = 0;
    m->office.lacking = 0;
}

/* Joins wait for an open batch, this extends it: else the death of those whose acknowledgement it
 * waits for could keep it open for ever. */
void registry_condemn(struct member *m, struct row *row)
{
    if (row->wanted_flags & ROW_CONDEMNED)
        return;
    row->wanted_flags |= ROW_CONDEMNED;
    begin_wish(m, row, true);
    open_batch(m);
    m->office.condemns = true;
}

void member_set_voters(struct member *m, const uint32_t *hosts, size_t count)
{
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);
        uint8_t flags = row->wanted_flags & (uint8_t)~ROW_VOTER;

        for (size_t k = 0; k < count; k++)
            if (hosts[k] == row->host.index)
                flags |= ROW_VOTER;
        if (!row_is_agreed(row) || !row_is_living(row) || flags == row->wanted_flags)
            continue;
        row->wanted_flags = flags;
        begin_wish(m, row, false); /* they vote already, or not any more: the log says so */
    }
}

/* ---- invitations ---- */

int member_invite(struct member *m, const char *name, uint64_t *incarnation, uint64_t now_us)
{
    struct host host = {.name = name, .arch = "", .state = HOST_JOINING};
    struct row *row;

    if (!is_coordinator(m) || m->phase != MEMBER_UP)
        return -EPERM;
    if (table_living(&m->table, name) != NULL)
        return -EEXIST;
    host.index = table_take_index(&m->table);
    if (host.index == 0)
        return -ENOSPC;
    host.incarnation = m->table.incarnation + 1;
    row = table_add(&m->table, &host);
    if (row == NULL)
        return -ENOSPC;
    m->table.incarnation++;
    row->invited = true;
    row->wanted = HOST_JOINING;
    row->heard_us = now_us;
    *incarnation = host.incarnation;
    return (int)host.index;
}

void member_uninvite(struct member *m, uint32_t index, uint64_t now_us)
{
    struct row *row = table_row(&m->table, index);

    if (row == NULL || row->host.state != HOST_JOINING || index == m->self || !is_coordinator(m))
        return;
    registry_want(m, row, HOST_DOWN, "its invitation was withdrawn", now_us);
}

/* Who was merely invited is in the table of this host alone. */
static void registry_forget(struct member *m, struct row *row)
{
    if (!row_is_agreed(row)) {
        row->host.forgotten = 1;
        return;
    }
    row->wanted = HOST_DOWN;
    row->wanted_flags |= ROW_FORGOTTEN;
    begin_wish(m, row, true);
}

int member_remove(struct member *m, uint32_t index, uint64_t now_us)
{
    struct row *row = table_row(&m->table, index);
    uint8_t why = NODE_END_REMOVED;

    if (!is_coordinator(m) || m->phase != MEMBER_UP)
        return -EPERM;
    if (row == NULL)
        return -ENOENT;
    if (!row_is_living(row))
        registry_forget(m, row);
    else if (index == m->self)
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

static bool any_invited(const struct member *m)
{
    for (size_t i = 0; i < m->table.count; i++)
        if (table_at(&m->table, i)->invited && row_is_living(table_at(&m->table, i)))
            return true;
    return false;
}

static uint64_t joins_pause_end(const struct member *m, uint64_t each_us)
{
    size_t count = m->table.count > JOINS_FREE ? m->table.count - JOINS_FREE : 0;
    uint64_t end_us = m->office.opened_us + count * each_us;

    return end_us > m->office.calm_us ? end_us : m->office.calm_us;
}

void registry_on_join(struct member *m, uint32_t index, const uint8_t *payload, size_t size,
                      uint64_t now_us)
{
    struct row *row = table_row(&m->table, index);
    struct cursor c = cursor_reader(payload, size);
    struct host_room room;
    struct host host;
    const char *refusal;

    control_get_host(&c, &host, &room);
    refusal = cursor_done(&c) ? join_refusal(m, row, &host) : "it is malformed";
    host.index = index;
    if (refusal == NULL) {
        host.incarnation = row->host.incarnation;
        host.state = HOST_JOINING;
        host.coordinator = false;
        refusal = table_describe(row, &host) ? NULL : "no memory";
    }
    if (refusal != NULL) {
        member_log(m, "refused JOIN of host %u: %s", index, refusal);
        return;
    }
    row->invited = false;
    row->wants = true;
    row->heard_us = row->direct_us = now_us;
    row->wanted = HOST_JOINING;
    row->wanted_flags = 0;
    m->office.waiting = true;
    if (!any_invited(m))
        m->office.joins_us = earlier(m->office.joins_us, joins_pause_end(m, JOINS_LAST_US));
    detector_start(m, now_us);
}

/* So many may join at once. Each of them is sent all rows, and all others its row: thousands that
 * come together would make a queue of a gigabyte. */
static size_t joins_room(const struct member *m)
{
    size_t queued = m->owner.queued(m->owner.context, 0);

    return queued >= JOINS_BYTES ? 0
                                 : (JOINS_BYTES - queued) / (2 * JOINS_ROW_BYTES * m->table.count);
}

/* The next batch of joins may be opened then. */
static uint64_t joins_due_us(const struct office *o)
{
    return o->crowded ? o->calm_us : o->joins_us;
}

/* All hosts that wait are proposed together, or as many as there is room for. A batch costs a frame
 * or two to every host: the more they are, the less often there is one. Only those that found no
 * room need not wait, unless there is none yet: then a few come all the same, at their time. */
static void open_joins(struct member *m, uint64_t now_us)
{
    struct office *o = &m->office;

    if (o->batch || !o->waiting || now_us < joins_due_us(o))
        return;
    size_t room = joins_room(m), least = now_us < o->joins_us ? JOINS_FREE : JOINS_LEAST;

    if (now_us < o->joins_us && room < least)
        return;
    room = room > least ? room : least;
    o->waiting = o->crowded = false;
    o->opened_us = now_us;
    o->calm_us = now_us + JOINS_LATE_TIMES * o->late_us;
    o->joins_us = joins_pause_end(m, any_invited(m) ? JOINS_EACH_US : JOINS_LAST_US);
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (!row->wants || !row_is_living(row))
            continue;
        if (room-- == 0) {
            o->waiting = o->crowded = true;
            break;
        }
        row->wants = false;
        row->fresh = true;
        begin_wish(m, row, true);
        open_batch(m);
    }
}

/* ---- agreement ---- */

/* How many more must acknowledge `version` until that is at least half, the coordinator included:
 * of the hosts before the open batch, or of those after it. */
static size_t count_lacking(const struct member *m, uint64_t version, bool after)
{
    size_t all = 0, agreed = 0;

    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);
        bool joins = row->host.state == HOST_JOINING && row_is_agreed(row);
        bool counts = after ? (row_is_up(row) && !row_is_condemned(row)) || joins : row_is_up(row);

        if (!counts)
            continue;
        all++;
        agreed += row->host.index == m->self || row->acked >= version;
    }
    return 2 * agreed >= all ? 0 : (all + 1) / 2 - agreed;
}

/* All hosts are counted only when so many more have acknowledged as lacked the last time: each
 * acknowledgement asks, and thousands come. */
static bool batch_is_agreed(struct member *m)
{
    struct office *o = &m->office;

    if (!o->batch || o->batch_version == 0 || o->lacking > 0)
        return false;
    size_t before = count_lacking(m, o->batch_version, false);
    size_t after = count_lacking(m, o->batch_version, true);

    m->config.counters->batch_counts++;
    o->lacking = before > after ? before : after;
    return o->lacking == 0;
}

static bool is_reader(const struct member *m, const struct row *row)
{
    return row_is_living(row) && row_is_agreed(row) && row->host.index != m->self;
}

void registry_on_ack(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                     uint64_t now_us)
{
    struct cursor c = cursor_reader(payload, size);
    uint64_t epoch = cursor_get_u64(&c), version = cursor_get_u64(&c);
    uint8_t missing = cursor_get_u8(&c);
    struct row *row = table_row(&m->table, host);

    if (!cursor_done(&c) || missing > 1) {
        member_log(m, "refused TABLE_ACK of host %u: it is malformed", host);
        return;
    }
    if (!is_coordinator(m) || epoch != m->table.epoch || version > m->table.version)
        return;
    if (!missing && version > row->acked) {
        bool lacked = row->acked < m->office.batch_version && m->office.lacking > 0;

        m->office.lacking -= lacked && version >= m->office.batch_version;
        row->acked = version;
    }
    /* of several changes that it cannot take those count that came after the full table */
    if (missing && version > row->whole && is_reader(m, row)) {
        row->whole = m->table.version;
        registry_send_full(m, host, now_us);
    }
}

/* ---- publication ---- */

static void send_to(struct member *m, bool synced, const uint8_t *payload, size_t size,
                    uint64_t now_us)
{
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (is_reader(m, row) && row->synced == synced)
            member_send(m, row->host.index, FRAME_TABLE, payload, size, now_us);
    }
}

void registry_send_full(struct member *m, uint32_t host, uint64_t now_us)
{
    size_t at = 0;

    do {
        size_t size = table_encode(&m->table, &at, m->scratch, sizeof m->scratch);
        member_send(m, host, FRAME_TABLE, m->scratch, size, now_us);
    } while (at < m->table.count);
}

/* The change to those who have what it is based on, the table to all others. */
static void publish(struct member *m, const uint8_t *change, size_t size, uint64_t now_us)
{
    bool others = false;

    send_to(m, true, change, size, now_us);
    for (size_t i = 0; i < m->table.count; i++)
        others |= is_reader(m, table_at(&m->table, i)) && !table_at(&m->table, i)->synced;
    for (size_t at = 0; others && at < m->table.count;) {
        size_t length = table_encode(&m->table, &at, m->scratch, sizeof m->scratch);
        send_to(m, false, m->scratch, length, now_us);
    }
    for (size_t i = 0; i < m->table.count; i++)
        table_at(&m->table, i)->synced = is_reader(m, table_at(&m->table, i));
}

/* ---- proposals ---- */

/* What a row is to be is what it is, until something else is wanted. */
static void forget_wishes(struct member *m)
{
    m->office.publish = m->office.urgent = m->office.batch = m->office.proposed = false;
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        row->dirty = false;
        row->wanted = row->host.state;
        row->wanted_flags = row->flags;
    }
}

static bool registry_propose(struct member *m, uint64_t now_us)
{
    uint8_t change[TABLE_CHANGE_BYTES_MAX];
    size_t at = 0, size;

    size = table_encode_change(&m->table, m->office.epoch, m->self, &at, change, sizeof change);
    m->office.proposed = true;
    /* The first `at` rows are in the log. */
    m->office.publish = m->office.urgent = at < m->table.count;
    m->office.suspects_us =
        now_us + (m->table.count > JOINS_FREE ? m->table.count - JOINS_FREE : 0) * SUSPECTS_EACH_US;
    for (size_t i = 0; i < at; i++)
        table_at(&m->table, i)->dirty = false;
    if (m->owner.propose(m->owner.context, change, size, now_us) >= 0)
        return true;
    /* It is not in the log: all of it again. */
    m->office.proposed = false;
    m->office.publish = m->office.urgent = true;
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        row->dirty |= row->wanted != row->host.state || row->wanted_flags != row->flags;
    }
    return false;
}

/* ---- office ---- */

bool registry_holds_half(const struct member *m, uint64_t since_us)
{
    size_t all = 0, alive = 0;

    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);

        if (!row_is_up(row) || row->flags & ROW_LEFT)
            continue;
        all++;
        alive += row->host.index == m->self || row->heard_us >= since_us;
    }
    return 2 * alive >= all;
}

static void discard(struct member *m, struct row *row, uint64_t now_us)
{
    row->invited = true;
    row->wants = row->fresh = false;
    member_set_state(m, row, HOST_DOWN, "who invited it does not coordinate any more", now_us);
}

void registry_discard_fresh(struct member *m, uint64_t now_us)
{
    for (size_t i = 0; i < m->table.count; i++)
        if (table_at(&m->table, i)->fresh)
            discard(m, table_at(&m->table, i), now_us);
}

void member_lead(struct member *m, uint64_t epoch, uint64_t now_us)
{
    registry_discard_fresh(m, now_us);
    forget_wishes(m);
    m->office.epoch = epoch;
    m->office.since_us = now_us;
    detector_start(m, now_us);
}

void member_depose(struct member *m, uint64_t now_us)
{
    forget_wishes(m);
    m->office = (struct office){0};
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (is_expected(row) && row_is_living(row))
            discard(m, row, now_us);
    }
    if (is_coordinator(m) && m->phase < MEMBER_HALTING) {
        uint8_t payload[8];
        struct cursor c = cursor_writer(payload, sizeof payload);

        cursor_put_u64(&c, m->table.epoch);
        for (size_t i = 0; i < m->table.count; i++)
            if (is_reader(m, table_at(&m->table, i)))
                member_send(m, table_at(&m->table, i)->host.index, FRAME_RESIGN, payload,
                            sizeof payload, now_us);
        member_log(m, "host %u coordinates no more: it does not lead the log", m->self);
        m->resigned = m->table.epoch;
        election_orphan(m, now_us);
    }
}

/* RESIGN = epoch=u64: from then on its coordinator does not coordinate. */
void registry_on_resign(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                        uint64_t now_us)
{
    struct cursor c = cursor_reader(payload, size);
    uint64_t epoch = cursor_get_u64(&c);

    if (!cursor_done(&c)) {
        member_log(m, "refused RESIGN of host %u: it is malformed", host);
        return;
    }
    if (epoch > m->resigned)
        m->resigned = epoch; /* though nobody may have heard of that epoch here */
    if (host != m->table.coordinator || epoch != m->table.epoch)
        return;
    m->last = 0; /* it is alive */
    election_orphan(m, now_us);
}

/* The one before this may have condemned or suspected this host, and whoever votes thinks
 * otherwise. Others have that in their tables. */
static void pardon_self(struct member *m)
{
    struct row *self = table_row(&m->table, m->self);

    self->wanted_flags &= (uint8_t)~ROW_CONDEMNED;
    begin_wish(m, self, true);
}

/* Who leads the log coordinates as soon as at least half of the hosts are heard. */
static void take_office(struct member *m, uint64_t now_us)
{
    if (m->office.proposed || !registry_holds_half(m, m->office.since_us))
        return;
    pardon_self(m);
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (row->flags & ROW_LEFT && row_is_living(row))
            registry_want(m, row, HOST_DOWN, "said goodbye", now_us);
    }
    registry_propose(m, now_us);
}

void registry_on_change(struct member *m, const uint8_t *payload, size_t size, bool took_office,
                        uint64_t now_us)
{
    m->office.proposed = false;
    m->office.lacking = 0; /* others may count now */
    if (took_office) {
        /* All but the one that fell silent in office, and those that did not answer to their names,
         * are measured from now on. */
        bool others = false;

        member_log(m, "host %u coordinates from epoch %llu on", m->self,
                   (unsigned long long)m->table.epoch);
        open_batch(m);
        departure_resume(m, now_us);
        for (size_t i = 0; i < m->table.count; i++) {
            struct row *row = table_at(&m->table, i);

            if (row->host.index != m->last)
                others |= roll_apply(m, row, now_us);
            row->synced = is_reader(m, row); /* else it says so */
            row->acked = row->whole = 0;
        }
        if (others && m->last != 0)
            roll_join(m, table_row(&m->table, m->last));
        m->last = 0;
        roll_end(m);
        detector_start(m, now_us);
    }
    if (m->office.batch && !m->office.urgent && m->office.batch_version == 0)
        m->office.batch_version = m->table.version;
    publish(m, payload, size, now_us);
    table_tidy(&m->table);
}

/* What a row is to be is proposed at once, but for hosts that fall silent or are heard of again:
 * when a third of thousands is cut off for a moment each of them would be a change of its own,
 * which goes to all. */
static bool publishes_now(const struct member *m, uint64_t now_us)
{
    return m->office.publish && (m->office.urgent || now_us >= m->office.suspects_us);
}

uint64_t registry_deadline(const struct member *m, uint64_t now_us)
{
    const struct office *o = &m->office;
    bool suspects = o->publish && !o->proposed && o->suspects_us > now_us;

    if (!is_coordinator(m))
        return UINT64_MAX;
    /* who finds no room at the first of these times does at the second */
    uint64_t joins_us = joins_due_us(o) > now_us ? joins_due_us(o) : o->joins_us;

    return earlier(o->waiting && joins_us > now_us ? joins_us : UINT64_MAX,
                   suspects ? o->suspects_us : UINT64_MAX);
}

/* The open batch is agreed: its hosts are to be up, or down. */
static void close_batch(struct member *m, uint64_t now_us)
{
    m->office.batch = m->office.condemns = false;
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (!row_is_living(row) || !row_is_agreed(row) || row->wanted == HOST_DOWN)
            continue;
        if (row_is_condemned(row))
            registry_want(m, row, HOST_DOWN, "not heard of for too long", now_us);
        else if (row->host.state == HOST_JOINING)
            registry_want(m, row, HOST_UP, "joined", now_us);
    }
}

/* Where others wait to join, those of this batch come up when theirs opens. */
static bool waits_for_next(const struct member *m, uint64_t now_us)
{
    const struct office *o = &m->office;

    return o->waiting && !o->condemns && now_us < joins_due_us(o);
}

/* Proposes until nothing is left that can go on without an answer. What ends one batch and what
 * opens the next are one change: each change costs every host a frame and an answer. */
void registry_step(struct member *m, uint64_t now_us)
{
    if (m->office.epoch == 0 || m->phase < MEMBER_UP || m->phase >= MEMBER_GOODBYE)
        return;
    if (is_candidate(m))
        take_office(m, now_us);
    while (is_coordinator(m) && m->office.epoch == m->table.epoch && !m->office.proposed) {
        open_joins(m, now_us);
        bool at_once = publishes_now(m, now_us);

        if (!at_once && (waits_for_next(m, now_us) || !batch_is_agreed(m)))
            return;
        if (!at_once) {
            close_batch(m, now_us);
            open_joins(m, now_us);
        }
        if (m->office.publish && !registry_propose(m, now_us))
            return;
    }
}
