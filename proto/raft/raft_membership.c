/*
 * raft_membership.c - who takes part (chapter 4): the configuration is an entry of the log like any
 * other, counts from the moment it is appended (4.1), and changes by one member at a time, so that
 * any majority of the one before and any of the one after have a server in common.
 *
 * The owner of the leader names the voters it wants; here they become so step by step: who is not
 * wanted and silent goes first, new ones come as learners and are made voters when they have caught
 * up, who is not wanted but lives goes last. A leader that is not wanted hands over.
 *
 * A change must not be what takes the group its majority: who is dead and was not found out yet
 * counts before it and after it. That somebody was heard a heartbeat ago does not mean that it
 * lives. So before the voters change, or a leader hands over, all members are asked in a round of
 * questions (raft_read.c), the roll; and what is done is only what leaves a majority of those that
 * answered it. Else the change waits, until the owner does not want the dead any more.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "proto/raft/raft_state.h"

/* ---- the configuration that counts ---- */

static struct raft_peer *new_peer(struct raft *r, const struct raft_id *id)
{
    struct raft_peer *peer;

    if (r->peer_count == RAFT_PEERS_MAX) /* one that departed makes room */
        for (size_t i = 0; i < r->peer_count; i++)
            if (!r->peers[i].member) {
                r->peers[i] = r->peers[--r->peer_count];
                break;
            }
    assert(r->peer_count < RAFT_PEERS_MAX);
    peer = &r->peers[r->peer_count++];
    *peer = (struct raft_peer){.id = *id};
    raft_begin_replication(r, peer);
    return peer;
}

static const struct raft_member *listed(const struct raft_configuration *conf,
                                        const struct raft_id *id)
{
    for (uint8_t i = 0; i < conf->count; i++)
        if (raft_id_equal(&conf->members[i].id, id))
            return &conf->members[i];
    return NULL;
}

static void raft_adopt(struct raft *r, const struct raft_configuration *conf, uint64_t index)
{
    r->configuration = *conf;
    r->configuration_index = index;
    for (size_t i = 0; i < r->peer_count; i++)
        if (listed(conf, &r->peers[i].id) == NULL) {
            if (r->peers[i].member) {
                r->peers[i].member = r->peers[i].voter = false;
                r->peers[i].leave_us = r->now_us + 2 * r->config.election_us;
            }
        }
    for (uint8_t i = 0; i < conf->count; i++)
        if (!raft_is_self(r, &conf->members[i].id)) {
            struct raft_peer *peer = raft_peer(r, &conf->members[i].id);

            if (peer == NULL)
                peer = new_peer(r, &conf->members[i].id);
            else if (!peer->member)
                raft_begin_replication(r, peer);
            peer->member = true;
            peer->voter = conf->members[i].voter;
        }
}

void raft_adopt_entry(struct raft *r, uint64_t index)
{
    const struct raft_entry *entry = raft_log_entry(&r->log, index);
    struct raft_configuration conf;

    assert(entry != NULL && entry->kind == RAFT_CONFIGURATION);
    if (raft_wire_get_configuration(entry->bytes, entry->size, &conf))
        raft_adopt(r, &conf, index);
}

/* 4.1: a server that removes a configuration from its log falls back to the one before. */
void raft_restore_configuration(struct raft *r)
{
    for (uint64_t i = raft_log_last(&r->log); i > r->log.base_index; i--)
        if (raft_log_entry(&r->log, i)->kind == RAFT_CONFIGURATION) {
            raft_adopt_entry(r, i);
            return;
        }
    raft_adopt(r, &r->snapshot.configuration, r->snapshot.index);
}

/* ---- learners ---- */

/* 4.2.1: rounds; who took the last one within an election timeout has caught up. */
void raft_watch_learner(struct raft *r, struct raft_peer *peer)
{
    if (peer->voter || !peer->member || peer->match < peer->round_end)
        return;
    peer->caught_up = peer->round_end != 0 && r->now_us <= peer->round_us + r->config.election_us;
    peer->round_end = raft_log_last(&r->log);
    peer->round_us = r->now_us;
}

/* ---- changes ---- */

static void commit_to(struct raft *r, const struct raft_configuration *conf)
{
    uint8_t bytes[RAFT_CONFIGURATION_BYTES_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);

    raft_wire_put_configuration(&c, conf);
    r->lead.roll = 0;
    raft_append(r, RAFT_CONFIGURATION, bytes, (size_t)(c.at - bytes));
}

/* ---- the roll ---- */

static bool has_answered(struct raft *r, const struct raft_id *id)
{
    const struct raft_peer *peer = raft_peer(r, id);

    return raft_is_self(r, id) ||
           (peer != NULL && r->lead.roll != 0 && peer->read_round >= r->lead.roll);
}

static bool would_answer(struct raft *r, const struct raft_configuration *conf)
{
    size_t voters = 0, answering = 0;

    for (uint8_t i = 0; i < conf->count; i++) {
        voters += conf->members[i].voter;
        answering += conf->members[i].voter && has_answered(r, &conf->members[i].id);
    }
    return 2 * answering > voters;
}

static void add_learner(struct raft *r, const struct raft_id *id)
{
    struct raft_configuration conf = r->configuration;

    assert(conf.count < RAFT_MEMBERS_MAX);
    conf.members[conf.count++] = (struct raft_member){*id, false};
    raft_say(r, "raft: host %u learns", id->host);
    commit_to(r, &conf);
}

static void promote(struct raft *r, uint8_t i)
{
    struct raft_configuration conf = r->configuration;

    assert(i < conf.count && !conf.members[i].voter);
    conf.members[i].voter = true;
    if (!would_answer(r, &conf))
        return;
    raft_say(r, "raft: host %u votes", conf.members[i].id.host);
    commit_to(r, &conf);
}

static void remove_member(struct raft *r, uint8_t i)
{
    struct raft_configuration conf = r->configuration;
    uint32_t host = conf.members[i].id.host;

    assert(i < conf.count);
    conf.count--;
    memmove(&conf.members[i], &conf.members[i + 1], (conf.count - i) * sizeof conf.members[0]);
    if (!would_answer(r, &conf))
        return;
    raft_say(r, "raft: host %u is no member any more", host);
    commit_to(r, &conf);
}

/* ---- towards what is wanted ---- */

static bool is_wanted(const struct raft *r, const struct raft_id *id)
{
    for (size_t i = 0; i < r->lead.wanted_count; i++)
        if (raft_id_equal(&r->lead.wanted[i], id))
            return true;
    return false;
}

typedef bool member_test(struct raft *r, const struct raft_member *member);

/* The first member that passes, but for this one; count: none. */
static uint8_t find_member(struct raft *r, member_test *test)
{
    uint8_t i = 0;

    while (i < r->configuration.count && (raft_is_self(r, &r->configuration.members[i].id) ||
                                          !test(r, &r->configuration.members[i])))
        i++;
    return i;
}

static bool is_surplus(struct raft *r, const struct raft_member *member)
{
    return !is_wanted(r, &member->id);
}

/* The surplus member that did not answer the roll, or that has been silent for the longest: if it
 * has died, nothing is committed any more once those are gone that are merely not wanted. count:
 * none. */
static uint8_t find_surplus(struct raft *r)
{
    const uint8_t none = r->configuration.count;
    uint8_t best = none;
    uint64_t best_us = UINT64_MAX;
    bool best_answered = true;

    for (uint8_t i = 0; i < none; i++) {
        const struct raft_member *member = &r->configuration.members[i];
        const struct raft_peer *peer = raft_peer(r, &member->id);
        uint64_t heard_us = peer != NULL ? peer->heard_us : 0;
        bool answered = has_answered(r, &member->id);

        if (raft_is_self(r, &member->id) || !is_surplus(r, member) ||
            (best != none && (answered != best_answered ? answered : heard_us >= best_us)))
            continue;
        best = i;
        best_us = heard_us;
        best_answered = answered;
    }
    return best;
}

static bool is_dead_or_learner(struct raft *r, const struct raft_member *member)
{
    const struct raft_peer *peer = raft_peer(r, &member->id);
    bool silent = peer == NULL || r->now_us >= peer->heard_us + r->config.election_us;

    return is_surplus(r, member) && (!member->voter || silent);
}

static bool is_ready(struct raft *r, const struct raft_member *member)
{
    const struct raft_peer *peer = raft_peer(r, &member->id);

    return is_wanted(r, &member->id) && !member->voter && peer != NULL && peer->caught_up;
}

static size_t voter_count(const struct raft *r)
{
    size_t voters = 0;

    for (uint8_t i = 0; i < r->configuration.count; i++)
        voters += r->configuration.members[i].voter;
    return voters;
}

static const struct raft_id *missing(const struct raft *r)
{
    for (size_t i = 0; i < r->lead.wanted_count; i++)
        if (listed(&r->configuration, &r->lead.wanted[i]) == NULL)
            return &r->lead.wanted[i];
    return NULL;
}

static bool all_wanted_vote(const struct raft *r)
{
    for (size_t i = 0; i < r->lead.wanted_count; i++)
        if (!raft_is_voter(r, &r->lead.wanted[i]))
            return false;
    return true;
}

static void make_one_change(struct raft *r)
{
    const uint8_t none = r->configuration.count;
    uint8_t dead = find_member(r, is_dead_or_learner), ready = find_member(r, is_ready);
    uint8_t surplus = find_surplus(r);
    const struct raft_id *next = missing(r);

    if (dead != none)
        remove_member(r, dead);
    else if (next != NULL && none < RAFT_MEMBERS_MAX)
        add_learner(r, next);
    else if (ready != none && voter_count(r) < RAFT_VOTERS_MAX)
        promote(r, ready);
    else if (surplus != none && (ready != none || all_wanted_vote(r)))
        remove_member(r, surplus);
}

/* Where no more can vote than do, the leader itself must make room. */
static bool is_replaced(const struct raft *r)
{
    return all_wanted_vote(r) || voter_count(r) >= RAFT_VOTERS_MAX;
}

/* Whether it matters now who lives. */
static bool needs_roll(struct raft *r)
{
    const uint8_t none = r->configuration.count;
    bool ready = find_member(r, is_ready) != none;

    return ready || find_member(r, is_dead_or_learner) != none ||
           (find_surplus(r) != none && all_wanted_vote(r)) ||
           (!is_wanted(r, &r->config.self) && is_replaced(r));
}

/* 4.1, and the fault found in it in 2015: a leader changes members only after an entry of its own
 * term is committed; one change is committed before the next begins. */
static bool may_change(const struct raft *r)
{
    return r->role == RAFT_LEADER && r->lead.wanted_count > 0 && raft_leads(r) &&
           raft_is_settled(r) && !r->lead.transfer.active;
}

void raft_step_membership(struct raft *r)
{
    if (!may_change(r))
        return;
    if (needs_roll(r)) {
        /* An answer that is older than two heartbeats says nothing any more. */
        if (r->lead.roll == 0 || r->now_us >= r->lead.roll_us + 2 * r->config.heartbeat_us) {
            r->lead.roll = raft_read(r, r->now_us);
            r->lead.roll_us = r->now_us;
        }
    } else
        r->lead.roll = 0;
    make_one_change(r);
    if (raft_is_settled(r) && !is_wanted(r, &r->config.self) && is_replaced(r)) {
        /* 3.10, 4.2.2: a leader that is to go hands over first; the next one removes it. */
        const struct raft_peer *best = NULL;

        for (size_t i = 0; i < r->peer_count; i++) {
            const struct raft_peer *peer = &r->peers[i];

            if (peer->voter && is_wanted(r, &peer->id) && has_answered(r, &peer->id) &&
                (best == NULL || peer->match > best->match))
                best = peer;
        }
        if (best != NULL)
            raft_transfer(r, &best->id, r->now_us);
    }
}

int raft_want_voters(struct raft *r, const struct raft_id *voters, size_t count)
{
    if (count == 0 || count > RAFT_VOTERS_MAX)
        return -EINVAL;
    if (r->role != RAFT_LEADER)
        return -EPERM;
    memcpy(r->lead.wanted, voters, count * sizeof *voters);
    r->lead.wanted_count = count;
    return 0;
}
