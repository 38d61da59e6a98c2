/*
 * schedule.h - when each message of an all-to-all goes, so that no link is contended.
 *
 * Source: Faraj & Yuan, "Message Scheduling for All-to-All Personalized Communication on Ethernet
 * Switched Clusters". Terms are theirs: a message u -> v uses the directed edges of its only path;
 * the load of an edge is the number of messages that use it; a phase is a set of messages without
 * contention; a synchronisation lets one message end before another begins.
 *
 * Beyond the paper, links may differ in rate. Time is then counted in slots: what one message takes
 * on the slowest link in use. A phase lasts `slots` slots, and an edge carries in it as many
 * messages as its rate allows (its capacity), no more of which are ever under way together. The
 * last phase may be shorter: a phase ends when the link that needs longest for its messages has
 * carried them. The search accepts what takes at most 5 % more than the lower bound, the most of
 * load / rate over all links, and more only when it finds no such phases, of which no case is
 * known. With equal rates slots and all capacities are 1, and everything is as in the paper.
 */
#ifndef COVEY_PROTO_SCHEDULE_H
#define COVEY_PROTO_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/network/network.h"

struct schedule_message {
    uint32_t phase;
    uint16_t from, to; /* ranks */
};

/* Message `before` has arrived before message `after` starts (positions in messages). */
struct schedule_sync {
    uint32_t before, after;
};

struct schedule {
    int ranks;
    uint32_t phases;
    uint32_t slots; /* of a phase */
    uint32_t bound; /* no schedule with phases of this length has fewer: the bottleneck's load */
    size_t message_count, sync_count;
    struct schedule_message *messages; /* by phase, then sender, then receiver */
    struct schedule_sync *syncs;       /* by after, then before */
};

/* Makes the schedule of an all-to-all of all ranks of the network, with its synchronisations; seed
 * drives the search that unequal rates need. Returns 0, or -1 when memory is exhausted. */
int schedule_create(struct schedule *schedule, const struct network *network, uint64_t seed);

/* Frees what the schedule holds and empties it. */
void schedule_destroy(struct schedule *schedule);

#endif
