/*
 * alltoall.c - the calls covey_alltoall() and covey_alltoallv(), and which algorithm they take.
 */
#include "lib/exchange/alltoall.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"

#include <assert.h>

static void alltoall_build(struct collective *c, const struct alltoall *a)
{
    const struct covey_team *team = collective_team(c);
    size_t bytes = a->send.each * covey_type_size(a->send.type);
    enum operation operation = a->send.uneven ? OPERATION_ALLTOALLV : OPERATION_ALLTOALL;
    switch (team_choose_messages(team, operation, bytes)) {
    case ALLTOALL_BRUCK:
        alltoall_bruck(c, a);
        break;
    case ALLTOALL_HOSTS:
        alltoall_hosts(c, a);
        break;
    case ALLTOALL_PAIRWISE:
    case ALLTOALLV_PAIRWISE:
        alltoall_pairwise(c, a);
        break;
    case ALLTOALL_SCHEDULED:
    case ALLTOALLV_SCHEDULED:
        alltoall_scheduled(c, a);
        break;
    case ALLTOALLV_LONGEST:
        alltoall_longest(c, a);
        break;
    case ALLTOALLV_ADAPTIVE:
        alltoall_adaptive(c, a);
        break;
    case ALLTOALL_LINEAR:
    case ALLTOALLV_LINEAR:
        alltoall_linear(c, a);
        break;
    default:
        assert(!"an algorithm of alltoall that is not carried out");
    }
}

static int alltoall_plan(covey_team_t *team, const char *name, struct alltoall *a,
                         struct collective **c)
{
    int error = collective_create(team, name, c);
    if (error == COVEY_OK && alltoall_begin(*c, a))
        alltoall_build(*c, a);
    return error;
}

static struct alltoall equal(int type, const void *send, void *recv, size_t count)
{
    return (struct alltoall){.send = {.type = type, .base = (void *)send, .each = count},
                             .recv = {.type = type, .base = recv, .each = count}};
}

int covey_alltoall(covey_team_t *team, int type, const void *send, void *recv, size_t count)
{
    return covey_ialltoall(team, type, send, recv, count, COLLECTIVE_WAITS);
}

int covey_ialltoall(covey_team_t *team, int type, const void *send, void *recv, size_t count,
                    covey_req_t **req)
{
    struct collective *c = NULL;
    struct alltoall a = equal(type, send, recv, count);
    const struct shared_call job = {.kind = SHARED_ALLTOALL,
                                    .name = "alltoall",
                                    .type = type,
                                    .count = count,
                                    .send = send,
                                    .recv = recv};
    int error = alltoall_check(team, "alltoall", &a);
    if (error == COVEY_OK && shared_chosen(team, &job))
        return shared_start(team, &job, req);
    if (error == COVEY_OK)
        error = alltoall_plan(team, "alltoall", &a, &c);
    return collective_start(error, c, req);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_alltoallv(covey_team_t *team, int type, const void *send, const size_t *send_counts,
                    const size_t *send_starts, void *recv, const size_t *recv_counts,
                    const size_t *recv_starts)
{
    return covey_ialltoallv(team, type, send, send_counts, send_starts, recv, recv_counts,
                            recv_starts, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_ialltoallv(covey_team_t *team, int type, const void *send, const size_t *send_counts,
                     const size_t *send_starts, void *recv, const size_t *recv_counts,
                     const size_t *recv_starts, covey_req_t **req)
{
    struct collective *c = NULL;
    struct alltoall a = {
        .send = {type, (void *)send, 0, true, send_counts, send_starts},
        .recv = {type, recv, 0, true, recv_counts, recv_starts},
        .blocking = req == COLLECTIVE_WAITS,
    };
    int error = alltoall_check(team, "alltoallv", &a);
    if (error == COVEY_OK)
        error = alltoall_plan(team, "alltoallv", &a, &c);
    return collective_start(error, c, req);
}
