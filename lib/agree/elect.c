/*
 * elect.c - election among tasks. What it promises is described in proto/state/leader.h.
 */
#include "lib/agree/service.h"
#include "lib/msg/error.h"
#include "proto/wire/command.h"

/* Reads and frees an answer. */
static int leader_read(struct service *s, struct covey_leader *leader)
{
    struct covey_leader l = {.tid = (covey_tid_t)cursor_get_u32(&s->answer)};
    l.term = cursor_get_u64(&s->answer);
    int error = service_done(s);
    if (error == COVEY_OK)
        *leader = l;
    return error;
}

int covey_elect_stand(covey_t *vm, const char *group, struct covey_leader *leader)
{
    struct service s;

    if (service_open(&s, vm, COMMAND_LEADER_STAND, "election", group) != COVEY_OK)
        return COVEY_EINVAL;
    if (leader == NULL)
        return error_set(COVEY_EINVAL, "election: NULL");
    int error = service_call(&s, COVEY_POLL);
    if (error == COVEY_ETIMEOUT) /* the candidacy is undone, whenever it is carried out */
        service_undo(vm, COMMAND_LEADER_RESIGN, "election", group);
    return error == COVEY_OK ? leader_read(&s, leader) : error;
}

int covey_elect_resign(covey_t *vm, const char *group)
{
    struct service s;

    if (service_open(&s, vm, COMMAND_LEADER_RESIGN, "election", group) != COVEY_OK)
        return COVEY_EINVAL;
    return service_order(&s, COVEY_POLL);
}

/* Who leads now, if in a later term. */
static int election_look(covey_t *vm, const char *group, uint64_t term, struct covey_leader *leader)
{
    struct service s;
    struct covey_leader now;

    service_begin(&s, vm, COMMAND_LEADER_LOOK, "election", group);
    int error = service_ask(&s);
    if (error == COVEY_OK)
        error = leader_read(&s, &now);
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

    if (service_open(&s, vm, COMMAND_LEADER_NEXT, "election", group) != COVEY_OK)
        return COVEY_EINVAL;
    if (leader == NULL)
        return error_set(COVEY_EINVAL, "election: NULL");
    if (timeout_us == COVEY_POLL)
        return election_look(vm, group, term, leader);
    cursor_put_u64(&s.body, term);
    int error = service_call(&s, timeout_us);
    return error == COVEY_OK ? leader_read(&s, leader) : error;
}
