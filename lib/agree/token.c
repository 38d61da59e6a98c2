/*
 * token.c - tokens: rights that go from task to task. What they are is described in
 * proto/state/token.c.
 */
#include "lib/agree/service.h"
#include "lib/msg/error.h"
#include "proto/wire/command.h"
#include "proto/wire/frame.h"

int covey_token_create(covey_t *vm, const char *name, uint64_t *number)
{
    struct service s;
    if (service_open(&s, vm, COMMAND_TOKEN_CREATE, "token", name) != COVEY_OK)
        return COVEY_EINVAL;
    return service_number(&s, COVEY_POLL, number);
}

int covey_token_request(covey_t *vm, const char *name, int64_t timeout_us, uint64_t *number)
{
    struct service s;
    if (service_open(&s, vm, COMMAND_TOKEN_REQUEST, "token", name) != COVEY_OK)
        return COVEY_EINVAL;
    cursor_put_u8(&s.body, timeout_us == COVEY_POLL);
    return service_number(&s, timeout_us, number);
}

int covey_token_pass(covey_t *vm, const char *name, uint64_t number, covey_tid_t to)
{
    struct service s;
    if (to != COVEY_ANY_TASK && (to <= 0 || tid_local((uint32_t)to) == 0))
        return error_set(COVEY_EINVAL, "token: bad tid %d", (int)to);
    if (service_open(&s, vm, COMMAND_TOKEN_PASS, "token", name) != COVEY_OK)
        return COVEY_EINVAL;
    cursor_put_u64(&s.body, number);
    cursor_put_u32(&s.body, to == COVEY_ANY_TASK ? 0 : (uint32_t)to);
    return service_order(&s, COVEY_POLL);
}

int covey_token_destroy(covey_t *vm, const char *name, uint64_t number)
{
    struct service s;
    if (service_open(&s, vm, COMMAND_TOKEN_DESTROY, "token", name) != COVEY_OK)
        return COVEY_EINVAL;
    cursor_put_u64(&s.body, number);
    return service_order(&s, COVEY_POLL);
}

covey_tid_t covey_token_holder(covey_t *vm, const char *name, uint64_t *number)
{
    struct service s;
    if (service_open(&s, vm, COMMAND_TOKEN_HOLDER, "token", name) != COVEY_OK)
        return COVEY_EINVAL;
    return service_holder(&s, number);
}
