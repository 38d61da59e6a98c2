/*
 * raft_sim.h - a group of engines of proto/raft/raft.h under one virtual clock and one seed, on a
 * network that loses, doubles, delays and so reorders, and that can be cut. The simulator is the
 * owner of every engine: its state is a hash over all commands applied. After every step it checks
 * what Raft promises (figure 3 of the paper):
 *
 *   - election safety: no term has two leaders;
 *   - log matching: two logs that have an entry of the same index and term are alike before it;
 *   - leader completeness: a leader has all entries that were committed in earlier terms;
 *   - reads without the log: who answers a question has applied all that anyone had when it came;
 *   - state machine safety: nobody applies another command at an index, or in another order,
 *     also through snapshots;
 *
 * and that memory stays bounded. A life is one start of a daemon: who crashed never comes back.
 */
#ifndef COVEY_TESTS_SIM_RAFT_SIM_H
#define COVEY_TESTS_SIM_RAFT_SIM_H

#include "proto/raft/raft.h"

#define RAFT_SIM_LIVES_MAX 48
#define RAFT_SIM_SECOND 1000000u

struct raft_sim_config {
    uint64_t seed;
    double loss, duplication;
    uint64_t delay_us, jitter_us;
    size_t log_bytes;
    size_t command_bytes; /* the largest command */
    bool trace;           /* print every line of every engine's log */
};

struct raft_life {
    struct raft_sim *sim;
    struct raft *raft; /* NULL: dead, or not born */
    struct raft_id id;
    unsigned side; /* of a cut: only lives of one side hear each other */
    uint64_t deaf; /* to these lives, by bits */
    uint64_t deadline_us, stopped_until_us;
    /* its state */
    uint64_t applied, hash, commands;
    uint64_t leads_term;               /* told so by leader() */
    uint64_t question, question_needs; /* raft_read()'s number, 0: none; the index to be applied */
};

struct raft_sim;

struct raft_sim *raft_sim_create(const struct raft_sim_config *config);
void raft_sim_destroy(struct raft_sim *sim);
const char *raft_sim_failure(const struct raft_sim *sim);
void raft_sim_fail(struct raft_sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

uint64_t raft_sim_now(const struct raft_sim *sim);
uint64_t raft_sim_random(struct raft_sim *sim, uint64_t below);
/* The network from now on. */
void raft_sim_set_loss(struct raft_sim *sim, double loss, double duplication);

/* A new life, the first of which makes the group; NULL: there were too many. Lives are numbered
 * from 0 in the order of their births. */
struct raft_life *raft_sim_birth(struct raft_sim *sim);
void raft_sim_crash(struct raft_sim *sim, struct raft_life *life);
void raft_sim_stop(struct raft_sim *sim, struct raft_life *life, uint64_t duration_us);
void raft_sim_heal(struct raft_sim *sim);
struct raft_life *raft_sim_life(struct raft_sim *sim, size_t i); /* NULL: not born, or dead */
size_t raft_sim_births(const struct raft_sim *sim);
/* The life that leads in the latest term; NULL: none. */
struct raft_life *raft_sim_leader(struct raft_sim *sim);
/* Whether a majority of the voters that anyone knows of would live without that life (NULL: as it
 * is). */
bool raft_sim_can_spare(struct raft_sim *sim, const struct raft_life *life);

/* Proposes a new command at a life; its index, or what raft_propose() refused with. */
int64_t raft_sim_propose(struct raft_sim *sim, struct raft_life *life);
/* Asks a life that leads, or thinks so, a question, unless it has one. */
void raft_sim_ask(struct raft_sim *sim, struct raft_life *life);
/* A function of its engine was called from outside: it is stepped at once. */
void raft_sim_touch(struct raft_sim *sim, struct raft_life *life);
/* Lets time pass, until the first failure. */
void raft_sim_run(struct raft_sim *sim, uint64_t duration_us);

/* What happened, for tests that want it to have happened. */
struct raft_sim_count {
    uint64_t steps, elections, snapshots_loaded, applied, commits, answers;
    uint64_t lost; /* groups; left to the test */
};
struct raft_sim_count raft_sim_count(const struct raft_sim *sim);

#endif
