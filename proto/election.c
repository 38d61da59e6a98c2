/*
 * election.c - succession. When the coordinator is silent for so long that any other host would be
 * declared gone (or when it said goodbye), the host with the lowest index among the others claims
 * the next epoch; the one after it stands up a little later, and so on (courtesy_us()). The claim
 * is won by the grants of more than half of the hosts, counted once with and once without those
 * that are just joining.
 *
 *   CLAIM       = epoch=u64 table-epoch=u64 table-version=u64
 *   CLAIM_REPLY = epoch=u64 granted=u8 3u8(0)
 *
 * A host grants an epoch once, to a claimer whose table is not older than its own, and only while
 * it does not hear the coordinator either, and never after it said goodbye. A claimer with an older
 * table is sent the newer one.
 */
#include "proto/member_state.h"

#define QUEUE 6 /* how many hosts stand up in the order of their indices */

static const struct row *coordinator_row(const struct member *m)
{
    return table_row(&m->table, m->table.coordinator);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t election_epoch(const struct member *m)
{
    return later(m->table.epoch, m->election.granted);
}

/* Since when there is no coordinator, as far as this host knows: the last sign of life. */
static uint64_t silent_since(const struct member *m)
{
    const struct row *row = coordinator_row(m);

    return row ? row->heard_us : m->election.orphan_us;
}

static bool has_say(const struct row *row)
{
    return row_is_living(row) && !(row->flags & ROW_LEFT);
}

/* How many hosts stand up before this one. */
static unsigned rank(const struct member *m)
{
    unsigned before = 0;

    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);

        before +=
            row_is_up(row) && row->host.index < m->self && row->host.index != m->table.coordinator;
    }
    return before;
}

static bool may_stand(const struct member *m)
{
    return m->phase == MEMBER_UP && !is_coordinator(m) && row_is_up(table_row(&m->table, m->self));
}

/* Between one host that stands up and the next: many round trips. */
static uint64_t part_us(const struct member *m)
{
    return m->config.fail_timeout_us / 40;
}

/* How long this host gives way to those before it. Where many died at once, the first QUEUE stand
 * up one by one, all others at random times after them, before anyone gives up. */
static uint64_t courtesy_us(const struct member *m)
{
    const uint64_t part = part_us(m);
    const uint64_t spread = m->self * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    unsigned before = rank(m);

    return before < QUEUE ? before * part : QUEUE * part + spread % (QUEUE * part);
}

/* Before this nobody claims. Who said goodbye is not waited for. */
static uint64_t patience_end(const struct member *m)
{
    return silent_since(m) + (coordinator_row(m) ? detector_limit_us(m) : 0);
}

/* When this host claims, if nothing is heard until then. */
static uint64_t claim_time(const struct member *m)
{
    return later(patience_end(m) + courtesy_us(m), m->election.not_before_us);
}

static uint64_t give_up_time(const struct member *m)
{
    return silent_since(m) + m->config.fail_timeout_us * 3 / 2;
}

/* ---- claiming ---- */

static bool has_won_among(const struct member *m, bool with_joining)
{
    size_t all = 0, granted = 0;

    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);

        if (!has_say(row) || (row->host.state == HOST_JOINING && !with_joining))
            continue;
        all++;
        granted += row->host.index == m->self || row->granted == m->election.claimed;
    }
    return 2 * granted > all;
}

static void win_if_won(struct member *m, uint64_t now_us)
{
    uint64_t epoch = m->election.claimed;

    if (!has_won_among(m, false) || !has_won_among(m, true))
        return;
    member_log(m, "host %u coordinates from epoch %llu on", m->self, (unsigned long long)epoch);
    m->election.claimed = 0;
    registry_take_over(m, epoch, now_us);
    detector_start(m, now_us);
}

static void claim(struct member *m, uint64_t now_us)
{
    uint8_t payload[24];
    struct cursor c = cursor_writer(payload, sizeof payload);
    struct election *e = &m->election;

    e->claimed = e->granted = election_epoch(m) + 1;
    e->claim_end_us = now_us + m->config.fail_timeout_us / 4;
    m->config.counters->claims++;
    member_log(m, "claims epoch %llu: the coordinator is silent", (unsigned long long)e->claimed);
    cursor_put_u64(&c, e->claimed);
    cursor_put_u64(&c, m->table.epoch);
    cursor_put_u64(&c, m->table.version);
    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);

        if (has_say(row) && row->host.index != m->self && row->host.index != m->table.coordinator)
            member_send(m, row->host.index, FRAME_CLAIM, payload, sizeof payload, now_us);
    }
    win_if_won(m, now_us);
}

/* The next one comes the later the more hosts stand before this one, and not in step with theirs.
 */
static void drop_claim(struct member *m, uint64_t now_us)
{
    uint64_t part = part_us(m);

    m->election.claimed = 0;
    m->election.not_before_us =
        now_us + (1 + courtesy_us(m) / part / 2) * part + member_random(m) % part;
}

void election_on_reply(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us)
{
    struct cursor c = cursor_reader(payload, size);
    uint64_t epoch = cursor_get_u64(&c);
    uint8_t granted = cursor_get_u8(&c);

    cursor_get_view(&c, 3);
    if (!cursor_done(&c)) {
        member_log(m, "refused CLAIM_REPLY of host %u: it is malformed", host);
        return;
    }
    if (epoch == 0 || epoch != m->election.claimed)
        return;
    if (!granted) {
        drop_claim(m, now_us);
        return;
    }
    table_row(&m->table, host)->granted = epoch;
    win_if_won(m, now_us);
}

/* ---- granting ---- */

static bool table_is_older(const struct member *m, uint64_t epoch, uint64_t version)
{
    return epoch < m->table.epoch || (epoch == m->table.epoch && version < m->table.version);
}

static bool hears_coordinator(const struct member *m, uint64_t now_us)
{
    const struct row *row = coordinator_row(m);

    return is_coordinator(m) ||
           (row && detector_silence_us(row, now_us) <= m->config.fail_timeout_us / 2);
}

/* Somebody else stands, with a better right: he is given the time that a claim takes. */
static void give_way(struct member *m, uint64_t now_us)
{
    m->election.claimed = 0;
    m->election.not_before_us = now_us + m->config.fail_timeout_us / 4;
}

void election_on_claim(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us)
{
    struct cursor c = cursor_reader(payload, size), reply;
    uint64_t epoch = cursor_get_u64(&c), table_epoch = cursor_get_u64(&c);
    uint64_t version = cursor_get_u64(&c);
    uint8_t bytes[12] = {0};
    bool older, granted;

    if (!cursor_done(&c)) {
        member_log(m, "refused CLAIM of host %u: it is malformed", host);
        return;
    }
    older = table_is_older(m, table_epoch, version);
    granted = !older && epoch > election_epoch(m) && !hears_coordinator(m, now_us) &&
              m->phase < MEMBER_GOODBYE;
    if (granted)
        m->election.granted = epoch;
    if (granted || (m->election.claimed != 0 && host < m->self))
        give_way(m, now_us);
    if (older)
        registry_send_full(m, host, now_us);
    reply = cursor_writer(bytes, sizeof bytes);
    cursor_put_u64(&reply, epoch);
    cursor_put_u8(&reply, granted);
    member_send(m, host, FRAME_CLAIM_REPLY, bytes, sizeof bytes, now_us);
}

/* ---- time ---- */

void election_orphan(struct member *m, uint64_t now_us)
{
    m->election.orphan_us = now_us;
    m->watched = 0;
    table_set_coordinator(&m->table, 0);
}

void election_step(struct member *m, uint64_t now_us)
{
    if (!may_stand(m) || now_us < patience_end(m))
        return;
    if (now_us >= give_up_time(m)) {
        member_end(m, NODE_END_CUT_OFF, "neither the coordinator nor a majority can be reached");
        return;
    }
    if (m->election.claimed != 0 && now_us >= m->election.claim_end_us)
        drop_claim(m, now_us);
    if (m->election.claimed == 0 && now_us >= claim_time(m))
        claim(m, now_us);
}

uint64_t election_deadline(const struct member *m, uint64_t now_us)
{
    uint64_t next;

    if (!may_stand(m))
        return UINT64_MAX;
    if (now_us < patience_end(m))
        return patience_end(m); /* without counting who stands before */
    next = m->election.claimed != 0 ? m->election.claim_end_us : claim_time(m);
    return next < give_up_time(m) ? next : give_up_time(m);
}
