/*
 * detector.c - who is alive. A star: the coordinator pings every host, and every host watches the
 * coordinator; so the traffic grows with the number of hosts and not with its square.
 *
 * Any authentic datagram is a sign of life. Who has not answered a heartbeat is asked again soon,
 * for it may have been lost. Half a fail timeout of silence makes a suspect: then hands are shaken
 * again over all its addresses, and up to three other hosts are asked whether they hear it (PROBE,
 * PROBED), as in SWIM. Their answers keep it from being declared gone, though not for ever: a host
 * that the coordinator cannot reach itself is of no use to the VM.
 *
 * Who is cut off for less than the fail timeout loses nothing: the last sign of life may be older
 * than the cut by a heartbeat, and the first one after it comes when the suspect is asked again, so
 * the silence that ends a host is longer by both. Who is dead is gone for all within the fail
 * timeout and a second: both are therefore short, whatever the timeout.
 *
 * The same star is the coordinator's lease: it ends when it finds more than half of the hosts gone,
 * and takes no commands while it has not heard of half of them lately; who leads the log without
 * being in office pings until it has.
 *
 * Own slowness is not taken for others' silence (Lifeguard): member_on_late() moves all that was
 * heard by the time for which this process stood still.
 *
 * A member that hears its coordinator has no timer but the one that would notice a heartbeat that
 * is missing.
 */
#include "proto/member/member_state.h"

#define HELPERS 3
#define BEAT_US_MAX 500000
#define LOOK_US_MAX 125000
#define LOOK_EACH_US 1000 /* at the coordinator, of all hosts together */
#define ASK_EACH_US 500   /* an overdue host again, for each that is */
#define CALLED_TENTHS 16  /* of a fail timeout, before who was called asks others */
#define ROUND_EACH_US 25  /* for each host, from one round of the coordinator to the next */
#define STAR_HOSTS 512    /* so many hear from the coordinator at the full rate */
#define BEAT_EACH_US                                                                               \
    293 /* of thousands: a heartbeat and its answer are 72 bytes, 250 kB/s in all */

static uint64_t at_most(uint64_t time_us, uint64_t most_us)
{
    return time_us < most_us ? time_us : most_us;
}

/* Every host hears from the coordinator so often: of thousands each half as often as of hundreds,
 * for a coordinator has one processor, and virtual hosts share one; of more than 3400 it hears from
 * 3400 a second. */
uint64_t detector_beat_us(const struct member *m)
{
    uint64_t beat_us = at_most(m->config.fail_timeout_us / 10, BEAT_US_MAX);

    if (m->table.count <= STAR_HOSTS)
        return beat_us;
    uint64_t all_us = m->table.count * BEAT_EACH_US;

    beat_us = at_most(beat_us * m->table.count / STAR_HOSTS, 2 * beat_us);
    return beat_us < all_us && m->config.fail_timeout_us >= 4 * all_us ? all_us : beat_us;
}

uint64_t detector_look_us(const struct member *m)
{
    return at_most(m->config.fail_timeout_us / 40, LOOK_US_MAX);
}

uint64_t detector_silence_us(const struct row *row, uint64_t now_us)
{
    return now_us > row->heard_us ? now_us - row->heard_us : 0;
}

/* How long a host has sent no datagram of its own. */
static uint64_t detector_direct_silence_us(const struct row *row, uint64_t now_us)
{
    return now_us > row->direct_us ? now_us - row->direct_us : 0;
}

static void ping(struct member *m, struct row *row, uint64_t now_us)
{
    row->pinged_us = now_us;
    m->config.counters->pings_sent++;
    m->owner.ping(m->owner.context, row->host.index, DATAGRAM_PING, 0, now_us);
}

/* Asks some hosts that are well, beginning anywhere, whether they hear the target. */
static void ask_others(struct member *m, const struct row *target, uint64_t now_us)
{
    /* Where in the table the helpers are: each target has its own, and keeps them for a while, for
     * each new one costs a handshake. When the coordinator dies all hosts ask for helpers, again
     * and again; when hundreds die it asks for each of them, and each helper of theirs shakes hands
     * with somebody who is not there. The coordinator, who declares hosts gone, asks others now and
     * then: the first may be gone, too. */
    if (now_us >= m->helpers_until_us) {
        uint64_t limit = m->config.fail_timeout_us;

        m->helpers = member_random(m);
        m->helpers_until_us = now_us + (is_coordinator(m) ? limit / 2 : 2 * limit);
    }
    size_t start = (size_t)((m->helpers + HELPERS * target->host.index) % m->table.count);
    unsigned asked = 0;

    for (size_t i = 0; i < m->table.count && asked < HELPERS; i++) {
        const struct row *row = table_at(&m->table, (start + i) % m->table.count);

        if (row == target || row->host.state != HOST_UP || row_is_condemned(row) ||
            row->host.index == m->self)
            continue;
        m->config.counters->probes_sent++;
        m->owner.ping(m->owner.context, row->host.index, DATAGRAM_PROBE, target->host.index,
                      now_us);
        asked++;
    }
}

static void investigate(struct member *m, const struct row *row, uint64_t now_us)
{
    m->owner.reopen(m->owner.context, row->host.index, now_us);
    ask_others(m, row, now_us);
}

/* ---- the coordinator ---- */

static bool is_watched(const struct member *m, const struct row *row)
{
    return row_is_living(row) && !row->invited && row->host.index != m->self;
}

/* Whether at least half of the hosts were heard of lately. */
static bool holds_half(const struct member *m, uint64_t now_us)
{
    uint64_t lately = m->config.fail_timeout_us / 2;

    return registry_holds_half(m, now_us > lately ? now_us - lately : 0);
}

static void declare_gone(struct member *m, struct row *row, uint64_t now_us)
{
    if (!holds_half(m, now_us)) {
        member_end(m, NODE_END_CUT_OFF, "more than half of the hosts cannot be reached");
        return;
    }
    if (row_is_up(row)) {
        registry_condemn(m, row);
        return;
    }
    if (row->wanted != HOST_DOWN)
        registry_want(m, row, HOST_DOWN, "not heard of while it joined", now_us);
}

/* A heartbeat or its answer was lost: it is asked more often, before that makes it a suspect. */
static bool is_overdue(const struct member *m, const struct row *row, uint64_t now_us)
{
    return detector_direct_silence_us(row, now_us) > detector_beat_us(m) + detector_look_us(m);
}

/* An overdue host is asked again so soon: the less often the more are overdue, for whatever made
 * them late may be slow, and their helpers have others to ask for. */
static uint64_t ask_again_us(const struct member *m)
{
    uint64_t look_us = detector_look_us(m), most_us = detector_beat_us(m) / 2;
    bool strained = m->table.count > STAR_HOSTS && member_is_strained(m);
    uint64_t again_us = strained ? most_us : at_most(m->office.overdue * ASK_EACH_US, most_us);

    return again_us < look_us ? look_us : again_us;
}

/* One look at one host; returns when the next is due. */
static uint64_t watch_host(struct member *m, struct row *row, uint64_t now_us)
{
    uint64_t pause_us = is_overdue(m, row, now_us) ? ask_again_us(m) : detector_beat_us(m);
    bool asks = now_us >= row->pinged_us + pause_us || row->pinged_us < m->departure.round_us;

    if (asks)
        ping(m, row, now_us);
    uint64_t limit = m->config.fail_timeout_us;
    uint64_t direct = detector_direct_silence_us(row, now_us);

    if (direct > limit / 2) {
        uint64_t gone_us = limit + detector_beat_us(m) + ask_again_us(m);
        if (detector_silence_us(row, now_us) >= gone_us || direct >= 3 * limit) {
            declare_gone(m, row, now_us);
        } else {
            if (row->wanted == HOST_UP) {
                m->config.counters->suspicions++;
                registry_want(m, row, HOST_SUSPECT, "not heard of for half the fail timeout",
                              now_us);
            }
            if (asks)
                investigate(m, row, now_us);
        }
    }
    return row->pinged_us + pause_us;
}

/* The coordinator looks at all hosts in a round. Hosts whose heartbeats are due within a moment
 * share one: with a round for each of thousands it would do nothing else. */
static uint64_t round_us(const struct member *m)
{
    return at_most(m->table.count * ROUND_EACH_US, detector_beat_us(m) / 32);
}

static void watch_all(struct member *m, uint64_t now_us)
{
    uint64_t next_us = UINT64_MAX;
    size_t overdue = 0;

    uint64_t late_us = now_us > m->tick_us ? now_us - m->tick_us : 0;
    uint64_t lately_us = m->office.late_us - m->office.late_us / 8;

    m->office.late_us = late_us > lately_us ? late_us : lately_us;
    m->config.counters->watch_rounds++;
    for (size_t i = 0; i < m->table.count && m->phase != MEMBER_ENDED; i++) {
        struct row *row = table_at(&m->table, i);
        overdue += is_watched(m, row) && is_overdue(m, row, now_us);
        uint64_t due_us = is_watched(m, row) ? watch_host(m, row, now_us) : UINT64_MAX;

        next_us = due_us < next_us ? due_us : next_us;
    }
    if (m->phase == MEMBER_ENDED)
        return;
    m->office.overdue = overdue;
    m->office.holds = holds_half(m, now_us);
    m->tick_us = next_us < now_us + round_us(m) ? now_us + round_us(m) : next_us;
}

/* ---- who leads the log, and is not in office yet ---- */

static void look_for_hosts(struct member *m, uint64_t now_us)
{
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (is_watched(m, row) && row->heard_us < m->office.since_us)
            ping(m, row, now_us);
    }
    m->tick_us = now_us + detector_look_us(m);
}

/* ---- everyone else ---- */

/* A heartbeat is missed then that was due after one of this time. */
static uint64_t missed_us(const struct member *m, uint64_t heard_us)
{
    return heard_us + detector_beat_us(m) + detector_look_us(m) + 1;
}

/* When the coordinator is silent all hosts look for it: the more they are, the less often each. */
static uint64_t look_again_us(const struct member *m)
{
    uint64_t one_us = detector_look_us(m), all_us = m->table.count * LOOK_EACH_US;

    return one_us > all_us ? one_us : all_us;
}

static void watch_coordinator(struct member *m, struct row *row, uint64_t now_us)
{
    uint64_t limit = m->config.fail_timeout_us;
    uint64_t direct = detector_direct_silence_us(row, now_us);

    if (!is_overdue(m, row, now_us)) {
        m->tick_us = missed_us(m, row->direct_us);
        return;
    }
    m->tick_us = now_us + look_again_us(m);
    if (direct >= 3 * limit) {
        member_end(m, NODE_END_CUT_OFF, "the coordinator cannot be reached from here");
        return;
    }
    ping(m, row, now_us);
    /* Who was called by another that does not hear it either need not ask whether somebody does:
     * thousands would. If nothing came of that in time it asks all the same. */
    if (direct > limit / 2 && (!roll_was_called(m) || direct > CALLED_TENTHS * limit / 10))
        investigate(m, row, now_us);
}

/* ---- events ---- */

void detector_start(struct member *m, uint64_t now_us)
{
    m->tick_us = now_us;
}

void detector_step(struct member *m, uint64_t now_us)
{
    struct row *row = table_row(&m->table, m->table.coordinator);

    if (now_us < detector_deadline(m))
        return;
    if (is_candidate(m) && !is_coordinator(m))
        look_for_hosts(m, now_us);
    else if (is_coordinator(m))
        watch_all(m, now_us);
    else if (row != NULL)
        watch_coordinator(m, row, now_us);
    else
        m->tick_us = UINT64_MAX;
}

uint64_t detector_deadline(const struct member *m)
{
    return m->phase >= MEMBER_UP && m->phase < MEMBER_GOODBYE ? m->tick_us : UINT64_MAX;
}

void member_on_heard(struct member *m, uint32_t host, uint64_t now_us)
{
    struct row *row = table_row(&m->table, host);

    if (row == NULL)
        return;
    row->heard_us = row->direct_us = now_us;
    if (host == m->table.coordinator && !is_candidate(m))
        m->tick_us = missed_us(m, now_us);
    if (row->asker != 0) {
        if (now_us <= row->asker_until_us)
            m->owner.ping(m->owner.context, row->asker, DATAGRAM_PROBED, row->host.index, now_us);
        row->asker = 0;
    }
    if (row->wanted == HOST_SUSPECT && is_coordinator(m) && !(row->wanted_flags & ROW_CONDEMNED))
        registry_want(m, row, HOST_UP, "heard of again", now_us);
}

static void on_probe(struct member *m, uint32_t host, struct row *target, uint64_t now_us)
{
    uint64_t lately = m->config.fail_timeout_us / 4;

    if (target->direct_us != 0 && detector_direct_silence_us(target, now_us) <= lately) {
        m->owner.ping(m->owner.context, host, DATAGRAM_PROBED, target->host.index, now_us);
        return;
    }
    target->asker = host;
    target->asker_until_us = now_us + m->config.fail_timeout_us / 2;
    ping(m, target, now_us);
}

void member_on_probe(struct member *m, uint32_t host, uint8_t kind, uint32_t target,
                     uint64_t now_us)
{
    struct row *row = table_row(&m->table, target);

    if (row == NULL || !row_is_living(row) || target == m->self || target == host)
        return;
    if (kind == DATAGRAM_PROBE)
        on_probe(m, host, row, now_us);
    else
        row->heard_us = now_us;
}

static void detector_shift(uint64_t *time_us, uint64_t late_us)
{
    if (*time_us != 0 && *time_us != UINT64_MAX)
        *time_us += late_us;
}

void member_on_late(struct member *m, uint64_t late_us)
{
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        detector_shift(&row->heard_us, late_us);
        detector_shift(&row->direct_us, late_us);
    }
    detector_shift(&m->phase_end_us, late_us);
    detector_shift(&m->departure.drain_by_us, late_us);
    detector_shift(&m->election.claim_end_us, late_us);
    detector_shift(&m->election.orphan_us, late_us);
    detector_shift(&m->roll.since_us, late_us);
}
