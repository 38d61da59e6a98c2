/*
 * election.c - what becomes of the VM when the voters cannot elect: most of them died before they
 * could be replaced, or are on the smaller side of a cut. (In all other cases they do, long before
 * anything here begins: raft_election.c.) Then more than half of all hosts go on without them: one
 * of them founds the next generation, whose log begins with the table that it has. Whatever else
 * was agreed is lost.
 *
 * When no coordinator was heard for so long that any other host would be declared gone, the host
 * with the lowest index among the others claims the next generation; the one after it stands up a
 * little later, and so on (courtesy_us()). It first asks who would help it. More than half of the
 * hosts must, counted once with and once without those that are just joining. If a majority of the
 * voters is among them, it leaves it to them for a while yet. Then it asks again, and who grants
 * now has promised: nothing of an earlier generation counts there any more, neither a table nor a
 * vote.
 *
 *   CLAIM       = generation=u64 table-epoch=u64 table-version=u64 binding=u8 3u8(0)
 *   CLAIM_REPLY = generation=u64 promised=u64 binding=u8 granted=u8 2u8(0)
 *
 * A host promises a generation once, to a claimer whose table is not older than its own, and only
 * while it does not hear a coordinator either, and never after it said goodbye. A claimer with an
 * older table is sent the newer one. (Why this cannot make two VMs of one: essay in member.c.)
 */
#include "proto/member/member_state.h"

#define QUEUE 6 /* how many hosts stand up in the order of their indices */

/* After so many tenths of a fail timeout without a coordinator hosts claim; do not wait for the
 * voters any more; end. */
#define PATIENCE_TENTHS 12
#define LATE_TENTHS 16
#define GIVE_UP_TENTHS 20
#define LATE_TURNS 6

/* A handshake with each of many hosts that share two processors takes about that. */
#define HANDSHAKE_US 500

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
    return later(m->table.epoch, epoch_make(m->table.promised, 0));
}

uint64_t election_silent_since(const struct member *m)
{
    const struct row *row = coordinator_row(m);

    return row != NULL ? row->heard_us : m->election.orphan_us;
}

bool election_has_say(const struct row *row)
{
    return row_is_living(row) && row_is_agreed(row) && !(row->flags & ROW_LEFT);
}

/* How many hosts stand up before this one; QUEUE: so many or more. */
static unsigned rank(const struct member *m)
{
    unsigned before = 0;

    for (size_t i = 0; i < m->table.count && before < QUEUE; i++) {
        const struct row *row = table_at(&m->table, i);

        before += row_is_up(row) && row->host.index < m->self &&
                  row->host.index != m->table.coordinator && row->host.index != m->last;
    }
    return before;
}

static bool may_stand(const struct member *m)
{
    return m->phase == MEMBER_UP && !is_coordinator(m) && row_is_up(table_row(&m->table, m->self));
}

/* Who is condemned may be gone for others already. */
static bool may_claim(const struct member *m)
{
    return !row_is_condemned(table_row(&m->table, m->self));
}

/* Between one host that stands up and the next: many round trips. */
static uint64_t part_us(const struct member *m)
{
    return m->config.fail_timeout_us / 40;
}

/* How long a claim takes to reach every host. Most have no session with the claimer yet, and two
 * hundred or two thousand of them may share the processors of one machine. */
static uint64_t reach_us(const struct member *m)
{
    return later(part_us(m), m->table.count * HANDSHAKE_US);
}

/* The turns in which those stand up that do not do so in order: of all hosts one or two in the
 * first, two in the next, then four, and so on. A turn is as long as a claim takes to reach those
 * of the next one, who then give way: if hundreds of hosts claimed at once, each of them would wait
 * for the handshakes of all, and none would hear from enough others in time. */
static uint64_t election_turn(const struct member *m, uint32_t random)
{
    uint64_t parts = 0, turn = 0;

    for (size_t hosts = m->table.count; hosts > 1; hosts /= 2)
        parts++;
    while (turn < parts && (random >> turn & 1) == 0)
        turn++;
    return parts - turn;
}

uint64_t election_order_us(const struct member *m, uint64_t part_us, uint64_t turn_us)
{
    const uint64_t random = m->self * UINT64_C(0x9e3779b97f4a7c15);
    unsigned before = rank(m);

    if (before < QUEUE)
        return before * part_us;
    return QUEUE * part_us + election_turn(m, (uint32_t)(random >> 32)) * turn_us +
           (random >> 16 & 0xffff) * turn_us / 0x10000;
}

/* How long this host gives way. Who calls the roll stands up first, in order if there are several.
 * If nobody did: where many died at once, the first QUEUE stand up one by one, all others at random
 * times after them, few of them at first, before anyone gives up. */
static uint64_t courtesy_us(const struct member *m)
{
    if (m->roll.since_us != 0)
        return roll_before(m) * part_us(m);
    return election_order_us(m, part_us(m), reach_us(m));
}

static uint64_t tenths(const struct member *m, uint64_t tenths)
{
    return election_silent_since(m) + m->config.fail_timeout_us * tenths / 10;
}

/* Before this nobody promises. A coordinator that resigned has not heard enough voters for longer
 * than others need to elect. */
static uint64_t patience_end(const struct member *m)
{
    if (coordinator_row(m) == NULL)
        return election_silent_since(m) + m->config.fail_timeout_us / 4;
    return tenths(m, PATIENCE_TENTHS);
}

/* Before this nobody claims. Who knows that the voters are lost asks earlier who would help: then
 * the sessions with all of them are open by the time they may promise. */
static uint64_t claims_begin(const struct member *m)
{
    uint64_t end_us = patience_end(m);
    uint64_t lost_us = coordinator_row(m) != NULL ? roll_lost_us(m) : UINT64_MAX;

    return lost_us < end_us ? lost_us : end_us;
}

/* Then it ends: in a large VM some turns later than otherwise. */
static uint64_t give_up_time(const struct member *m)
{
    return tenths(m, GIVE_UP_TENTHS) + LATE_TURNS * (reach_us(m) - part_us(m));
}

/* When this host claims, if nothing is heard until then. */
static uint64_t claim_time(const struct member *m)
{
    return later(claims_begin(m) + courtesy_us(m), m->election.not_before_us);
}

/* ---- claiming ---- */

static bool has_granted(const struct member *m, const struct row *row)
{
    return row->host.index == m->self || row->granted == m->election.claimed;
}

/* How many more grants make more than half. */
static size_t lacking_among(const struct member *m, bool with_joining)
{
    size_t all = 0, granted = 0;

    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);

        if (!election_has_say(row) || (row->host.state == HOST_JOINING && !with_joining))
            continue;
        all++;
        granted += has_granted(m, row);
    }
    return 2 * granted > all ? 0 : all / 2 + 1 - granted;
}

static size_t lacking_to_win(const struct member *m)
{
    return later(lacking_among(m, false), lacking_among(m, true));
}

static size_t lacking_of_all(const struct member *m)
{
    size_t lacking = 0;

    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);

        lacking += election_has_say(row) && !has_granted(m, row);
    }
    return lacking;
}

static bool has_won(const struct member *m)
{
    return lacking_to_win(m) == 0;
}

/* Whether a majority of the voters is among those that granted: they can elect by themselves. None
 * can once a promise was given. */
static bool voters_are_here(const struct member *m)
{
    size_t voters = 0, here = 0;

    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);

        if (!(row->flags & ROW_VOTER) || !row_is_living(row))
            continue;
        voters++;
        here += has_granted(m, row);
    }
    return 2 * here > voters && m->election.known <= epoch_generation(m->table.epoch);
}

/* How long others may take to answer one that only asks; twice that to promise. */
static uint64_t claim_us(const struct member *m)
{
    return later(m->config.fail_timeout_us / 8, reach_us(m));
}

static void ask_all(struct member *m, uint64_t now_us)
{
    uint8_t payload[28];
    struct cursor c = cursor_writer(payload, sizeof payload);
    struct election *e = &m->election;

    e->claim_end_us = now_us + (e->binding ? 2 : 1) * claim_us(m);
    e->lacking = 0;
    cursor_put_u64(&c, e->claimed);
    cursor_put_u64(&c, m->table.epoch);
    cursor_put_u64(&c, m->table.version);
    cursor_put_u8(&c, e->binding);
    cursor_put_bytes(&c, (uint8_t[3]){0}, 3);
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        row->granted = 0;
        if (election_has_say(row) && row->host.index != m->self &&
            row->host.index != m->table.coordinator)
            member_send(m, row->host.index, FRAME_CLAIM, payload, sizeof payload, now_us);
    }
}

/* The next one comes the later the more hosts stand before this one, and not in step with theirs.
 */
static void drop_claim(struct member *m, uint64_t now_us)
{
    uint64_t part = reach_us(m);

    m->election.claimed = 0;
    m->election.not_before_us =
        now_us + (1 + courtesy_us(m) / part / 2) * part + member_random(m) % part;
}

static void promise(struct member *m, uint64_t generation, uint64_t now_us)
{
    m->table.promised = generation;
    m->election.known = later(m->election.known, generation);
    election_orphan(m, now_us);
}

static void found(struct member *m, uint64_t now_us)
{
    uint64_t generation = m->election.claimed;

    member_log(m, "founds generation %llu: more than half of the hosts agreed",
               (unsigned long long)generation);
    m->election.claimed = 0;
    m->owner.found(m->owner.context, generation, now_us);
}

/* Whether nobody waits for the voters any more, and for what others might say of them. */
static bool is_overripe(const struct member *m, uint64_t now_us)
{
    return now_us >= patience_end(m) && now_us >= roll_lost_us(m);
}

/* Enough hosts would promise, and all had the time to say so: now they are asked to. */
static void ask_for_promises(struct member *m, uint64_t now_us)
{
    if (now_us < patience_end(m)) {
        m->election.claim_end_us = patience_end(m);
        return;
    }
    if (voters_are_here(m) && now_us < tenths(m, LATE_TENTHS)) {
        drop_claim(m, now_us);
        return;
    }
    m->election.binding = true;
    promise(m, m->election.claimed, now_us);
    ask_all(m, now_us);
    if (has_won(m)) /* alone */
        found(m, now_us);
}

static void claim(struct member *m, uint64_t now_us)
{
    struct election *e = &m->election;

    e->known = later(e->known, m->table.promised);
    e->claimed = e->known + 1;
    e->binding = false;
    m->config.counters->claims++;
    member_log(m, "claims generation %llu: no coordinator is heard",
               (unsigned long long)e->claimed);
    ask_all(m, now_us);
    if (lacking_of_all(m) == 0) /* alone */
        ask_for_promises(m, now_us);
}

/* What the grants decide, which are counted only when so many more have come as were lacking the
 * last time: thousands come. */
static void count_grants(struct member *m, uint64_t now_us)
{
    struct election *e = &m->election;

    e->lacking = lacking_to_win(m);
    if (e->lacking > 0)
        return;
    if (e->binding) {
        found(m, now_us);
        return;
    }
    e->lacking = lacking_of_all(m);
    if (e->lacking == 0 || voters_are_here(m) || is_overripe(m, now_us))
        ask_for_promises(m, now_us);
}

static void take_reply(struct member *m, uint32_t host, bool granted, uint64_t now_us)
{
    struct row *row = table_row(&m->table, host);

    /* Of two that refused each other the one with the lower index goes on. */
    if (!granted && !(row->granted == ROW_RIVAL && m->self < host))
        drop_claim(m, now_us);
    if (!granted)
        return;

    if (row->granted == m->election.claimed)
        return;
    /* others are still coming */
    m->election.claim_end_us = later(m->election.claim_end_us, now_us + claim_us(m) / 2);
    row->granted = m->election.claimed;
    m->election.lacking -= m->election.lacking > 0;
    if (m->election.lacking == 0 || row->flags & ROW_VOTER)
        count_grants(m, now_us);
}

void election_on_reply(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us)
{
    struct cursor c = cursor_reader(payload, size);
    uint64_t generation = cursor_get_u64(&c), promised = cursor_get_u64(&c);
    uint8_t binding = cursor_get_u8(&c), granted = cursor_get_u8(&c);

    cursor_get_view(&c, 2);
    if (!cursor_done(&c) || promised > GENERATION_MAX) {
        member_log(m, "refused CLAIM_REPLY of host %u: it is malformed", host);
        return;
    }
    m->election.known = later(m->election.known, promised);
    if (generation != 0 && generation == m->election.claimed && binding == m->election.binding)
        take_reply(m, host, granted, now_us);
}

/* ---- granting ---- */

struct claim {
    uint64_t generation, epoch, version;
    uint8_t binding;
};

static bool read_claim(struct claim *claim, const uint8_t *payload, size_t size)
{
    struct cursor c = cursor_reader(payload, size);

    claim->generation = cursor_get_u64(&c);
    claim->epoch = cursor_get_u64(&c);
    claim->version = cursor_get_u64(&c);
    claim->binding = cursor_get_u8(&c);
    cursor_get_view(&c, 3);
    return cursor_done(&c) && claim->generation <= GENERATION_MAX;
}

static bool table_is_older(const struct member *m, const struct claim *claim)
{
    return claim->epoch < m->table.epoch ||
           (claim->epoch == m->table.epoch && claim->version < m->table.version);
}

static bool hears_coordinator(const struct member *m, uint64_t now_us)
{
    const struct row *row = coordinator_row(m);

    return is_coordinator(m) ||
           (row != NULL && detector_silence_us(row, now_us) <= m->config.fail_timeout_us / 2);
}

/* Of two that only ask, the one with the lower index goes on, unless the other has enough grants
 * already, and only waits for more. */
static bool has_better_claim(const struct member *m, uint32_t host, const struct claim *claim)
{
    return m->election.claimed != 0 && !claim->binding && (host > m->self || has_won(m));
}

void election_on_claim(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us)
{
    struct claim claim;
    bool granted;

    if (!read_claim(&claim, payload, size)) {
        member_log(m, "refused CLAIM of host %u: it is malformed", host);
        return;
    }
    bool better = has_better_claim(m, host, &claim);

    if (better)
        table_row(&m->table, host)->granted = ROW_RIVAL;
    granted = !better && !table_is_older(m, &claim) && claim.generation > m->table.promised &&
              !hears_coordinator(m, now_us) && m->phase < MEMBER_GOODBYE;
    if (table_is_older(m, &claim))
        registry_send_full(m, host, now_us);
    if (granted) {
        /* Somebody else stands, with a better right: it is given the time that a claim takes. */
        m->election.claimed = 0;
        m->election.not_before_us =
            now_us + 2 * claim_us(m) + member_random(m) % (QUEUE * reach_us(m));
    }
    if (granted && claim.binding)
        promise(m, claim.generation, now_us);
    uint8_t bytes[20] = {0};
    struct cursor c = cursor_writer(bytes, sizeof bytes);

    cursor_put_u64(&c, claim.generation);
    cursor_put_u64(&c, m->table.promised);
    cursor_put_u8(&c, claim.binding);
    cursor_put_u8(&c, granted);
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
    struct election *e = &m->election;

    if (!may_stand(m) || now_us < claims_begin(m))
        return;
    if (now_us >= give_up_time(m)) {
        member_end(m, NODE_END_CUT_OFF, "neither the coordinator nor a majority can be reached");
        return;
    }
    bool ripe = e->claimed != 0 && !e->binding && is_overripe(m, now_us);

    if (e->claimed != 0 && (ripe || now_us >= e->claim_end_us)) {
        if (!e->binding && has_won(m))
            ask_for_promises(m, now_us);
        else if (now_us >= e->claim_end_us)
            drop_claim(m, now_us);
    }
    if (e->claimed == 0 && now_us >= claim_time(m) && may_claim(m))
        claim(m, now_us);
}

uint64_t election_deadline(const struct member *m, uint64_t now_us)
{
    uint64_t next, give_up_us = give_up_time(m);

    if (!may_stand(m))
        return UINT64_MAX;
    if (now_us < claims_begin(m))
        return claims_begin(m); /* without counting who stands before */
    next = m->election.claimed != 0 ? m->election.claim_end_us
           : may_claim(m)           ? claim_time(m)
                                    : UINT64_MAX;
    if (m->election.claimed != 0 && !m->election.binding && now_us < patience_end(m))
        next = next < patience_end(m) ? next : patience_end(m);
    return next < give_up_us ? next : give_up_us;
}
