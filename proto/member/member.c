/*
 * member.c - membership: this node's own way through the VM, and the dispatch of its frames.
 *
 *   IDLE -> JOINING -> UP -> DRAINING -> GOODBYE ----> ENDED
 *    \_______________/ ^ \-> HALTING -> LINGERING -/
 *        bootstrap            (coordinator)
 *
 * The parts:
 *   table.c     rows, encoding of TABLE
 *   registry.c  the coordinator: office, invitations, joins, proposals, publication
 *   departure.c who may leave, and when
 *   replica.c   everyone: applies what is agreed, acknowledges it
 *   detector.c  heartbeats, suspicion, indirect probes, declaring a host gone
 *   roll.c      who else is there when the coordinator falls silent
 *   election.c  what if the voters cannot elect
 *
 * Who decides what. There is one log (council.c), kept by at most five voters, and one authority:
 * who leads the log coordinates the VM, as soon as it hears at least half of all hosts. It alone
 * changes the host table; each change is an entry of the log, is in force when it is agreed, and
 * then goes to all hosts, which follow the coordinator that the table names. When it falls silent
 * the voters elect another, which has all that is agreed from the log; who leads no more says so
 * (RESIGN). Membership elects nobody itself, but for the case in which the voters cannot: below.
 *
 * Who leaves waits until the others can do without it (departure.c): a host that is dead and was
 * not found out yet still counts as a voter, and as one of all hosts, and the VM must not lose its
 * majority because somebody who lives goes before the dead. Who is halted with the VM waits for
 * nobody.
 *
 * Two steps. A change of the set of hosts is in the table twice. A host that joins is JOINING
 * first, one that is silent for too long is condemned; they become UP and DOWN when at least half
 * of the hosts before and of the hosts after the change acknowledged that. (Who says goodbye is
 * DOWN at once: it helps nobody into office afterwards.) DOWN is for ever: whoever was declared
 * gone comes back as a new incarnation.
 *
 * When a majority of the voters is lost, by death or by a cut, more than half of all hosts go on
 * without them: one of them founds the next generation, with the host table and an empty state
 * (election.c). Why there are never two VMs:
 *   - Within a generation there is one log, and no two hosts have different tables of one version.
 *   - A founder has the promise of more than half of the hosts of its table, with those that join
 *     and without, and none of them has a later table. Whoever promised takes and acknowledges
 *     nothing of an earlier generation any more, and does not vote in it.
 *   - So a change of the set of hosts in the earlier generation, acknowledged by at least half of
 *     the hosts before and after it, was acknowledged by one that promised: before it did, or it is
 *     not in force and never will be. The founder knows of it at least as proposed, and no set of
 *     hosts that grew on one side of a cut outvotes another that never heard of it.
 *   - Two founders of one generation would need one host that promised it twice.
 *   - The coordinator needs half of the hosts as well, itself included: it ends when it finds more
 *     than half of them silent, and takes no command while it has not heard of half of them within
 *     half a fail timeout, which is what a host must not have heard of it before it promises. (If
 *     they hear each other one way only, or clocks go astray, both may take commands for a moment;
 *     the numbers that a later generation gives, as fences of locks, are larger than all before.)
 * With two hosts there is one voter, so this means: when the second dies, the first goes on; when
 * the first dies, the second cannot tell that from a cut, and ends.
 *
 * Time, in fail timeouts. A host is suspect after a half without a datagram of its own; condemned
 * when it gave no sign of life, also through others, for one and what detector.c adds, or after 3
 * without a datagram of its own. Without a coordinator for 0.2, or 0.35 where
 * hosts are thousands, its likely successors call the roll of all. The voters elect after 0.5 to
 * 0.75 of silence. Who leads and hears no majority of them resigns after 1.25. Without a
 * coordinator for 1.2 hosts ask who would help them found the next generation, or 0.25 after a
 * resignation; who called the roll, and heard too few voters for 0.5, asks then, and founds
 * after 1.2. If most of the voters are among those that would help, they have until 1.6. After 2
 * without a coordinator a host ends. Who leaves is released at once where nobody is silent, else
 * when those that are have been declared gone; after 3 it goes as it is.
 */
#include "proto/member/member.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/member/member_state.h"
#include "proto/wire/control.h"
#include "proto/wire/deadline.h"
#include "proto/wire/format.h"
#include "proto/wire/splitmix.h"

#define DRAIN_TIMEOUTS 3 /* who wants to leave and is not released goes after so many */
#define LINES_MAX 32     /* about hosts, in LINES_US */
#define LINES_US 2000000

struct member *member_create(const struct member_config *config, const struct member_owner *owner)
{
    struct member *m = malloc(sizeof *m);

    if (m == NULL)
        return NULL;
    memset(m, 0, offsetof(struct member, scratch)); /* which most hosts never touch */
    m->config = *config;
    host_keep(&m->config.self, &m->self_room, &config->self);
    m->owner = *owner;
    m->random = config->seed;
    m->phase_end_us = UINT64_MAX;
    m->tick_us = UINT64_MAX;
    return m;
}

void member_destroy(struct member *m)
{
    if (m == NULL)
        return;
    table_clear(&m->table);
    replica_drop_reading(m);
    free(m);
}

const struct table *member_table(const struct member *m)
{
    return &m->table;
}

uint32_t member_self(const struct member *m)
{
    return m->self;
}

bool member_is_up(const struct member *m)
{
    return m->phase >= MEMBER_UP && m->phase < MEMBER_ENDED;
}

bool member_is_busy(const struct member *m)
{
    return m->phase > MEMBER_UP && m->phase < MEMBER_ENDED;
}

bool member_in_office(const struct member *m)
{
    return is_coordinator(m) && m->office.epoch == m->table.epoch;
}

bool member_holds_office(const struct member *m)
{
    return member_in_office(m) && m->office.holds;
}

bool member_is_strained(const struct member *m)
{
    return member_in_office(m) && (8 * m->office.overdue > m->table.count ||
                                   m->office.late_us > m->config.fail_timeout_us / 20);
}

uint64_t member_beat_us(const struct member *m)
{
    return detector_beat_us(m);
}

bool member_has_ended(const struct member *m)
{
    return m->phase == MEMBER_ENDED;
}

bool member_is_leaving(const struct member *m)
{
    return (m->phase == MEMBER_DRAINING || m->phase == MEMBER_GOODBYE) &&
           m->why != NODE_END_SHUTDOWN && !departure_is_under_way(m);
}

void member_log(struct member *m, const char *format, ...)
{
    char line[320];
    FORMAT(line, sizeof line, format);
    m->owner.log(m->owner.context, line);
}

uint64_t member_random(struct member *m)
{
    return splitmix_next(&m->random);
}

void member_send(struct member *m, uint32_t host, uint8_t kind, const void *payload, size_t size,
                 uint64_t now_us)
{
    m->owner.send(m->owner.context, host, kind, payload, size, now_us);
}

/* ---- states ---- */

static void lines_end(struct member *m)
{
    size_t up = 0;

    if (m->lines.left_out == 0)
        return;
    for (size_t i = 0; i < m->table.count; i++)
        up += row_is_up(table_at(&m->table, i));
    member_log(m, "%u more changes of hosts; %zu are up", m->lines.left_out, up);
    m->lines.left_out = 0;
}

/* Whether one more line about a host is to be written. */
static bool lines_take(struct member *m, uint64_t now_us)
{
    if (now_us >= m->lines.end_us) {
        lines_end(m);
        m->lines = (struct lines){.end_us = now_us + LINES_US};
    }
    if (m->lines.written < LINES_MAX) {
        m->lines.written++;
        return true;
    }
    m->lines.left_out++;
    return false;
}

static uint64_t lines_deadline(const struct member *m)
{
    return m->lines.left_out > 0 ? m->lines.end_us : UINT64_MAX;
}

/* Tells the owner what of a row it does not know yet. */
static void member_announce(struct member *m, struct row *row)
{
    if (m->phase < MEMBER_UP || row->host.index == m->self || row->announced || !row_is_up(row))
        return;
    row->announced = true;
    m->owner.host(m->owner.context, &row->host, NODE_HOST_ADDED);
}

void member_set_state(struct member *m, struct row *row, uint8_t state, const char *cause,
                      uint64_t now_us)
{
    uint8_t before = row->host.state;
    bool known = row->announced;

    if (before == state)
        return;
    row->host.state = state;
    if (state == HOST_UP)
        table_rise(&m->table, row);
    if (state == HOST_DOWN)
        table_fall(&m->table);
    if (lines_take(m, now_us))
        member_log(m, "host %s (%u): %s -> %s%s: %s", row->host.name, row->host.index,
                   host_state_name(before), host_state_name(state),
                   state == HOST_DOWN && known ? ", gone" : "", cause);
    member_announce(m, row);
    if (state == HOST_DOWN) {
        row->announced = false;
        m->config.counters->hosts_gone++;
        if (known)
            m->owner.host(m->owner.context, &row->host, NODE_HOST_GONE);
        m->owner.close(m->owner.context, row->host.index, now_us);
    } else if (row->announced && state == HOST_SUSPECT) {
        m->owner.host(m->owner.context, &row->host, NODE_HOST_SUSPECT);
    } else if (known && before == HOST_SUSPECT && state == HOST_UP) {
        m->owner.host(m->owner.context, &row->host, NODE_HOST_ALIVE);
    }
}

static void set_phase(struct member *m, enum member_phase phase, uint64_t end_us)
{
    m->phase = phase;
    m->phase_end_us = end_us;
}

void member_begin_up(struct member *m, uint64_t now_us)
{
    set_phase(m, MEMBER_UP, UINT64_MAX);
    detector_start(m, now_us);
    m->owner.joined(m->owner.context);
    for (size_t i = 0; i < m->table.count; i++)
        member_announce(m, table_at(&m->table, i));
}

static const char *why_text(int why)
{
    return why == NODE_END_REMOVED ? "the coordinator removed this host" : "the VM was halted";
}

void member_end(struct member *m, int why, const char *text)
{
    if (m->phase == MEMBER_ENDED)
        return;
    /* who is on the way out is not cut off */
    if (why == NODE_END_CUT_OFF && member_is_busy(m)) {
        why = m->why;
        text = why_text(why);
    }
    set_phase(m, MEMBER_ENDED, UINT64_MAX);
    m->tick_us = UINT64_MAX;
    lines_end(m);
    if (why != 0)
        m->owner.ended(m->owner.context, why, text);
}

/* ---- the way in ---- */

void member_bootstrap(struct member *m, uint64_t now_us)
{
    struct host self = m->config.self;
    struct row *row;

    self.index = m->self = 1;
    self.incarnation = 1;
    self.state = HOST_UP;
    row = table_add(&m->table, &self);
    if (row == NULL) {
        member_end(m, NODE_END_JOIN_FAILED, "out of memory");
        return;
    }
    m->table.epoch = epoch_make(1, 0);
    m->table.version = m->table.incarnation = m->table.promised = 1;
    m->table.next_index = 2;
    table_set_coordinator(&m->table, m->self);
    member_begin_up(m, now_us);
}

void member_join(struct member *m, const struct host *coordinator, uint64_t now_us)
{
    struct host self = m->config.self, other = *coordinator;
    uint8_t payload[TABLE_ROW_BYTES_MAX];
    struct cursor c = cursor_writer(payload, sizeof payload);

    m->self = self.index;
    self.state = HOST_JOINING;
    other.state = HOST_UP;
    m->table.next_index = 1;
    if (self.index == 0 || self.index == other.index || self.index > HOST_INDEX_MAX ||
        other.index == 0 || other.index > HOST_INDEX_MAX || table_add(&m->table, &self) == NULL ||
        table_add(&m->table, &other) == NULL) {
        member_end(m, NODE_END_JOIN_FAILED, "the invitation names no host index, or no memory");
        return;
    }
    table_set_coordinator(&m->table, other.index);
    set_phase(m, MEMBER_JOINING, now_us + m->config.join_timeout_us);
    control_put_host(&c, &self);
    member_send(m, other.index, FRAME_JOIN, payload, (size_t)(c.at - payload), now_us);
}

void member_on_refused(struct member *m, uint32_t host, uint8_t reason, uint64_t now_us)
{
    const char *text =
        reason == REASON_IDENTITY
            ? "another daemon has joined with this host's invitation"
            : "the coordinator has declared this host gone or withdrew its invitation";

    (void)now_us;
    if (host != m->table.coordinator && !is_coordinator(m))
        return;
    member_end(m, m->phase == MEMBER_JOINING ? NODE_END_JOIN_FAILED : NODE_END_CUT_OFF, text);
}

void member_bind(struct member *m, uint32_t host, const uint8_t id[HOST_ID_BYTES])
{
    struct row *row = table_row(&m->table, host);

    if (row != NULL && row->invited)
        memcpy(row->host.id, id, HOST_ID_BYTES);
}

/* ---- the way out ---- */

/* GOODBYE = epoch=u64, the highest that the host knows of: to the coordinator, who tells the
 * others; to all, if that is this host or there is none. */
void member_say_goodbye(struct member *m, uint64_t now_us)
{
    uint8_t payload[8];
    struct cursor c = cursor_writer(payload, sizeof payload);
    bool to_all = is_coordinator(m) || m->table.coordinator == 0;

    cursor_put_u64(&c, election_epoch(m));
    /* who halts with the whole VM has nobody to disappoint */
    set_phase(m, MEMBER_GOODBYE,
              now_us + m->config.fail_timeout_us / (m->why == NODE_END_SHUTDOWN ? 10 : 2));
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (row_is_living(row) && !row->invited && row->host.index != m->self &&
            (to_all || row->host.index == m->table.coordinator))
            member_send(m, row->host.index, FRAME_GOODBYE, payload, sizeof payload, now_us);
    }
}

void member_start_leave(struct member *m, int why, uint64_t now_us)
{
    if (m->phase == MEMBER_DRAINING && why == NODE_END_SHUTDOWN) {
        member_say_goodbye(m, now_us); /* nobody stays who would need it */
        return;
    }
    if (m->phase != MEMBER_UP && m->phase != MEMBER_JOINING)
        return;
    m->why = why;
    if (why == NODE_END_SHUTDOWN || m->phase == MEMBER_JOINING) {
        member_say_goodbye(m, now_us);
        return;
    }
    set_phase(m, MEMBER_DRAINING, now_us + m->config.fail_timeout_us * DRAIN_TIMEOUTS);
    departure_start(m, now_us);
}

void member_leave(struct member *m, uint64_t now_us)
{
    member_start_leave(m, 0, now_us);
}

static bool any_other_lives(const struct member *m)
{
    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);

        if (row_is_living(row) && !row->invited && !(row->flags & ROW_LEFT) &&
            row->host.index != m->self)
            return true;
    }
    return false;
}

bool member_is_alone(const struct member *m)
{
    return !any_other_lives(m);
}

void member_shutdown(struct member *m, uint64_t now_us)
{
    uint8_t why = NODE_END_SHUTDOWN;

    if (!is_coordinator(m) || (m->phase != MEMBER_UP && m->phase != MEMBER_DRAINING))
        return;
    m->why = why;
    set_phase(m, MEMBER_HALTING, now_us + m->config.fail_timeout_us);
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (row_is_living(row) && !row->invited && row->host.index != m->self)
            member_send(m, row->host.index, FRAME_SHUTDOWN, &why, sizeof why, now_us);
    }
}

/* Whether the phase has reached what it waits for. */
static bool phase_is_done(const struct member *m, uint64_t now_us)
{
    switch (m->phase) {
    case MEMBER_DRAINING:
        return departure_is_free(m, now_us);
    case MEMBER_GOODBYE:
        /* of coordinator 0, none, it means all hosts */
        return !any_other_lives(m) ||
               m->owner.queued(m->owner.context, is_coordinator(m) ? 0 : m->table.coordinator) == 0;
    case MEMBER_HALTING:
        return !any_other_lives(m);
    default:
        return false;
    }
}

/* ---- frames ---- */

static void on_goodbye(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us)
{
    struct row *row = table_row(&m->table, host);
    struct cursor c = cursor_reader(payload, size);
    uint64_t epoch = cursor_get_u64(&c);

    /* who helped a successor into office does not count on this side any more */
    if (!cursor_done(&c) || epoch > election_epoch(m)) {
        member_log(m, "refused GOODBYE of host %u: it is malformed or of a later epoch", host);
        return;
    }
    row->flags |= ROW_LEFT;
    if (is_coordinator(m)) {
        registry_want(m, row, HOST_DOWN, "said goodbye", now_us);
    } else if (host == m->table.coordinator) {
        /* its successor will say that it is gone; until then its last tables are welcome */
        election_orphan(m, now_us);
        if (m->phase == MEMBER_GOODBYE)
            member_say_goodbye(m, now_us);
    }
}

static void on_shutdown(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                        uint64_t now_us)
{
    if (host != m->table.coordinator || size != 1 ||
        (payload[0] != NODE_END_REMOVED && payload[0] != NODE_END_SHUTDOWN)) {
        member_log(m, "refused SHUTDOWN from host %u", host);
        return;
    }
    member_start_leave(m, payload[0], now_us);
}

typedef void frame_handler(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                           uint64_t now_us);

static frame_handler *handler_of(uint8_t kind)
{
    static frame_handler *const HANDLERS[] = {
        [FRAME_JOIN] = registry_on_join,         [FRAME_TABLE] = replica_on_table,
        [FRAME_TABLE_ACK] = registry_on_ack,     [FRAME_GOODBYE] = on_goodbye,
        [FRAME_SHUTDOWN] = on_shutdown,          [FRAME_CLAIM] = election_on_claim,
        [FRAME_CLAIM_REPLY] = election_on_reply, [FRAME_RESIGN] = registry_on_resign,
        [FRAME_RELEASE] = departure_on_release,
    };

    return kind < sizeof HANDLERS / sizeof HANDLERS[0] ? HANDLERS[kind] : NULL;
}

bool member_owns(uint8_t kind)
{
    return handler_of(kind) != NULL;
}

void member_on_frame(struct member *m, uint32_t host, uint8_t kind, const uint8_t *payload,
                     size_t size, uint64_t now_us)
{
    if (table_row(&m->table, host) != NULL && m->phase != MEMBER_ENDED && member_owns(kind))
        handler_of(kind)(m, host, payload, size, now_us);
}

/* ---- time ---- */

uint64_t member_step(struct member *m, uint64_t now_us)
{
    if (m->phase == MEMBER_IDLE || m->phase == MEMBER_ENDED)
        return UINT64_MAX;
    if (now_us >= lines_deadline(m))
        lines_end(m);
    roll_step(m, now_us);
    election_step(m, now_us);
    departure_step(m, now_us);
    detector_step(m, now_us);
    registry_step(m, now_us);
    if (phase_is_done(m, now_us) || now_us >= m->phase_end_us) {
        if (m->phase == MEMBER_JOINING)
            member_end(m, NODE_END_JOIN_FAILED, "the coordinator did not answer in time");
        else if (m->phase == MEMBER_DRAINING)
            member_say_goodbye(m, now_us);
        else if (m->phase == MEMBER_HALTING)
            set_phase(m, MEMBER_LINGERING, now_us + m->config.fail_timeout_us / 50);
        else
            member_end(m, m->why, why_text(m->why));
    }
    if (m->phase == MEMBER_ENDED)
        return UINT64_MAX;
    return earlier(earlier(earlier(m->phase_end_us, departure_deadline(m, now_us)),
                           earlier(detector_deadline(m), election_deadline(m, now_us))),
                   earlier(earlier(registry_deadline(m, now_us), roll_deadline(m, now_us)),
                           lines_deadline(m)));
}
