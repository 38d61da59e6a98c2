/*
 * propose.c - consensus. What it promises is described in proto/state/consensus.h.
 */
#include "lib/agree/service.h"
#include "lib/msg/error.h"
#include "proto/state/consensus.h"
#include "proto/wire/command.h"

#include <stdlib.h>

_Static_assert(COVEY_DECISION_MAX == CONSENSUS_VALUE_MAX, "a value");

static int begin(struct service *s, covey_t *vm, uint8_t kind, const char *series)
{
    if (service_name_check(vm, "decision", series) != COVEY_OK)
        return COVEY_EINVAL;
    service_begin(s, vm, kind, "decision", series);
    return COVEY_OK;
}

static int decision_read(const uint8_t *content, size_t size, struct covey_decision *decision)
{
    struct cursor c = cursor_reader(content, size);
    uint32_t proposer = cursor_get_u32(&c);
    size_t bytes = cursor_left(&c);

    if (cursor_ok(&c) && proposer == 0)
        return error_set(COVEY_ETIMEOUT, "decision: there is none yet");
    if (!cursor_ok(&c) || bytes > COVEY_DECISION_MAX)
        return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    decision->proposer = (covey_tid_t)proposer;
    decision->bytes = (int32_t)bytes;
    cursor_get_bytes(&c, decision->value, bytes);
    return COVEY_OK;
}

/* What became of a call. */
static int decided(int error, uint8_t *content, size_t size, const char *series,
                   struct covey_decision *decision)
{
    if (error == COVEY_OK)
        error = decision_read(content, size, decision);
    else if (error == COVEY_ENOENT)
        error_set(error, "decision %s: that number was decided and is forgotten", series);
    free(content);
    return error;
}

int covey_propose(covey_t *vm, const char *series, uint64_t number, int64_t timeout_us,
                  struct covey_decision *decision)
{
    struct service s;
    uint8_t *content = NULL;
    size_t size = 0;

    if (begin(&s, vm, COMMAND_CONSENSUS_PROPOSE, series) != COVEY_OK)
        return COVEY_EINVAL;
    if (decision == NULL || decision->bytes < 0 || decision->bytes > COVEY_DECISION_MAX)
        return error_set(COVEY_EINVAL, "decision %s: a value has 0 .. %d bytes", series,
                         COVEY_DECISION_MAX);
    cursor_put_u64(&s.body, number);
    cursor_put_bytes(&s.body, decision->value, (size_t)decision->bytes);
    int error = service_call(&s, timeout_us, &content, &size);
    return decided(error, content, size, series, decision);
}

int covey_learn(covey_t *vm, const char *series, uint64_t number, int64_t timeout_us,
                struct covey_decision *decision)
{
    struct service s;
    uint8_t *content = NULL;
    size_t size = 0;
    bool waits = timeout_us != COVEY_POLL;

    if (begin(&s, vm, waits ? COMMAND_CONSENSUS_LEARN : COMMAND_CONSENSUS_LOOK, series) != COVEY_OK)
        return COVEY_EINVAL;
    if (decision == NULL)
        return error_set(COVEY_EINVAL, "decision %s: NULL", series);
    cursor_put_u64(&s.body, number);
    int error =
        waits ? service_call(&s, timeout_us, &content, &size) : service_ask(&s, &content, &size);
    return decided(error, content, size, series, decision);
}

int covey_forget(covey_t *vm, const char *series, uint64_t below)
{
    struct service s;

    if (begin(&s, vm, COMMAND_CONSENSUS_FORGET, series) != COVEY_OK)
        return COVEY_EINVAL;
    cursor_put_u64(&s.body, below);
    return service_call(&s, COVEY_POLL, NULL, NULL);
}
