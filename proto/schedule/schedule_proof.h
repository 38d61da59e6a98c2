/*
 * schedule_proof.h - proves a schedule of an all-to-all, or says what is wrong with it.
 *
 * Independent of how schedules are made: it reads the network's tree and the schedule and shares no
 * code with what makes them.
 */
#ifndef COVEY_PROTO_SCHEDULE_PROOF_H
#define COVEY_PROTO_SCHEDULE_PROOF_H

#include "proto/schedule/schedule.h"

#define SCHEDULE_PROOF_BYTES 160

/* Whether
 *   - every ordered pair of ranks has one message, in a phase that exists, in the order of phases;
 *   - in no phase an edge has more messages than its rate carries;
 *   - the bound is what it says, and reached where all links in use have one rate;
 *   - synchronisations, with the order that each sender keeps by itself, let no more messages be
 * under way on an edge than it carries: with equal rates every two that share an edge are ordered;
 *   - no synchronisation is implied by the others, and none orders messages that share no edge.
 * Returns 0 when all holds, 1 with the first flaw in why, -1 when memory is exhausted. */
int schedule_proof(const struct schedule *schedule, const struct network *network,
                   char why[SCHEDULE_PROOF_BYTES]);

#endif
