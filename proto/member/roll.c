/*
 * roll.c - the roll call: who else is gone when the coordinator falls silent.
 *
 * The coordinator alone knows who is silent, and its death takes that knowledge with it. If its
 * successor began to measure when it comes into office, those that died with the coordinator would
 * be in the table for a fail timeout more. So those that are likely to succeed ask all hosts, long
 * before they may (ROLL and HERE of datagram.h: an answer costs no session). Who is silent from
 * then on is measured from then on (registry.c), and all that died at once are found out at once.
 *
 * Who calls, after a fifth of a fail timeout without the coordinator, a third where hosts are
 * thousands: the voters. Then, one after the other, the first hosts by their indices; then all
 * others in turns, few of them at first. But who was called by another leaves it to that one,
 * unless it votes: any of the voters may be elected. So where thousands live a few of them call,
 * whoever died. Each asks a part of the table at a time, and those that have not answered again and
 * again.
 *
 * What is learnt serves those that have to found a generation without the voters, too: who calls
 * claims first, and need not wait for the voters when most of them are silent (election.c). And who
 * was called does not have others look for the coordinator, as the one that called does so.
 */
#include "proto/member/member_state.h"

#define BEGIN_TENTHS 2   /* of a fail timeout without the coordinator */
#define LOST_TENTHS 5    /* voters that were silent for so long of a roll call are not waited for */
#define AT_ONCE 128      /* hosts are asked, then there is a pause for their answers */
#define PAUSE_US 4000    /* of them */
#define CALL_EACH_US 100 /* a call has reached each of so many hosts */

static uint64_t tenths_us(const struct member *m, uint64_t tenths)
{
    return m->config.fail_timeout_us * tenths / 10;
}

static bool votes(const struct member *m)
{
    const struct row *self = table_row(&m->table, m->self);

    return self != NULL && self->flags & ROW_VOTER;
}

static bool may_call(const struct member *m)
{
    const struct row *self = table_row(&m->table, m->self);

    return m->phase == MEMBER_UP && !is_coordinator(m) && self != NULL && row_is_up(self);
}

/* So long without the coordinator somebody calls: what is missed by then is no lost heartbeat, for
 * this host has asked for one (detector.c). */
static uint64_t patience_us(const struct member *m)
{
    uint64_t part_us = tenths_us(m, BEGIN_TENTHS);
    uint64_t beats_us = detector_beat_us(m) + 3 * detector_look_us(m);

    return part_us > beats_us ? part_us : beats_us;
}

/* One after the other, or in turns: each as long as it takes to reach those of the next. */
static uint64_t turn_us(const struct member *m)
{
    uint64_t part_us = m->config.fail_timeout_us / 160, all_us = m->table.count * CALL_EACH_US;

    return part_us > all_us ? part_us : all_us;
}

/* When this host calls, if nobody else does before. */
static uint64_t roll_time(const struct member *m)
{
    return election_silent_since(m) + patience_us(m) +
           (votes(m) ? 0 : election_order_us(m, m->config.fail_timeout_us / 160, turn_us(m)));
}

static bool is_asked(const struct member *m, const struct row *row)
{
    return election_has_say(row) && row->host.index != m->self &&
           row->host.index != m->table.coordinator && row->heard_us < m->roll.since_us;
}

static void begin(struct member *m, uint64_t now_us)
{
    struct roll *r = &m->roll;

    r->since_us = r->next_us = r->round_us = now_us;
    r->number++;
    r->at = 0;
    m->config.counters->rolls++;
    member_log(m, "calls the roll: no coordinator is heard");
}

void roll_end(struct member *m)
{
    uint32_t number = m->roll.number;

    if (m->roll.since_us == 0 && m->roll.called_us == 0)
        return;
    for (size_t i = 0; i < m->table.count; i++)
        table_at(&m->table, i)->calls = false;
    m->roll = (struct roll){.number = number};
}

static void ask_some(struct member *m, uint64_t now_us)
{
    struct roll *r = &m->roll;
    size_t asked = 0;

    for (; r->at < m->table.count && asked < AT_ONCE; r->at++) {
        const struct row *row = table_at(&m->table, r->at);

        if (!is_asked(m, row))
            continue;
        m->owner.roll(m->owner.context, row->host.index, r->number);
        asked++;
    }
    r->next_us = now_us + PAUSE_US;
    if (r->at < m->table.count)
        return;
    uint64_t again_us = r->round_us + m->config.fail_timeout_us / 8;

    r->at = 0;
    r->next_us = r->round_us = again_us > r->next_us ? again_us : r->next_us;
}

void roll_step(struct member *m, uint64_t now_us)
{
    struct roll *r = &m->roll;

    if (!may_call(m))
        return;
    bool early = now_us < election_silent_since(m) + patience_us(m);

    if (early && m->table.coordinator != 0)
        roll_end(m); /* it is heard again */
    if (!early && r->since_us == 0 && (r->called_us == 0 || votes(m)) && now_us >= roll_time(m))
        begin(m, now_us);
    if (r->since_us != 0 && now_us >= r->next_us)
        ask_some(m, now_us);
}

uint64_t roll_deadline(const struct member *m, uint64_t now_us)
{
    uint64_t begin_us = election_silent_since(m) + patience_us(m);

    if (!may_call(m))
        return UINT64_MAX;
    if (m->roll.since_us != 0)
        return m->roll.next_us;
    if (now_us < begin_us)
        return begin_us; /* without counting who is before */
    return m->roll.called_us != 0 && !votes(m) ? UINT64_MAX : roll_time(m);
}

/* Whoever calls while the coordinator is heard here gets its answer, and nothing else; so does a
 * call for another coordinator, which may be an old one that somebody recorded and sends again. */
void member_on_roll(struct member *m, uint32_t host, uint32_t mark, uint64_t now_us)
{
    struct row *row = table_row(&m->table, host);

    if (row == NULL || !may_call(m) || mark != epoch_mark(m->table.epoch) ||
        now_us < election_silent_since(m) + patience_us(m) / 2)
        return;
    m->roll.called_us = now_us;
    row->calls = true;
}

bool roll_was_called(const struct member *m)
{
    return m->roll.called_us != 0;
}

unsigned roll_before(const struct member *m)
{
    unsigned before = 0;

    for (size_t i = 0; i < m->table.count; i++)
        before += table_at(&m->table, i)->calls && table_at(&m->table, i)->host.index < m->self;
    return before;
}

uint64_t roll_lost_us(const struct member *m)
{
    size_t voters = 0, silent = 0;

    if (m->roll.since_us == 0)
        return UINT64_MAX;
    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);

        if (!(row->flags & ROW_VOTER) || !row_is_living(row))
            continue;
        voters++;
        silent += row->host.index != m->self && row->heard_us < m->roll.since_us;
    }
    return 2 * silent >= voters ? m->roll.since_us + tenths_us(m, LOST_TENTHS) : UINT64_MAX;
}

/* The silence of a host that did not answer counts as if the last heartbeat before the call had
 * been heard: it was asked when the call began, and again and again, so what the detector gives
 * others for the heartbeat that may have been lost just before a cut is not for it. */
static uint64_t unheard_since(const struct member *m)
{
    return m->roll.since_us - detector_beat_us(m);
}

bool roll_apply(struct member *m, struct row *row, uint64_t now_us)
{
    const struct roll *r = &m->roll;
    bool silent = r->since_us != 0 && row->heard_us < r->since_us && election_has_say(row) &&
                  row->host.index != m->self;

    row->heard_us = row->direct_us = silent ? unheard_since(m) : now_us;
    return silent;
}

void roll_join(const struct member *m, struct row *row)
{
    uint64_t since_us = unheard_since(m);

    if (row == NULL)
        return;
    row->heard_us = row->heard_us > since_us ? row->heard_us : since_us;
    row->direct_us = row->direct_us > since_us ? row->direct_us : since_us;
}
