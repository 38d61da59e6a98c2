/*
 * team_topology.h - which topology a team's messages pass, and its schedule.
 */
#ifndef COVEY_LIB_TEAM_TOPOLOGY_H
#define COVEY_LIB_TEAM_TOPOLOGY_H

#include "lib/collective/collective.h"
#include "proto/schedule/pace.h"

/* What a team has of its topology, in team->extra. */
struct team_topology {
    covey_topology_t *topology;
    int32_t *hosts;             /* by rank: its host, a node of the topology */
    bool one_medium;            /* which share a segment, all of them */
    covey_schedule_t *schedule; /* NULL: not made yet */
    struct pace_plan plan;
    uint64_t rate; /* bytes of messages a second by the link of this rank's host; 0: unknown */
    double made_s; /* seconds that the schedule took to make */
};

/* For the first member: the topology that is to be the team's ($COVEY_TOPOLOGY, or the VM's), with
 * its members' places in it; none is no error. *one_medium: it says that all of them share a
 * segment, where nothing is scheduled. */
int team_topology_find(struct covey_team *team, bool *one_medium);
/* For all, when they know whether the first one has a topology: the others get it. */
int team_topology_share(struct covey_team *team, bool there, bool blind);
/* What the first member says of itself, and all go by: see pace.h. */
bool team_is_blind(const struct covey_team *team);

/* Bytes of messages a second that the host's link carries; 0: the file gives it no rate. */
uint64_t topology_payload_rate(const covey_topology_t *topology, int host);

/* The schedule, made when it is first asked for; NULL: an error that is set. */
const struct team_topology *team_schedule(struct covey_team *team);

#endif
