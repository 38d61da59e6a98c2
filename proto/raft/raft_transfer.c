/*
 * raft_transfer.c - handing leadership over (3.10): the leader takes no more commands, brings the
 * target's log up to date, and tells it to stand at once; if that does not succeed within an
 * election timeout, it goes on as before.
 */
#include <errno.h>

#include "proto/raft/raft_state.h"

int raft_transfer(struct raft *r, const struct raft_id *to, uint64_t now_us)
{
    const struct raft_peer *peer = raft_peer(r, to);

    r->now_us = now_us;
    if (!raft_leads(r))
        return -EPERM;
    if (r->lead.transfer.active)
        return -EALREADY;
    if (peer == NULL || !peer->voter)
        return -ENOENT;
    if (now_us > peer->heard_us + 3 * r->config.heartbeat_us)
        return -EHOSTUNREACH;
    r->lead.transfer =
        (struct raft_transfer){.active = true, .to = *to, .end_us = now_us + r->config.election_us};
    raft_say(r, "raft: hands over to host %u", to->host);
    return 0;
}

void raft_step_transfer(struct raft *r)
{
    struct raft_transfer *t = &r->lead.transfer;
    const struct raft_peer *peer;

    if (!t->active || r->role != RAFT_LEADER)
        return;
    peer = raft_peer(r, &t->to);
    if (peer == NULL || !peer->voter || r->now_us >= t->end_us) {
        t->active = false;
        return;
    }
    if (!t->told && peer->match == raft_log_last(&r->log)) {
        struct raft_message m = raft_message_to(r, RAFT_TIMEOUT_NOW, &t->to);

        raft_send(r, &m);
        t->told = true;
    }
}

/* 3.10: no pre-vote, and the others are to vote though they hear a leader. */
void raft_on_timeout_now(struct raft *r, const struct raft_message *m)
{
    if (r->role == RAFT_FOLLOWER && r->has_leader && raft_id_equal(&r->leader, &m->from) &&
        raft_may_stand(r))
        raft_campaign(r, RAFT_TRANSFER);
}
