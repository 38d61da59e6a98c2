/*
 * elect.c - election among tasks. What it promises is described in proto/state/leader.h.
 */
#include "lib/agree/service.h"
#include "lib/drive/call.h"
#include "lib/msg/error.h"
#include "proto/wire/command.h"

#include <stdlib.h>

static int begin(struct service *s, covey_t *vm, uint8_t kind, const char *group)
{
    if (service_name_check(vm, "election", group) != COVEY_OK)
        return COVEY_EINVAL;
    service_begin(s, vm, kind, "election", group);
    return COVEY_OK;
}

/* Reads and frees an answer. */
static int leader_read(uint8_t *content, size_t size, struct covey_leader *leader)
{
    struct cursor c = cursor_reader(content, size);
    struct covey_leader l = {.tid = (covey_tid_t)cursor_get_u32(&c)};

    l.term = cursor_get_u64(&c);
    free(content);
    if (!cursor_done(&c))
        return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    *leader = l;
    return COVEY_OK;
}

/* A candidacy whose answer did not come in time is undone, whenever it is carried out. */
static void stand_undo(covey_t *vm, const char *group)
{
    struct service s;
    struct call call = call_begin(vm);

    service_begin(&s, vm, COMMAND_LEADER_RESIGN, "election", group);
    service_post(&s);
    call_end(vm, &call, 0);
}

int covey_elect_stand(covey_t *vm, const char *group, struct covey_leader *leader)
{
    struct service s;
    uint8_t *content = NULL;
    size_t size = 0;

    if (begin(&s, vm, COMMAND_LEADER_STAND, group) != COVEY_OK)
        return COVEY_EINVAL;
    if (leader == NULL)
        return error_set(COVEY_EINVAL, "election: NULL");
    int error = service_call(&s, COVEY_POLL, &content, &size);
    if (error == COVEY_ETIMEOUT)
        stand_undo(vm, group);
    return error == COVEY_OK ? leader_read(content, size, leader) : error;
}

int covey_elect_resign(covey_t *vm, const char *group)
{
    struct service s;

    if (begin(&s, vm, COMMAND_LEADER_RESIGN, group) != COVEY_OK)
        return COVEY_EINVAL;
    return service_call(&s, COVEY_POLL, NULL, NULL);
}

/* Who leads now, if in a later term. */
static int look(covey_t *vm, const char *group, uint64_t term, struct covey_leader *leader)
{
    struct service s;
    struct covey_leader now;
    uint8_t *content = NULL;
    size_t size = 0;

    service_begin(&s, vm, COMMAND_LEADER_LOOK, "election", group);
    int error = service_ask(&s, &content, &size);
    if (error == COVEY_OK)
        error = leader_read(content, size, &now);
    if (error != COVEY_OK)
        return error;
    if (now.tid == 0 || now.term <= term)
        return error_set(COVEY_ETIMEOUT, "election %s: nobody leads after term %llu", group,
                         (unsigned long long)term);
    *leader = now;
    return COVEY_OK;
}

int covey_elect_leader(covey_t *vm, const char *group, uint64_t term, int64_t timeout_us,
                       struct covey_leader *leader)
{
    struct service s;
    uint8_t *content = NULL;
    size_t size = 0;

    if (begin(&s, vm, COMMAND_LEADER_NEXT, group) != COVEY_OK)
        return COVEY_EINVAL;
    if (leader == NULL)
        return error_set(COVEY_EINVAL, "election: NULL");
    if (timeout_us == COVEY_POLL)
        return look(vm, group, term, leader);
    cursor_put_u64(&s.body, term);
    int error = service_call(&s, timeout_us, &content, &size);
    return error == COVEY_OK ? leader_read(content, size, leader) : error;
}
