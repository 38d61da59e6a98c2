/*
 * agreement.h - this daemon's copy of the state that the VM agrees on (proto/state/state.h), and
 * what it does as the leader. services.h is the side of those who want something.
 */
#ifndef COVEY_DAEMON_AGREEMENT_H
#define COVEY_DAEMON_AGREEMENT_H

#include "daemon/post/post.h"
#include "proto/state/consensus.h"
#include "proto/wire/command.h"

/* The host whose daemon takes commands and questions now; 0: none is known. */
uint32_t agreement_leader(const struct daemon *d);
/* Another generation has nothing of what was agreed before. */
uint64_t agreement_generation(const struct daemon *d);

/* What the node asks of this daemon as a voter: see node.h. */
void agreement_apply(struct daemon *d, uint64_t index, const uint8_t *bytes, size_t size);
bool agreement_save(struct daemon *d, uint8_t **bytes, size_t *size);
bool agreement_load(struct daemon *d, const uint8_t *bytes, size_t size);
void agreement_reset(struct daemon *d);

part_handler agreement_on_resend; /* of a daemon: events did not arrive */

/* What daemons propose and ask by frames, for this daemon itself, while it leads; otherwise nothing
 * happens. */
void agreement_propose(struct daemon *d, const struct command *command);
struct question {
    uint32_t task, request;
    uint8_t kind;
    struct cursor body;
};
void agreement_ask(struct daemon *d, struct question *question);

/* The value that was decided for a number of a series, as far as this daemon knows, if it leads:
 * how many bytes, or -1. */
int agreement_decision(const struct daemon *d, const char *series, uint64_t number,
                       uint8_t value[CONSENSUS_VALUE_MAX]);

/* The first session of a host in that life of its daemon. */
uint64_t agreement_session_first(uint64_t incarnation);

#endif
