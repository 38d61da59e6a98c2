/*
 * council.c - the voters of the VM.
 *
 * Who votes. The leader chooses among the hosts that are up: the coordinator, and those that have
 * been in the VM for the longest; five of five or more hosts, three of three or four, one of one or
 * two. An odd number, for a fourth voter makes a group that bears no more deaths than three;
 * and with two hosts a group of both would stop at the death of either, where the VM itself goes on
 * when the second dies. Whoever is declared gone, or says that it leaves, is replaced, one at a
 * time (raft_membership.c).
 *
 * Who leads. The voters elect (raft_election.c). The leader announces itself and the voters to
 * every host, again when the voters changed, and to each host that joins; frames between living
 * daemons are reliable, so every host knows. The leader hands over to the coordinator when that is
 * another host for LAG fail timeouts, so that in quiet times one host does both; until then it
 * shows itself to the coordinator again and again. It need not be so: the leader decides about what
 * is agreed, the coordinator about the host table, and neither asks the other.
 *
 * Two quorums. The host table is agreed on by a majority of all hosts (member.c), the rest by a
 * majority of the voters. A host that is cut off from the first ends, so no group of voters on
 * the smaller side of a cut goes on for long. The larger side may hold too few voters: then, and
 * when most of the voters die at once, what was agreed is lost, though the VM goes on. The
 * coordinator, of whom there is one an epoch, sees that a majority of the voters announced last is
 * gone for ever, waits LAG fail timeouts for an announcement that says otherwise (within which
 * whoever is cut off has ended), and founds the next generation; it does so, too, when no leader
 * shows itself to it for twice as long (after which no host that cannot reach it is left). Its
 * number begins with the coordinator's epoch, so no two are founded under one number. Everyone else
 * takes part in, and listens to, the highest generation only.
 */
#include "proto/council.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/frame.h"

#define HEAD_BYTES 12
#define ANNOUNCE_BYTES_MAX (13 + 4 * RAFT_MEMBERS_MAX)
#define LAG 2 /* fail timeouts */
#define HEARTBEAT_US_MAX 500000
#define GENERATION_SHIFT 16 /* below: generations founded in one epoch */

_Static_assert(HEAD_BYTES + RAFT_MESSAGE_BYTES_MAX <= FRAME_PAYLOAD_MAX, "a message is one frame");
_Static_assert((int)RAFT_ID_BYTES == (int)HOST_ID_BYTES, "a member is a daemon's start");

/* What is known of who leads. */
struct notice {
    uint64_t generation, term;
    uint32_t leader;
    uint8_t count;
    uint32_t voters[RAFT_MEMBERS_MAX];
};

/* The table, as it was looked at last. */
struct glance {
    uint64_t epoch, version;
    uint32_t coordinator;
    size_t count;
};

struct council {
    struct council_owner owner;
    struct council_config config;
    struct raft_id self;
    uint64_t now_us;
    uint64_t generation;
    struct raft *raft; /* NULL: no member */
    struct notice notice;
    struct glance glance;
    bool leaving;
    uint32_t told_leaving; /* the leader that was told so */
    /* leader */
    bool stale;          /* wishes and announcements are to be made anew */
    uint64_t conf_index; /* of the configuration that was announced */
    uint64_t announced_term;
    uint32_t revision;                      /* of the announcement */
    uint32_t announced[HOST_INDEX_MAX + 1]; /* the revision that each host was sent */
    bool leavers[HOST_INDEX_MAX + 1];       /* they said so */
    uint64_t align_us;                      /* leadership goes to the coordinator then, */
    uint64_t try_us;                        /* or, if that failed, then */
    uint64_t beacon_us;                     /* the coordinator hears of it again then */
    /* coordinator */
    uint64_t lost_us;  /* since when the voters seem lost; 0: they do not */
    uint64_t heard_us; /* the last announcement, or sign of leading itself */
    uint8_t payload[FRAME_PAYLOAD_MAX];
};

struct council *council_create(const struct council_config *config,
                               const struct council_owner *owner)
{
    struct council *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->config = *config;
    c->owner = *owner;
    memcpy(c->self.id, config->id, HOST_ID_BYTES);
    return c;
}

void council_destroy(struct council *c)
{
    if (!c)
        return;
    raft_destroy(c->raft);
    free(c);
}

static void say(struct council *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct council *c, const char *format, ...)
{
    char line[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    c->owner.log(c->owner.context, line);
}

static const struct row *row_of(const struct council *c, uint32_t host)
{
    return host <= HOST_INDEX_MAX ? table_row(c->config.table, host) : NULL;
}

static bool is_alive(const struct council *c, uint32_t host)
{
    const struct row *row = row_of(c, host);

    return row && row_is_living(row);
}

static bool coordinates(const struct council *c)
{
    return c->config.table->coordinator == c->self.host && c->self.host != 0;
}

/* ---- frames out ---- */

static void send_frame(struct council *c, uint32_t host, uint8_t what, const uint8_t *body,
                       size_t size)
{
    struct cursor to = cursor_writer(c->payload, sizeof c->payload);

    cursor_put_u64(&to, c->generation);
    cursor_put_u8(&to, what);
    cursor_put_bytes(&to, (uint8_t[3]){0}, 3);
    cursor_put_bytes(&to, body, size);
    c->owner.send(c->owner.context, host, c->payload, (size_t)(to.at - c->payload), c->now_us);
}

/* ---- what the engine asks ---- */

/* A host's index may be another daemon's by now. */
static void raft_wants_send(void *context, const struct raft_id *to, const uint8_t *bytes,
                            size_t size)
{
    struct council *c = context;
    const struct row *row = row_of(c, to->host);

    if (row && memcmp(row->host.id, to->id, HOST_ID_BYTES) == 0)
        send_frame(c, to->host, COUNCIL_MESSAGE, bytes, size);
}

static void raft_applies(void *context, uint64_t index, uint64_t term, const uint8_t *bytes,
                         size_t size)
{
    struct council *c = context;

    (void)term;
    c->owner.apply(c->owner.context, index, bytes, size);
}

static bool raft_saves(void *context, uint8_t **bytes, size_t *size)
{
    struct council *c = context;

    return c->owner.save(c->owner.context, bytes, size);
}

static bool raft_loads(void *context, const uint8_t *bytes, size_t size)
{
    struct council *c = context;

    return c->owner.load(c->owner.context, bytes, size);
}

static void take_notice(struct council *c, const struct notice *notice)
{
    bool same = c->notice.generation == notice->generation && c->notice.leader == notice->leader;

    c->notice = *notice;
    if (!same)
        c->owner.leader(c->owner.context, notice->leader, notice->generation);
}

/* Who else leads is heard from that one, when it knows all that is agreed. */
static void raft_tells_leader(void *context, const struct raft_id *leader, uint64_t term)
{
    struct council *c = context;
    struct notice notice = c->notice;
    bool leads = leader && raft_id_equal(leader, &c->self);

    c->stale = true;
    if (!leads && notice.leader != c->self.host)
        return;
    notice.generation = c->generation;
    notice.leader = leads ? c->self.host : 0;
    notice.term = term;
    c->align_us = c->now_us + LAG * c->config.fail_timeout_us;
    take_notice(c, &notice);
}

static void raft_logs(void *context, const char *line)
{
    struct council *c = context;

    c->owner.log(c->owner.context, line);
}

/* ---- generations ---- */

static uint64_t heartbeat_us(const struct council *c)
{
    uint64_t beat_us = c->config.fail_timeout_us / 10;

    return beat_us < HEARTBEAT_US_MAX ? beat_us : HEARTBEAT_US_MAX;
}

static uint64_t election_us(const struct council *c)
{
    uint64_t timeout_us = c->config.fail_timeout_us / 5;

    return timeout_us > 4 * heartbeat_us(c) ? timeout_us : 4 * heartbeat_us(c);
}

static void leave_generation(struct council *c)
{
    raft_destroy(c->raft);
    c->raft = NULL;
    c->announced_term = 0;
    c->stale = true;
}

/* Takes part in a generation, with an empty state: as its founder, or until a leader says more. */
static int enter_generation(struct council *c, uint64_t generation)
{
    struct raft_config config = {.self = c->self,
                                 .election_us = election_us(c),
                                 .heartbeat_us = heartbeat_us(c),
                                 .seed = c->config.seed + generation};
    struct raft_owner owner = {.context = c,
                               .send = raft_wants_send,
                               .apply = raft_applies,
                               .snapshot_save = raft_saves,
                               .snapshot_load = raft_loads,
                               .leader = raft_tells_leader,
                               .log = raft_logs};

    leave_generation(c);
    c->raft = raft_create(&config, &owner);
    if (!c->raft)
        return -ENOMEM;
    c->generation = generation;
    c->owner.reset(c->owner.context);
    return 0;
}

void council_join(struct council *c, uint32_t self)
{
    c->self.host = self;
}

int council_found(struct council *c, uint64_t now_us)
{
    uint64_t first = c->config.table->epoch << GENERATION_SHIFT;
    uint64_t generation = c->generation >= first ? c->generation + 1 : first;

    c->now_us = now_us;
    if (enter_generation(c, generation) < 0)
        return -ENOMEM;
    say(c, "council: founds generation %llu", (unsigned long long)generation);
    return raft_bootstrap(c->raft, now_us);
}

/* ---- frames in ---- */

static void on_message(struct council *c, uint64_t generation, const uint8_t *bytes, size_t size)
{
    if (!c->raft || generation > c->generation)
        if (enter_generation(c, generation) < 0)
            return;
    raft_on_message(c->raft, bytes, size, c->now_us);
}

static bool read_notice(struct cursor *c, struct notice *notice)
{
    notice->term = cursor_get_u64(c);
    notice->leader = cursor_get_u32(c);
    notice->count = cursor_get_u8(c);
    if (notice->count > RAFT_MEMBERS_MAX)
        return false;
    for (uint8_t i = 0; i < notice->count; i++)
        notice->voters[i] = cursor_get_u32(c);
    return cursor_done(c) && notice->count > 0;
}

static void on_announcement(struct council *c, const struct notice *notice)
{
    if (notice->generation == c->notice.generation && notice->term < c->notice.term)
        return; /* of a leader that is no more */
    if (notice->generation > c->generation) {
        leave_generation(c);
        c->generation = notice->generation;
    }
    c->heard_us = c->now_us;
    take_notice(c, notice);
}

static void on_leaving(struct council *c, uint32_t host)
{
    c->leavers[host] = true;
    c->stale = true;
}

void council_on_frame(struct council *c, uint32_t host, const uint8_t *payload, size_t size,
                      uint64_t now_us)
{
    struct cursor in = cursor_reader(payload, size);
    struct notice notice = {.generation = cursor_get_u64(&in)};
    uint8_t what = cursor_get_u8(&in);

    c->now_us = now_us;
    cursor_get_view(&in, 3);
    if (!cursor_ok(&in) || what < COUNCIL_MESSAGE || what > COUNCIL_LEAVING ||
        (what == COUNCIL_ANNOUNCE && !read_notice(&in, &notice))) {
        say(c, "refused RAFT of host %u: it is malformed", host);
        return;
    }
    if (notice.generation < c->generation || c->self.host == 0)
        return; /* what it agreed on is lost */
    if (what == COUNCIL_MESSAGE)
        on_message(c, notice.generation, in.at, cursor_left(&in));
    else if (what == COUNCIL_ANNOUNCE)
        on_announcement(c, &notice);
    else
        on_leaving(c, host);
}

void council_on_late(struct council *c, uint64_t late_us)
{
    if (c->raft)
        raft_on_late(c->raft, late_us);
    if (c->lost_us != 0)
        c->lost_us += late_us;
    c->heard_us += late_us;
}

/* ---- leader: who votes ---- */

static bool may_vote(const struct council *c, const struct row *row)
{
    return row_is_up(row) && !row_is_condemned(row) && !(row->flags & ROW_LEFT) &&
           !c->leavers[row->host.index] && !(c->leaving && row->host.index == c->self.host);
}

/* Before its time has come the coordinator is no more than any other host, and the leader stays. */
static uint32_t favourite(const struct council *c)
{
    const struct row *row = row_of(c, c->config.table->coordinator);
    bool aligned = coordinates(c) || (row && may_vote(c, row) && c->now_us >= c->align_us);

    return aligned ? c->config.table->coordinator : c->self.host;
}

static bool is_before(uint32_t first, const struct row *a, const struct row *b)
{
    if ((a->host.index == first) != (b->host.index == first))
        return a->host.index == first;
    return a->host.incarnation < b->host.incarnation;
}

/* The best RAFT_VOTERS_MAX of all that may vote, in order; returns how many may. */
static size_t rank_voters(const struct council *c, const struct row *best[RAFT_VOTERS_MAX + 1])
{
    const uint32_t first = favourite(c);
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < c->config.table->count; i++) {
        const struct row *row = table_at(c->config.table, i);
        size_t at = kept;

        if (!may_vote(c, row))
            continue;
        count++;
        for (; at > 0 && is_before(first, row, best[at - 1]); at--)
            best[at] = best[at - 1];
        best[at] = row;
        kept += kept < RAFT_VOTERS_MAX;
    }
    return count;
}

/* An odd number; but nobody is sent away who is well while another who is not has a vote: what is
 * left would depend on that one. */
static size_t voters_wanted(const struct council *c, size_t count)
{
    const struct raft_configuration *conf = raft_configuration(c->raft);
    size_t wanted = count >= 5 ? 5 : count >= 3 ? 3 : count > 0;
    size_t well = 0, ill = 0;

    for (uint8_t i = 0; i < conf->count; i++) {
        const struct row *row = row_of(c, conf->members[i].id.host);

        if (conf->members[i].voter && row && may_vote(c, row))
            well++;
        else if (conf->members[i].voter)
            ill++;
    }
    return ill > 0 && well > wanted ? well : wanted;
}

static void want_voters(struct council *c)
{
    const struct row *best[RAFT_VOTERS_MAX + 1];
    struct raft_id voters[RAFT_VOTERS_MAX];
    size_t count = voters_wanted(c, rank_voters(c, best));

    for (size_t i = 0; i < count; i++) {
        voters[i].host = best[i]->host.index;
        memcpy(voters[i].id, best[i]->host.id, HOST_ID_BYTES);
    }
    if (count > 0)
        raft_want_voters(c->raft, voters, count);
}

/* ---- leader: announcements ---- */

/* Who votes goes into the announcement; whether that is news. */
static bool describe_voters(struct council *c)
{
    const struct raft_configuration *conf = raft_configuration(c->raft);
    const struct notice before = c->notice;

    c->notice.count = 0;
    for (uint8_t i = 0; i < conf->count; i++)
        if (conf->members[i].voter)
            c->notice.voters[c->notice.count++] = conf->members[i].id.host;
    return before.count != c->notice.count ||
           memcmp(before.voters, c->notice.voters, before.count * sizeof before.voters[0]) != 0;
}

static void announce_to(struct council *c, uint32_t host)
{
    uint8_t bytes[ANNOUNCE_BYTES_MAX];
    struct cursor to = cursor_writer(bytes, sizeof bytes);

    cursor_put_u64(&to, raft_term(c->raft));
    cursor_put_u32(&to, c->self.host);
    cursor_put_u8(&to, c->notice.count);
    for (uint8_t i = 0; i < c->notice.count; i++)
        cursor_put_u32(&to, c->notice.voters[i]);
    send_frame(c, host, COUNCIL_ANNOUNCE, bytes, (size_t)(to.at - bytes));
    c->announced[host] = c->revision;
}

static void announce(struct council *c)
{
    for (size_t i = 0; i < c->config.table->count; i++) {
        const struct row *row = table_at(c->config.table, i);
        uint32_t host = row->host.index;

        if (!row_is_living(row)) {
            c->announced[host] = 0;
            c->leavers[host] = false;
        } else if (row_is_up(row) && host != c->self.host && c->announced[host] != c->revision) {
            announce_to(c, host);
        }
    }
}

/* ---- leader ---- */

static void align(struct council *c)
{
    const struct row *row = row_of(c, c->config.table->coordinator);
    struct raft_id to = {.host = c->config.table->coordinator};

    if (coordinates(c) || !row || c->leaving || c->now_us < c->align_us || c->now_us < c->try_us)
        return;
    memcpy(to.id, row->host.id, HOST_ID_BYTES);
    c->stale = true; /* it is to be a voter, whoever else is */
    c->try_us = c->now_us + LAG * c->config.fail_timeout_us;
    if (raft_is_voter(c->raft, &to) && raft_is_settled(c->raft))
        raft_transfer(c->raft, &to, c->now_us);
}

static bool table_changed(struct council *c)
{
    const struct table *t = c->config.table;
    struct glance now = {t->epoch, t->version, t->coordinator, t->count};
    bool successor = now.coordinator != c->glance.coordinator;
    bool same = now.epoch == c->glance.epoch && now.version == c->glance.version &&
                now.coordinator == c->glance.coordinator && now.count == c->glance.count;

    if (successor)
        c->heard_us = c->now_us;
    if (successor)
        c->align_us = c->now_us + LAG * c->config.fail_timeout_us;
    c->glance = now;
    return !same;
}

static bool conf_changed(const struct council *c)
{
    return raft_is_settled(c->raft) && c->conf_index != raft_configuration_index(c->raft);
}

/* Or else the coordinator would think that nobody leads. */
static void show_presence(struct council *c)
{
    uint32_t coordinator = c->config.table->coordinator;

    if (coordinates(c) || !is_alive(c, coordinator) || c->now_us < c->beacon_us)
        return;
    c->beacon_us = c->now_us + c->config.fail_timeout_us;
    announce_to(c, coordinator);
}

static void lead(struct council *c, bool changed)
{
    if (!council_leads(c))
        return;
    align(c);
    show_presence(c);
    if (!changed && !c->stale && !conf_changed(c))
        return;
    c->conf_index = raft_configuration_index(c->raft);
    if (describe_voters(c) || c->announced_term != raft_term(c->raft))
        c->revision++;
    c->announced_term = raft_term(c->raft);
    c->stale = false;
    want_voters(c);
    announce(c);
}

/* ---- everyone ---- */

static void say_leaving(struct council *c, bool leaving)
{
    uint32_t leader = council_leader(c);

    if (leaving && !c->leaving)
        c->stale = true;
    c->leaving = leaving;
    if (!leaving || leader == 0 || leader == c->self.host || leader == c->told_leaving)
        return;
    c->told_leaving = leader;
    send_frame(c, leader, COUNCIL_LEAVING, NULL, 0);
}

/* ---- coordinator ---- */

/* Whether a majority of the voters that were announced last is gone. */
static bool seems_lost(const struct council *c)
{
    uint8_t alive = 0;

    for (uint8_t i = 0; i < c->notice.count; i++)
        alive += is_alive(c, c->notice.voters[i]);
    return 2 * alive <= c->notice.count;
}

/* When the voters are given up, as things stand. */
static uint64_t patience_end(struct council *c)
{
    const uint64_t lag_us = LAG * c->config.fail_timeout_us;
    uint64_t end_us = c->heard_us + 2 * lag_us;

    if (!seems_lost(c))
        c->lost_us = 0;
    else if (c->lost_us == 0)
        c->lost_us = c->now_us;
    return c->lost_us != 0 && c->lost_us + lag_us < end_us ? c->lost_us + lag_us : end_us;
}

static uint64_t judge(struct council *c)
{
    uint64_t end_us;

    if (council_leads(c))
        c->heard_us = c->now_us;
    if (!coordinates(c) || c->leaving || council_leads(c)) {
        c->lost_us = 0;
        return UINT64_MAX;
    }
    end_us = patience_end(c);
    if (c->now_us < end_us)
        return end_us;
    say(c, "council: too many of the voters are gone: what was agreed is lost");
    c->lost_us = 0;
    c->heard_us = c->now_us;
    council_found(c, c->now_us);
    return UINT64_MAX;
}

/* ---- time ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Of a leader that does not coordinate. */
static uint64_t lead_deadline(const struct council *c)
{
    uint64_t align_us = c->align_us > c->try_us ? c->align_us : c->try_us;

    if (!council_leads(c) || coordinates(c) || !is_alive(c, c->config.table->coordinator))
        return UINT64_MAX;
    return c->leaving ? c->beacon_us : earlier(align_us, c->beacon_us);
}

uint64_t council_step(struct council *c, bool leaving, uint64_t now_us)
{
    uint64_t judge_us, raft_us;
    bool changed;

    c->now_us = now_us;
    if (c->self.host == 0)
        return UINT64_MAX;
    changed = table_changed(c);
    judge_us = judge(c);
    say_leaving(c, leaving);
    if (!c->raft)
        return judge_us;
    lead(c, changed);
    raft_us = raft_step(c->raft, now_us);
    if (c->stale || (council_leads(c) && conf_changed(c))) {
        lead(c, true);
        raft_us = raft_step(c->raft, now_us);
    }
    return earlier(judge_us, earlier(raft_us, lead_deadline(c)));
}

int64_t council_propose(struct council *c, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    c->now_us = now_us;
    return c->raft ? raft_propose(c->raft, bytes, size, now_us) : -EPERM;
}

uint64_t council_read(struct council *c, uint64_t now_us)
{
    c->now_us = now_us;
    return c->raft ? raft_read(c->raft, now_us) : 0;
}

/* ---- readers ---- */

bool council_read_ok(const struct council *c, uint64_t number)
{
    return c->raft && raft_read_ok(c->raft, number);
}

bool council_leads(const struct council *c)
{
    return c->raft && raft_leads(c->raft);
}

uint32_t council_leader(const struct council *c)
{
    return is_alive(c, c->notice.leader) ? c->notice.leader : 0;
}

uint64_t council_generation(const struct council *c)
{
    return c->generation;
}

static bool others_are_up(const struct council *c)
{
    for (size_t i = 0; i < c->config.table->count; i++) {
        const struct row *row = table_at(c->config.table, i);

        if (row->host.index != c->self.host && may_vote(c, row))
            return true;
    }
    return false;
}

bool council_is_busy(const struct council *c)
{
    return c->raft && raft_is_voter(c->raft, &c->self) && others_are_up(c);
}

const struct raft *council_raft(const struct council *c)
{
    return c->raft;
}
