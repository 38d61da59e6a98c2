/*
 * raft_election.c - who leads: election timeouts, pre-vote, votes, and the leader that steps down
 * when it does not hear a majority.
 */
#include "proto/raft/raft_state.h"

#include <assert.h>

/* 3.4: randomized, so that split votes are rare. */
void raft_arm_election(struct raft *r)
{
    uint64_t spread = r->config.election_us / 2 + 1;

    r->election_us = r->now_us + r->config.election_us + raft_random(r) % spread;
}

/* 4.2.3: "if a server receives a RequestVote request within the minimum election timeout of
 * hearing from a current leader, it does not update its term or grant its vote"; a leader hears
 * itself for as long as it hears a quorum. */
bool raft_is_sticky(const struct raft *r)
{
    return r->role == RAFT_LEADER ||
           (r->has_leader && r->now_us < r->heard_leader_us + r->config.election_us);
}

/* ---- standing ---- */

static void ask_for_votes(struct raft *r, uint64_t term, uint8_t flags)
{
    for (size_t i = 0; i < r->peer_count; i++) {
        struct raft_peer *peer = &r->peers[i];
        struct raft_message m = raft_message_to(r, RAFT_VOTE, &peer->id);

        peer->granted = false;
        m.flags = flags;
        m.vote = (struct raft_vote){term, raft_log_last(&r->log),
                                    raft_log_term(&r->log, raft_log_last(&r->log))};
        if (peer->voter)
            raft_send(r, &m);
    }
}

static bool has_majority(const struct raft *r)
{
    size_t granted = raft_self_is_voter(r);

    for (size_t i = 0; i < r->peer_count; i++)
        granted += r->peers[i].voter && r->peers[i].granted;
    return granted >= raft_majority(r);
}

/* 3.4; and 6.4: the no-op brings out what is committed of earlier terms */
static void candidate_lead(struct raft *r)
{
    assert(r->role == RAFT_CANDIDATE && r->has_voted);
    r->role = RAFT_LEADER;
    r->has_leader = true;
    r->leader = r->config.self;
    r->election_us = UINT64_MAX;
    raft_say(r, "raft: leads from term %llu on", (unsigned long long)r->term);
    for (size_t i = 0; i < r->peer_count; i++)
        raft_begin_replication(r, &r->peers[i]);
    r->lead.lead_index = raft_log_last(&r->log) + 1;
    if (!raft_append(r, RAFT_NOOP, NULL, 0))
        raft_become_follower(r, r->term); /* no memory */
}

/* Only a broken member brings the last term about, behind which there is none to stand for. */
bool raft_may_stand(const struct raft *r)
{
    return raft_self_is_voter(r) && r->term < RAFT_NUMBER_MAX;
}

/* Figure 2, candidates: a new term, the own vote, requests to all. */
void raft_campaign(struct raft *r, uint8_t flags)
{
    assert(r->role != RAFT_LEADER);
    r->term++;
    r->role = RAFT_CANDIDATE;
    r->has_leader = false;
    r->has_voted = true;
    r->voted_for = r->config.self;
    raft_arm_election(r);
    ask_for_votes(r, r->term, flags);
    if (has_majority(r))
        candidate_lead(r);
}

void raft_on_vote_reply(struct raft *r, const struct raft_message *m)
{
    struct raft_peer *peer = raft_peer(r, &m->from);
    bool pre = m->flags & RAFT_PRE;

    if (peer == NULL || !(m->flags & RAFT_YES) || m->asked != r->term + pre ||
        r->role != (pre ? RAFT_PRE_CANDIDATE : RAFT_CANDIDATE))
        return;
    peer->granted = true;
    if (!has_majority(r))
        return;
    if (pre)
        raft_campaign(r, 0);
    else
        candidate_lead(r);
}

/* ---- voting ---- */

/* 3.6.1: compares the last entries. */
static bool is_up_to_date(const struct raft *r, const struct raft_vote *vote)
{
    uint64_t last = raft_log_last(&r->log), last_term = raft_log_term(&r->log, last);

    return vote->last_term > last_term ||
           (vote->last_term == last_term && vote->last_index >= last);
}

/* 3.4: one vote a term, first come first served. Whether this server, or the candidate, is in the
 * configuration here does not matter (4.2.2): it may be behind. */
static bool give_vote(struct raft *r, const struct raft_message *m)
{
    if (m->vote.term != r->term || (r->has_voted && !raft_id_equal(&r->voted_for, &m->from)) ||
        !is_up_to_date(r, &m->vote))
        return false;
    r->has_voted = true;
    r->voted_for = m->from;
    raft_arm_election(r);
    return true;
}

void raft_on_vote(struct raft *r, const struct raft_message *m)
{
    struct raft_message reply = raft_message_to(r, RAFT_VOTE_REPLY, &m->from);
    bool pre = m->flags & RAFT_PRE;

    reply.asked = m->vote.term;
    reply.flags = pre ? RAFT_PRE : 0;
    /* 9.6: the answer to a pre-vote is neither a vote nor a promise */
    if (pre ? m->vote.term > r->term && is_up_to_date(r, &m->vote) : give_vote(r, m))
        reply.flags |= RAFT_YES;
    raft_send(r, &reply);
}

/* ---- time ---- */

static uint64_t quorum_end_us(const struct raft *r)
{
    /* 6.2: when a majority, this one included, was last heard of. */
    uint64_t heard[RAFT_MEMBERS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < r->peer_count; i++)
        if (r->peers[i].voter)
            heard[count++] = r->peers[i].heard_us;
    if (raft_self_is_voter(r))
        heard[count++] = UINT64_MAX;
    uint64_t heard_us = raft_quorum_value(heard, count);

    return heard_us == UINT64_MAX ? UINT64_MAX : heard_us + r->config.quorum_us;
}

void raft_step_election(struct raft *r)
{
    if (r->role == RAFT_LEADER) {
        if (r->now_us >= quorum_end_us(r)) {
            raft_say(r, "raft: hears no majority of the voters");
            raft_become_follower(r, r->term);
        }
    } else if (r->now_us >= r->election_us) {
        r->has_leader = false;
        if (raft_may_stand(r)) {
            /* 9.6: who would not win does not disturb the others by a new term. */
            r->role = RAFT_PRE_CANDIDATE;
            r->has_leader = false;
            raft_arm_election(r);
            ask_for_votes(r, r->term + 1, RAFT_PRE);
            if (has_majority(r))
                raft_campaign(r, 0);
        } else
            r->election_us = UINT64_MAX; /* whoever makes it a voter is heard, which arms it */
    }
}

uint64_t raft_election_deadline(const struct raft *r)
{
    return r->role == RAFT_LEADER ? quorum_end_us(r) : r->election_us;
}
