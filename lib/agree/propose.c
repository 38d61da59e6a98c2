/*
 * propose.c - consensus. What it promises is described in proto/state/consensus.h.
 */
#include "lib/agree/service.h"
#include "lib/msg/error.h"
#include "proto/state/consensus.h"
#include "proto/wire/command.h"

_Static_assert(COVEY_DECISION_MAX == CONSENSUS_VALUE_MAX, "a value");

/* What became of a call. */
static int decided(struct service *s, int error, struct covey_decision *decision)
{
    if (error == COVEY_ENOENT)
        error_set(error, "decision %s: that number was decided and is forgotten", s->name);
    if (error != COVEY_OK)
        return error;
    struct covey_decision read = {.proposer = (covey_tid_t)cursor_get_u32(&s->answer)};
    size_t bytes = cursor_left(&s->answer);
    bool none = cursor_ok(&s->answer) && read.proposer == 0;
    if (bytes <= sizeof read.value)
        cursor_get_bytes(&s->answer, read.value, bytes);
    read.bytes = (int32_t)bytes;
    error = service_done(s);
    if (none)
        return error_set(COVEY_ETIMEOUT, "decision: there is none yet");
    if (error == COVEY_OK)
        *decision = read;
    return error;
}

int covey_propose(covey_t *vm, const char *series, uint64_t number, int64_t timeout_us,
                  struct covey_decision *decision)
{
    struct service s;

    if (service_open(&s, vm, COMMAND_CONSENSUS_PROPOSE, "decision", series) != COVEY_OK)
        return COVEY_EINVAL;
    if (decision == NULL || decision->bytes < 0 || decision->bytes > COVEY_DECISION_MAX)
        return error_set(COVEY_EINVAL, "decision %s: a value has 0 .. %d bytes", series,
                         COVEY_DECISION_MAX);
    cursor_put_u64(&s.body, number);
    cursor_put_bytes(&s.body, decision->value, (size_t)decision->bytes);
    return decided(&s, service_call(&s, timeout_us), decision);
}

int covey_learn(covey_t *vm, const char *series, uint64_t number, int64_t timeout_us,
                struct covey_decision *decision)
{
    struct service s;
    bool waits = timeout_us != COVEY_POLL;

    if (service_open(&s, vm, waits ? COMMAND_CONSENSUS_LEARN : COMMAND_CONSENSUS_LOOK, "decision",
                     series) != COVEY_OK)
        return COVEY_EINVAL;
    if (decision == NULL)
        return error_set(COVEY_EINVAL, "decision %s: NULL", series);
    cursor_put_u64(&s.body, number);
    return decided(&s, waits ? service_call(&s, timeout_us) : service_ask(&s), decision);
}

int covey_forget(covey_t *vm, const char *series, uint64_t below)
{
    struct service s;

    if (service_open(&s, vm, COMMAND_CONSENSUS_FORGET, "decision", series) != COVEY_OK)
        return COVEY_EINVAL;
    cursor_put_u64(&s.body, below);
    return service_order(&s, COVEY_POLL);
}
