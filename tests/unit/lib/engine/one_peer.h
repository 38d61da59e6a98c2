/*
 * one_peer.h - a task of the library with one peer, over a link that a test makes up: no daemon, no
 * descriptors of the link's, no other thread.
 */
#ifndef COVEY_TESTS_UNIT_ONE_PEER_H
#define COVEY_TESTS_UNIT_ONE_PEER_H

#include "lib/engine/conn.h"
#include "lib/engine/peer.h"
#include "lib/member/vm.h"

struct one_peer {
    struct covey *vm;
    struct task_page page;
    struct peer *peer;
    struct conn *conn;
};

/* The link is the test's; it is not ready yet (conn_ready_now()). */
void one_peer_begin(struct one_peer *t, uint32_t tid, uint32_t peer, struct link *link, int route);
void one_peer_end(struct one_peer *t);

/* Of a link's operations: no descriptor, nothing to arm, nothing to free. */
int one_peer_no_fd(const struct link *link, bool *write_wanted);
bool one_peer_no_arm(struct link *link);
void one_peer_no_free(struct link *link);
extern const struct link_ops one_peer_no_ops; /* these, of a link that never has anything */

#endif
