/*
 * crowd.h - tasks on hosts that use the services of the VM through their daemons
 * (proto/state/client.h) over a bad network, with voters that change (voters.h). Tasks and hosts
 * die and come back. What each task believes to hold is compared with what all others believe,
 * after every step.
 */
#ifndef COVEY_TESTS_SIM_CROWD_H
#define COVEY_TESTS_SIM_CROWD_H

#include "tests/sim/network.h"
#include "tests/sim/voters.h"

struct crowd_config {
    uint64_t seed;
    uint32_t hosts, tasks; /* tasks a host */
    uint32_t loss_ppm, duplicate_ppm, reorder_ppm;
    uint32_t task_death_ppm, host_death_ppm, depose_ppm, crash_ppm; /* per tick */
    bool tokens_only;         /* all want one token, and nothing else */
    uint32_t kill_holder_ppm; /* per tick: whoever has the token dies */
    bool trace;
};

struct crowd_stats {
    uint64_t passes, grants, meetings, barriers, timeouts, task_deaths, host_deaths, deposed;
};

struct crowd;

struct crowd *crowd_create(const struct crowd_config *config);
void crowd_destroy(struct crowd *crowd);

/* A tick of 1 ms; false: a promise was broken. */
bool crowd_tick(struct crowd *crowd);

/* Nothing fails any more and nobody begins anything: true when all that waited was answered, within
 * a while, and nothing is held. */
bool crowd_calm(struct crowd *crowd);

const struct crowd_stats *crowd_stats(const struct crowd *crowd);
const char *crowd_failure(const struct crowd *crowd);

#endif
