/*
 * raft_read.c - answering from what was applied here, without the log (6.4). A leader that was cut
 * off does not know that another one leads. So before it answers it makes sure: it asks the others
 * in a round whose number is later than the question; a majority that answers in this term elected
 * nobody else before it was asked. This needs no clock, and takes one exchange of small messages
 * for all questions that came since the last.
 *
 * What another leader answered before the question was asked is applied here by then: it was
 * committed in an earlier term, and those are applied before raft_leads().
 */
#include "proto/raft/raft_state.h"

static uint64_t confirmed(const struct raft *r)
{
    uint64_t rounds[RAFT_MEMBERS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < r->peer_count; i++)
        if (r->peers[i].voter)
            rounds[count++] = r->peers[i].read_round;
    if (raft_self_is_voter(r))
        rounds[count++] = r->lead.read_round;
    return raft_quorum_value(rounds, count);
}

uint64_t raft_read(struct raft *r, uint64_t now_us)
{
    r->now_us = now_us;
    if (!raft_leads(r))
        return 0;
    r->lead.read_due_us = now_us;
    return ++r->lead.read_round;
}

bool raft_read_ok(const struct raft *r, uint64_t number)
{
    return raft_leads(r) && number <= confirmed(r);
}

/* A change of the members wants to know of all of them whether they live. */
static bool roll_is_open(const struct raft *r)
{
    for (size_t i = 0; i < r->peer_count; i++)
        if (r->peers[i].member && r->peers[i].read_round < r->lead.roll)
            return true;
    return false;
}

static bool is_asking(const struct raft *r)
{
    return r->role == RAFT_LEADER && (confirmed(r) < r->lead.read_round || roll_is_open(r));
}

/* Asks all members, again and again while too few answer. */
void raft_step_read(struct raft *r)
{
    if (!is_asking(r) || r->now_us < r->lead.read_due_us)
        return;
    for (size_t i = 0; i < r->peer_count; i++) {
        struct raft_message m = raft_message_to(r, RAFT_READ, &r->peers[i].id);

        m.round = r->lead.read_round;
        if (r->peers[i].member && r->peers[i].read_round < r->lead.read_round)
            raft_send(r, &m);
    }
    r->lead.read_due_us = r->now_us + r->config.heartbeat_us;
}

uint64_t raft_read_deadline(const struct raft *r)
{
    return is_asking(r) ? r->lead.read_due_us : UINT64_MAX;
}

void raft_on_read(struct raft *r, const struct raft_message *m)
{
    struct raft_message reply = raft_message_to(r, RAFT_READ_REPLY, &m->from);

    if (r->role == RAFT_LEADER)
        return; /* there is one leader a term: 3.6.3 */
    raft_follow(r, &m->from);
    reply.round = m->round;
    raft_send(r, &reply);
}

void raft_on_read_reply(struct raft *r, const struct raft_message *m)
{
    struct raft_peer *peer = raft_peer(r, &m->from);

    if (r->role != RAFT_LEADER || peer == NULL)
        return;
    peer->heard_us = r->now_us;
    if (m->round > peer->read_round && m->round <= r->lead.read_round)
        peer->read_round = m->round;
}
