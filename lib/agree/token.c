/*
 * token.c - tokens: rights that go from task to task. What they are is described in
 * proto/state/token.c.
 */
#include "lib/agree/service.h"
#include "lib/msg/error.h"
#include "proto/wire/command.h"
#include "proto/wire/frame.h"

static int begin(struct service *s, covey_t *vm, uint8_t kind, const char *name)
{
    if (service_name_check(vm, "token", name) != COVEY_OK)
        return COVEY_EINVAL;
    service_begin(s, vm, kind, "token", name);
    return COVEY_OK;
}

int covey_token_create(covey_t *vm, const char *name, uint64_t *number)
{
    struct service s;
    if (begin(&s, vm, COMMAND_TOKEN_CREATE, name) != COVEY_OK)
        return COVEY_EINVAL;
    return service_number(&s, COVEY_POLL, number);
}

int covey_token_request(covey_t *vm, const char *name, int64_t timeout_us, uint64_t *number)
{
    struct service s;
    if (begin(&s, vm, COMMAND_TOKEN_REQUEST, name) != COVEY_OK)
        return COVEY_EINVAL;
    cursor_put_u8(&s.body, timeout_us == COVEY_POLL);
    return service_number(&s, timeout_us, number);
}

int covey_token_pass(covey_t *vm, const char *name, uint64_t number, covey_tid_t to)
{
    struct service s;
    if (to != COVEY_ANY_TASK && (to <= 0 || tid_local((uint32_t)to) == 0))
        return error_set(COVEY_EINVAL, "token: bad tid %d", (int)to);
    if (begin(&s, vm, COMMAND_TOKEN_PASS, name) != COVEY_OK)
        return COVEY_EINVAL;
    cursor_put_u64(&s.body, number);
    cursor_put_u32(&s.body, to == COVEY_ANY_TASK ? 0 : (uint32_t)to);
    return service_call(&s, COVEY_POLL, NULL, NULL);
}

int covey_token_destroy(covey_t *vm, const char *name, uint64_t number)
{
    struct service s;
    if (begin(&s, vm, COMMAND_TOKEN_DESTROY, name) != COVEY_OK)
        return COVEY_EINVAL;
    cursor_put_u64(&s.body, number);
    return service_call(&s, COVEY_POLL, NULL, NULL);
}

covey_tid_t covey_token_holder(covey_t *vm, const char *name, uint64_t *number)
{
    struct service s;
    if (begin(&s, vm, COMMAND_TOKEN_HOLDER, name) != COVEY_OK)
        return COVEY_EINVAL;
    return service_holder(&s, number);
}
