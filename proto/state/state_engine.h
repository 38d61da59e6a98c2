/*
 * state_engine.h - what the parts of the state (lock.c, token.c, ...) are to state.c, and what it
 * does for them. An engine has no clock, no randomness and no order that depends on addresses.
 *
 * To add one: the rows of its kinds in COMMAND_KINDS, each with who may want it and what it does to
 * a state that is full; one row in STATE_ENGINES; and a file with its struct state_engine. Nothing
 * else knows it by name.
 */
#ifndef COVEY_PROTO_STATE_ENGINE_H
#define COVEY_PROTO_STATE_ENGINE_H

#include "proto/state/state.h"
#include "proto/wire/frame.h"

/* X(NAME, struct state_engine); their order is that of consequences and of the saved state. */
#define STATE_ENGINES(X)                                                                           \
    X(GROUP, group_engine)                                                                         \
    X(LOCK, lock_engine)                                                                           \
    X(TOKEN, token_engine)                                                                         \
    X(RENDEZVOUS, rendezvous_engine)                                                               \
    X(VIEW, view_engine)                                                                           \
    X(LEADER, leader_engine)                                                                       \
    X(CONSENSUS, consensus_engine)                                                                 \
    X(BAG, bag_engine)

/* What ended: a task, or a host with all its tasks (task: 0). */
struct state_gone {
    uint32_t task, host;
};

static inline bool state_is_gone(const struct state_gone *gone, uint32_t task)
{
    return gone->task != 0 ? task == gone->task : tid_host(task) == gone->host;
}

struct state_request {
    uint8_t kind;
    uint32_t task, request;
    uint32_t host; /* whose daemon it came from */
};

struct state_engine {
    void *(*create)(struct state *state); /* NULL: no memory */
    void (*destroy)(void *engine);
    /* Carries out a command and answers it now or later, once. false: its body makes no sense, and
     * nothing was changed or answered. */
    bool (*apply)(void *engine, const struct state_request *request, struct cursor *body);
    /* Answers a question: writes to out, returns the status. NULL: it knows none. */
    int32_t (*query)(const void *engine, const struct state_request *request, struct cursor *body,
                     struct cursor *out);
    /* The task gives up what that request waits for, which is answered ERROR_ECANCELED, and gives
     * back what it was given. */
    void (*cancel)(void *engine, uint32_t task, uint32_t request);
    /* What they held is free, what they waited for is not answered. */
    void (*gone)(void *engine, const struct state_gone *gone);
    void (*save)(const void *engine, struct cursor *c);
    bool (*load)(void *engine, struct cursor *c); /* into a new one; false: makes no sense */
};

#define ENGINE_DECLARE(name, engine) extern const struct state_engine engine;
STATE_ENGINES(ENGINE_DECLARE)
#undef ENGINE_DECLARE

/* ---- for engines ---- */

/* Answers a request; body may be NULL. */
void state_answer(struct state *state, const struct state_request *to, int32_t status,
                  const uint8_t *body, size_t size);
/* Tells a task something that it did not ask for, under a number that the engine's header gives. */
void state_notice(struct state *state, uint32_t task, uint32_t about, const uint8_t *body,
                  size_t size);

/* A number that is larger than every one before it: of each grant in the VM. */
uint64_t state_fence(struct state *state);
uint64_t
state_base(const struct state *state); /* what an engine counts by itself begins above it */

/* Whether the task's host has an open session: what it is told will reach its daemon, which says
 * so (TASK_GONE) when there is no such task. */
bool state_reaches(const struct state *state, uint32_t task);
/* The same of a host's daemon itself. */
bool state_reaches_host(const struct state *state, uint32_t host);

/* Memory was exhausted in the middle of a command: the replica is given up (STATE_BROKEN). */
void state_exhausted(struct state *state);

#endif
