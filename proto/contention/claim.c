/*
 * claim.c - a sender's claim to the domains on its way to one receiver; see contention.h.
 *
 *   none    --want: ask--> asked
 *   asked   --granted--> held, --free--> none, --nothing heard for long--> passing
 *   asked   --some time: ask again--> asked
 *   held    --quantum or time used up, or nothing moves: end--> none
 *   passing --quantum or time used up--> none
 */
#include "proto/contention/contention.h"
#include "proto/wire/deadline.h"

#include <assert.h>

enum claim_act claim_want(struct claim *claim, uint32_t number, uint64_t now_us)
{
    if (claim->state != CLAIM_NONE)
        return CLAIM_REST;
    *claim = (struct claim){
        .state = CLAIM_ASKED, .number = number, .asked_us = now_us, .heard_us = now_us};
    return CLAIM_ASK;
}

static void claim_begin(struct claim *claim, enum claim_state state, uint32_t bytes,
                        uint64_t now_us)
{
    assert(state == CLAIM_HELD || state == CLAIM_PASSING);
    claim->state = state;
    claim->left_bytes = bytes;
    claim->since_us = claim->moved_us = now_us;
}

enum claim_act claim_on_answer(struct claim *claim, const struct contention_answer *answer,
                               uint64_t now_us)
{
    bool granted = answer->verdict == CONTENTION_GRANTED;
    if (answer->number != claim->number || claim->state != CLAIM_ASKED)
        return granted && (answer->number != claim->number || claim->state != CLAIM_HELD)
                   ? CLAIM_END
                   : CLAIM_REST;
    claim->heard_us = now_us;
    if (answer->verdict == CONTENTION_FREE || answer->verdict == CONTENTION_STAGGERED)
        claim->state = CLAIM_NONE;
    if (!granted)
        return CLAIM_REST;
    claim->expires_us = answer->asked_us + CONTENTION_LEASE_US;
    if (now_us >= claim->expires_us || answer->asked_us > now_us) {
        claim->state = CLAIM_NONE; /* on its way for too long */
        return CLAIM_END;
    }
    claim_begin(claim, CLAIM_HELD, answer->quantum_bytes, now_us);
    return CLAIM_REST;
}

bool claim_may_send(const struct claim *claim, uint64_t now_us)
{
    if (claim->left_bytes == 0)
        return false;
    return claim->state == CLAIM_PASSING ||
           (claim->state == CLAIM_HELD && now_us < claim->expires_us);
}

void claim_sent(struct claim *claim, uint64_t bytes, uint64_t now_us)
{
    claim->left_bytes -= bytes < claim->left_bytes ? bytes : claim->left_bytes;
    claim->moved_us = now_us;
}

enum claim_act claim_drop(struct claim *claim)
{
    bool known = claim->state == CLAIM_ASKED || claim->state == CLAIM_HELD;
    claim->state = CLAIM_NONE;
    return known ? CLAIM_END : CLAIM_REST;
}

static uint64_t ends_us(const struct claim *claim)
{
    assert(claim->state == CLAIM_HELD || claim->state == CLAIM_PASSING);
    uint64_t at_us =
        earlier(claim->since_us + CONTENTION_HOLD_US, claim->moved_us + CONTENTION_STALL_US);
    return claim->state == CLAIM_HELD ? earlier(at_us, claim->expires_us) : at_us;
}

static enum claim_act step_asked(struct claim *claim, uint32_t quantum_bytes, uint64_t now_us)
{
    if (now_us >= claim->heard_us + CONTENTION_PATIENCE_US) {
        claim_begin(claim, CLAIM_PASSING, quantum_bytes, now_us);
        return CLAIM_REST;
    }
    if (now_us < claim->asked_us + CONTENTION_AGAIN_US)
        return CLAIM_REST;
    claim->asked_us = now_us;
    return CLAIM_ASK;
}

enum claim_act claim_step(struct claim *claim, uint32_t quantum_bytes, uint64_t now_us,
                          uint64_t *next_us)
{
    enum claim_act act = CLAIM_REST;
    *next_us = UINT64_MAX;
    if (claim->state == CLAIM_ASKED)
        act = step_asked(claim, quantum_bytes, now_us);
    if (claim->state == CLAIM_ASKED) {
        *next_us = earlier(claim->asked_us + CONTENTION_AGAIN_US,
                           claim->heard_us + CONTENTION_PATIENCE_US);
        return act;
    }
    if (claim->state == CLAIM_NONE)
        return act;
    if (claim->left_bytes == 0 || now_us >= ends_us(claim))
        return claim_drop(claim);
    *next_us = ends_us(claim);
    return act;
}
