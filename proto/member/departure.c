/*
 * departure.c - who may leave the VM, and when.
 *
 * A host that is told to leave says so to the coordinator (COUNCIL_LEAVING, council.h) and stays a
 * full member, voter and all, until the coordinator releases it (RELEASE, an empty frame) or its
 * patience ends. The coordinator releases a host when the rest can do without it:
 *   - its vote is not needed: it was taken off the voters, and that is agreed. The voters change
 *     only in ways that leave a majority of those that answer at that moment (raft_membership.c);
 *   - of all hosts that remain at least half live, which is what the coordinator must hear.
 * To live means to have been heard since it asked: who has answered the last heartbeat may have
 * died after it. So the coordinator asks all hosts as soon as somebody wants to leave, not more
 * often than a suspect is asked. If too few answer, the host waits until the others are declared
 * gone, and the count is another.
 *
 * Where nobody wants to stay nobody is needed: all are released at once. The coordinator itself
 * hands over first, and then asks who leads after it; when there is nobody to hand over to, it just
 * goes.
 */
#include "proto/member/member_state.h"

/* ---- coordinator ---- */

void departure_resume(struct member *m, uint64_t now_us)
{
    m->departure.pending = true;
    m->departure.due_us = now_us;
    for (size_t i = 0; i < m->table.count; i++)
        table_at(&m->table, i)->released = false;
}

void member_on_leaving(struct member *m, uint32_t host, uint64_t now_us)
{
    struct row *row = table_row(&m->table, host);

    if (row == NULL || !row_is_living(row) || host == m->self)
        return;
    row->leaves_us = now_us;
    row->released = false;
    m->departure.pending = true;
    m->departure.due_us = now_us;
}

static bool wants_to_leave(const struct row *row)
{
    return row_is_living(row) && !(row->flags & ROW_LEFT) && row->leaves_us != 0 && !row->released;
}

/* The hosts that would be there if those that were released had gone. */
struct rest {
    size_t all, alive;
    size_t stay;      /* of all, those that do not want to leave */
    uint64_t last_us; /* of those that wait the last asked then; 0: none waits */
};

static bool is_alive(const struct member *m, const struct row *row)
{
    return row->host.index == m->self || row->heard_us >= m->departure.round_us;
}

static struct rest count_rest(const struct member *m)
{
    struct rest rest = {0};

    for (size_t i = 0; i < m->table.count; i++) {
        const struct row *row = table_at(&m->table, i);
        bool self = row->host.index == m->self;

        if (wants_to_leave(row) && row->leaves_us > rest.last_us)
            rest.last_us = row->leaves_us;
        if (!row_is_up(row) || row->flags & ROW_LEFT || row->released)
            continue;
        rest.all++;
        rest.alive += is_alive(m, row);
        rest.stay += self ? m->phase == MEMBER_UP : row->leaves_us == 0;
    }
    return rest;
}

static bool may_go(const struct member *m, const struct row *row, const struct rest *rest)
{
    size_t alive = rest->alive - is_alive(m, row);

    return rest->stay == 0 ||
           (row->leaves_us <= m->departure.round_us && 2 * alive >= rest->all - 1 &&
            m->owner.spares(m->owner.context, row->host.index));
}

/* How often those that wait are looked at. */
static uint64_t part_us(const struct member *m)
{
    return m->config.fail_timeout_us / 1000 + 1;
}

/* Some wanted to leave since all hosts were asked the last time; those that do at once share it. */
static bool is_round_due(const struct member *m, const struct rest *rest, uint64_t now_us)
{
    uint64_t asked_us = m->departure.round_us;

    return rest->last_us > asked_us && now_us >= asked_us + detector_look_us(m) &&
           (now_us >= rest->last_us + part_us(m) || now_us >= asked_us + 2 * detector_look_us(m));
}

void departure_step(struct member *m, uint64_t now_us)
{
    struct departure *d = &m->departure;
    struct rest rest;

    if (!d->pending || now_us < d->due_us || !member_in_office(m))
        return;
    rest = count_rest(m);
    if (is_round_due(m, &rest, now_us)) {
        d->round_us = now_us;
        detector_start(m, now_us);
        rest = count_rest(m);
    }
    for (size_t i = 0; i < m->table.count; i++) {
        struct row *row = table_at(&m->table, i);

        if (wants_to_leave(row) && row_is_up(row) && may_go(m, row, &rest)) {
            rest.all--;
            rest.alive -= is_alive(m, row);
            row->released = true;
            member_log(m, "host %s (%u) may leave", row->host.name, row->host.index);
            member_send(m, row->host.index, FRAME_RELEASE, NULL, 0, now_us);
        }
    }
    d->pending = count_rest(m).last_us != 0;
    d->due_us = now_us + part_us(m);
}

bool departure_is_under_way(const struct member *m)
{
    for (size_t i = 0; i < m->table.count && is_coordinator(m); i++)
        if (row_is_living(table_at(&m->table, i)) && table_at(&m->table, i)->released)
            return true;
    return false;
}

/* ---- who leaves ---- */

void departure_start(struct member *m, uint64_t now_us)
{
    m->departure.released = false;
    m->departure.drain_by_us = now_us + m->config.fail_timeout_us / 2;
}

void departure_on_release(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                          uint64_t now_us)
{
    (void)payload;
    (void)now_us;
    if (host != m->table.coordinator || size != 0)
        member_log(m, "refused RELEASE of host %u", host);
    else
        m->departure.released = true;
}

bool departure_is_free(const struct member *m, uint64_t now_us)
{
    bool may = (m->departure.released && !is_coordinator(m)) || !m->owner.needed(m->owner.context);

    return may && (now_us >= m->departure.drain_by_us || m->owner.queued(m->owner.context, 0) == 0);
}

/* ---- time ---- */

uint64_t departure_deadline(const struct member *m, uint64_t now_us)
{
    const struct departure *d = &m->departure;
    uint64_t due_us = d->pending && member_in_office(m) ? d->due_us : UINT64_MAX;

    if (m->phase == MEMBER_DRAINING && now_us < d->drain_by_us && d->drain_by_us < due_us)
        due_us = d->drain_by_us;
    return due_us;
}
