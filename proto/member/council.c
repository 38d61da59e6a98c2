/*
 * council.c - the voters of the VM.
 *
 * Who leads. The voters elect (raft_election.c). Who leads the log coordinates the VM: it takes
 * office when it hears at least half of all hosts (registry.c), and its first entry is the change
 * of the host table that says so. Every other host follows the coordinator that its table names, so
 * there is nothing to announce.
 *
 * Who votes. The coordinator chooses among the hosts that are up: itself, and those that have been
 * in the VM for the longest; five of five or more hosts, three of three or four, one of one or two.
 * An odd number, for a fourth voter makes a group that bears no more deaths than three; and with
 * two hosts a group of both would stop at the death of either, where the VM itself goes on when the
 * second dies. Whoever is declared gone, or says that it leaves, is replaced, one at a time
 * (raft_membership.c). The table says who votes, for those who must know when too many are lost.
 *
 * Generations. A host takes part in one generation: that of its table, or the later one that it
 * promised to (election.c). What comes of an earlier one is dropped, and the log of it forgotten.
 */
#include "proto/member/council.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/format.h"
#include "proto/wire/frame.h"

#define HEAD_BYTES 12
#define HEARTBEAT_US_MAX 500000

_Static_assert(HEAD_BYTES + RAFT_MESSAGE_BYTES_MAX <= FRAME_PAYLOAD_MAX, "a message is one frame");
_Static_assert(TABLE_CHANGE_BYTES_MAX <= COUNCIL_BODY_BYTES_MAX, "a change is one entry");
_Static_assert((int)RAFT_ID_BYTES == (int)HOST_ID_BYTES, "a member is a daemon's start");

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
    struct glance glance;
    bool leaving;
    uint32_t told_leaving; /* the leader that was told so */
    uint64_t epoch;        /* in which this host leads, as the owner was told; 0: it does not */
    /* coordinator */
    bool stale;                         /* who is to vote is to be looked at anew */
    uint64_t conf_index;                /* of the configuration that the table was told */
    uint8_t payload[FRAME_PAYLOAD_MAX]; /* of a frame or command that is made; the last */
};

struct council *council_create(const struct council_config *config,
                               const struct council_owner *owner)
{
    struct council *c = malloc(sizeof *c);

    if (c == NULL)
        return NULL;
    memset(c, 0, offsetof(struct council, payload)); /* which most hosts never touch */
    c->config = *config;
    c->owner = *owner;
    memcpy(c->self.id, config->id, HOST_ID_BYTES);
    return c;
}

void council_destroy(struct council *c)
{
    if (c == NULL)
        return;
    raft_destroy(c->raft);
    free(c);
}

static void council_say(struct council *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void council_say(struct council *c, const char *format, ...)
{
    char line[256];
    FORMAT(line, sizeof line, format);
    c->owner.log(c->owner.context, line);
}

static const struct row *row_of(const struct council *c, uint32_t host)
{
    return host <= HOST_INDEX_MAX ? table_row(c->config.table, host) : NULL;
}

static bool coordinates(const struct council *c)
{
    const struct table *t = c->config.table;

    return t->coordinator == c->self.host && c->self.host != 0 && t->epoch == c->epoch;
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

    if (row != NULL && memcmp(row->host.id, to->id, HOST_ID_BYTES) == 0)
        send_frame(c, to->host, COUNCIL_MESSAGE, bytes, size);
}

static void raft_applies(void *context, uint64_t index, uint64_t term, const uint8_t *bytes,
                         size_t size)
{
    struct council *c = context;

    (void)term;
    if (size > 0 && (bytes[0] == COUNCIL_CHANGE || bytes[0] == COUNCIL_COMMAND))
        c->owner.apply(c->owner.context, bytes[0], index, bytes + 1, size - 1);
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

static void tell_epoch(struct council *c, uint64_t epoch)
{
    if (epoch == c->epoch)
        return;
    c->epoch = epoch;
    c->stale = true;
    c->owner.leads(c->owner.context, epoch);
}

static void raft_tells_leader(void *context, const struct raft_id *leader, uint64_t term)
{
    struct council *c = context;
    bool leads = leader != NULL && raft_id_equal(leader, &c->self);

    tell_epoch(c, leads ? epoch_make(c->generation, term) : 0);
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

/* Half a fail timeout at least: who stands still for less keeps its office. */
static uint64_t election_us(const struct council *c)
{
    uint64_t timeout_us = c->config.fail_timeout_us / 2;

    return timeout_us > 4 * heartbeat_us(c) ? timeout_us : 4 * heartbeat_us(c);
}

/* Somewhat later than any other host would be declared gone: who hears too few hosts ends first. */
static uint64_t quorum_us(const struct council *c)
{
    return c->config.fail_timeout_us * 5 / 4;
}

static void leave_generation(struct council *c)
{
    raft_destroy(c->raft);
    c->raft = NULL;
    tell_epoch(c, 0);
}

/* Takes part in a generation, with an empty state: as its founder, or until a leader says more. */
static int enter_generation(struct council *c, uint64_t generation)
{
    struct raft_config config = {.self = c->self,
                                 .election_us = election_us(c),
                                 .heartbeat_us = heartbeat_us(c),
                                 .quorum_us = quorum_us(c),
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
    if (c->raft == NULL)
        return -ENOMEM;
    c->generation = generation;
    c->owner.reset(c->owner.context);
    return 0;
}

void council_join(struct council *c, uint32_t self)
{
    c->self.host = self;
}

int council_found(struct council *c, uint64_t generation, uint64_t now_us)
{
    bool first = c->generation == 0;

    c->now_us = now_us;
    if (enter_generation(c, generation) < 0)
        return -ENOMEM;
    if (!first)
        council_say(c, "council: too many of the voters are gone: what was agreed is lost");
    council_say(c, "council: founds generation %llu", (unsigned long long)generation);
    return raft_bootstrap(c->raft, now_us);
}

/* The table, or a promise, is of a later one. */
static void follow_generation(struct council *c)
{
    uint64_t generation = c->config.table->promised;

    if (generation <= c->generation)
        return;
    leave_generation(c);
    c->generation = generation;
}

/* ---- frames in ---- */

static void on_message(struct council *c, uint64_t generation, const uint8_t *bytes, size_t size)
{
    if (c->raft == NULL || generation > c->generation)
        if (enter_generation(c, generation) < 0)
            return;
    raft_on_message(c->raft, bytes, size, c->now_us);
}

void council_on_frame(struct council *c, uint32_t host, const uint8_t *payload, size_t size,
                      uint64_t now_us)
{
    struct cursor in = cursor_reader(payload, size);
    uint64_t generation = cursor_get_u64(&in);
    uint8_t what = cursor_get_u8(&in);

    c->now_us = now_us;
    cursor_get_view(&in, 3);
    if (!cursor_ok(&in) || generation > GENERATION_MAX ||
        (what != COUNCIL_MESSAGE && what != COUNCIL_LEAVING)) {
        council_say(c, "refused RAFT of host %u: it is malformed", host);
        return;
    }
    follow_generation(c);
    if (generation < c->generation || c->self.host == 0)
        return; /* what it agreed on is lost */
    if (what == COUNCIL_MESSAGE)
        on_message(c, generation, in.at, cursor_left(&in));
    else {
        c->owner.leaves(c->owner.context, host, c->now_us);
        c->stale = true;
    }
}

void council_on_late(struct council *c, uint64_t late_us)
{
    if (c->raft != NULL)
        raft_on_late(c->raft, late_us);
}

/* ---- coordinator: who votes ---- */

static bool may_vote(const struct council *c, const struct row *row)
{
    return row_is_up(row) && !row_is_condemned(row) && !(row->flags & ROW_LEFT) &&
           row->leaves_us == 0 && !(c->leaving && row->host.index == c->self.host);
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
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < c->config.table->count; i++) {
        const struct row *row = table_at(c->config.table, i);
        size_t at = kept;

        if (!may_vote(c, row))
            continue;
        count++;
        for (; at > 0 && is_before(c->self.host, row, best[at - 1]); at--)
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

        if (conf->members[i].voter && row != NULL && may_vote(c, row))
            well++;
        else if (conf->members[i].voter)
            ill++;
    }
    return ill > 0 && well > wanted ? well : wanted;
}

/* Where all leave, those that vote do so to the end. */
static size_t voters_now(const struct council *c, struct raft_id voters[RAFT_VOTERS_MAX])
{
    const struct raft_configuration *conf = raft_configuration(c->raft);
    size_t count = 0;

    for (uint8_t i = 0; i < conf->count && count < RAFT_VOTERS_MAX; i++)
        if (conf->members[i].voter)
            voters[count++] = conf->members[i].id;
    return count;
}

static void tell_voters(struct council *c)
{
    const struct raft_configuration *conf = raft_configuration(c->raft);
    uint32_t hosts[RAFT_MEMBERS_MAX];
    size_t count = 0;

    for (uint8_t i = 0; i < conf->count; i++)
        if (conf->members[i].voter)
            hosts[count++] = conf->members[i].id.host;
    c->owner.voters(c->owner.context, hosts, count);
}

static bool conf_changed(const struct council *c)
{
    return raft_is_settled(c->raft) && c->conf_index != raft_configuration_index(c->raft);
}

/* Who only leads the log waits for its office before it changes the voters. */
static void council_lead(struct council *c, bool changed)
{
    if (!council_leads(c) || !coordinates(c))
        return;
    if (!changed && !c->stale && !conf_changed(c))
        return;
    c->stale = false;
    const struct row *best[RAFT_VOTERS_MAX + 1];
    struct raft_id voters[RAFT_VOTERS_MAX];
    size_t count = voters_wanted(c, rank_voters(c, best));

    for (size_t i = 0; i < count; i++) {
        voters[i].host = best[i]->host.index;
        memcpy(voters[i].id, best[i]->host.id, HOST_ID_BYTES);
    }
    if (count == 0)
        count = voters_now(c, voters);
    raft_want_voters(c->raft, voters, count);
    if (!raft_is_settled(c->raft))
        return;
    c->conf_index = raft_configuration_index(c->raft);
    tell_voters(c);
}

/* ---- everyone ---- */

static void say_leaving(struct council *c, bool leaving)
{
    uint32_t leader = c->config.table->coordinator;

    if (leaving && !c->leaving)
        c->stale = true;
    c->leaving = leaving;
    if (!leaving || leader == 0 || leader == c->self.host || leader == c->told_leaving)
        return;
    c->told_leaving = leader;
    send_frame(c, leader, COUNCIL_LEAVING, NULL, 0);
}

/* ---- time ---- */

uint64_t council_step(struct council *c, bool leaving, uint64_t now_us)
{
    uint64_t raft_us;
    bool changed;

    c->now_us = now_us;
    if (c->self.host == 0)
        return UINT64_MAX;
    follow_generation(c);
    const struct table *t = c->config.table;
    struct glance now = {t->epoch, t->version, t->coordinator, t->count};
    bool same = now.epoch == c->glance.epoch && now.version == c->glance.version &&
                now.coordinator == c->glance.coordinator && now.count == c->glance.count;

    c->glance = now;
    changed = !same;
    say_leaving(c, leaving);
    if (c->raft == NULL)
        return UINT64_MAX;
    council_lead(c, changed);
    raft_us = raft_step(c->raft, now_us);
    if (coordinates(c) && (c->stale || conf_changed(c))) {
        council_lead(c, true);
        raft_us = raft_step(c->raft, now_us);
    }
    return raft_us;
}

int64_t council_propose(struct council *c, enum council_kind kind, const uint8_t *bytes,
                        size_t size, uint64_t now_us)
{
    struct cursor to = cursor_writer(c->payload, sizeof c->payload);

    c->now_us = now_us;
    if (c->raft == NULL)
        return -EPERM;
    if (size > COUNCIL_BODY_BYTES_MAX)
        return -EMSGSIZE;
    cursor_put_u8(&to, (uint8_t)kind);
    cursor_put_bytes(&to, bytes, size);
    return raft_propose(c->raft, c->payload, 1 + size, now_us);
}

uint64_t council_read(struct council *c, uint64_t now_us)
{
    c->now_us = now_us;
    return c->raft != NULL ? raft_read(c->raft, now_us) : 0;
}

/* ---- readers ---- */

bool council_read_ok(const struct council *c, uint64_t number)
{
    return c->raft != NULL && raft_read_ok(c->raft, number);
}

bool council_leads(const struct council *c)
{
    return c->raft != NULL && raft_leads(c->raft);
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

/* Who does not coordinate learns that nobody needs it from who does. */
bool council_is_needed(const struct council *c)
{
    bool votes = c->raft != NULL && raft_is_voter(c->raft, &c->self);

    return (votes || !coordinates(c)) && others_are_up(c);
}

bool council_spares(const struct council *c, uint32_t host)
{
    const struct raft_configuration *conf;

    if (!council_leads(c) || !raft_is_settled(c->raft))
        return false;
    conf = raft_configuration(c->raft);
    for (uint8_t i = 0; i < conf->count; i++)
        if (conf->members[i].id.host == host && conf->members[i].voter)
            return false;
    return true;
}

const struct raft *council_raft(const struct council *c)
{
    return c->raft;
}
