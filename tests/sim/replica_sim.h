/*
 * replica_sim.h - the agreed state (proto/state/state.h) on several replicas, and daemons whose
 * commands and events travel over a network that loses, doubles and reorders everything. There is
 * no time: a step does one thing that could happen now, drawn by the seed.
 *
 * The log is given: what reaches the leader is appended, whatever it is. Replicas apply it at
 * different paces; they crash, begin again with a snapshot that is some way back, and take turns at
 * leading once they have applied all there is. A daemon repeats what was not applied yet, and asks
 * for the events that it lacks.
 *
 * After every step: replicas that have applied equally much are equal, byte for byte; a daemon
 * takes each event of its session once and in order.
 */
#ifndef COVEY_TESTS_SIM_REPLICA_SIM_H
#define COVEY_TESTS_SIM_REPLICA_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/state/state.h"

#define REPLICA_SIM_HOSTS 8 /* indices 1 .. REPLICA_SIM_HOSTS - 1 */

struct replica_sim;

struct replica_sim_config {
    uint64_t seed;
    uint32_t loss_ppm, duplicate_ppm;
    void *context;
    state_event_fn *on_event; /* a daemon takes an event, for a task of it */
};

struct replica_sim *replica_sim_create(const struct replica_sim_config *config);
void replica_sim_destroy(struct replica_sim *sim);

/* A daemon begins a session; its earlier one has ended. */
void replica_sim_open(struct replica_sim *sim, uint32_t host);

/* The daemon stops without a word. */
void replica_sim_kill(struct replica_sim *sim, uint32_t host);

/* The VM declares the present session of the host gone, whether its daemon lives or not. */
void replica_sim_declare_gone(struct replica_sim *sim, uint32_t host);

/* A command of a daemon: of a task, or that it ended. */
void replica_sim_ask(struct replica_sim *sim, const struct command *command);

void replica_sim_step(struct replica_sim *sim);

/* No more losses from now on: steps until all is applied everywhere and taken. */
void replica_sim_settle(struct replica_sim *sim);

const struct state *replica_sim_state(const struct replica_sim *sim); /* of the leader */
uint64_t *replica_sim_random(struct replica_sim *sim);

/* The first breach, as text; NULL: none. replica_sim_fail() adds one. */
const char *replica_sim_failure(const struct replica_sim *sim);
__attribute__((format(printf, 2, 3))) void replica_sim_fail(struct replica_sim *sim,
                                                            const char *format, ...);

#endif
