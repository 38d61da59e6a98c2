/*
 * tiles_message.c - what members of a team send each other while a tiled loop runs: sends and
 * receives like those of collective calls, but started and awaited by the program's own thread, so
 * that tiles are computed there. When one fails the team is broken, as by a collective call.
 */
#include "lib/calls/recv.h"
#include "lib/calls/send.h"
#include "lib/collective/collective.h"
#include "lib/collective/collective_step.h"
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/engine/match.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/tiles/tiles.h"

#include <stdio.h>

int tiles_talk_begin(struct tiles_talk *talk, struct covey_team *team)
{
    struct covey *vm = team->vm;
    pthread_mutex_lock(&vm->lock);
    int error = team->broken;
    if (error != COVEY_OK)
        error_set(error, "tiles: %s", team->broken_text);
    else
        *talk = (struct tiles_talk){
            .team = team, .number = team->calls++, .deadline_us = clock_deadline(team->timeout_us)};
    pthread_mutex_unlock(&vm->lock);
    return error;
}

void tiles_open_way(struct covey_team *team, int rank)
{
    struct covey *vm = team->vm;
    struct call call = call_begin(vm);
    struct peer *peer = peer_get(vm, (uint32_t)team->tids[rank]);
    if (peer != NULL)
        route_open_ahead(vm, peer);
    vm->wait.calls++;
    call_end(vm, &call, COVEY_OK);
}

static struct step_req *req_create(const struct tiles_talk *talk, enum req_kind kind, int lane)
{
    struct step_req *r = step_req_create();
    if (r == NULL) {
        error_code(COVEY_ENOMEM);
        return NULL;
    }
    r->req.vm = talk->team->vm;
    r->req.kind = kind;
    r->req.context = talk->team->context;
    r->req.tag = (int)((talk->number << LANE_BITS | (uint32_t)lane) & COVEY_TAG_MAX);
    return r;
}

int tiles_send(const struct tiles_talk *talk, const struct tiles_array *a, struct tiles_message *m)
{
    struct covey *vm = talk->team->vm;
    struct step_req *r = req_create(talk, REQ_SEND, a->lane);
    if (r == NULL)
        return COVEY_ENOMEM;
    int error = send_array_init(&r->req, a->type, a->base, a->count);
    if (error == COVEY_OK) {
        struct call call = call_begin(vm);
        error = send_start(vm, &r->req, talk->team->tids[a->rank]);
        vm->wait.calls++;
        call_end(vm, &call, error);
    }
    if (error != COVEY_OK)
        step_req_free(r);
    else
        m->req = r;
    return error;
}

int tiles_receive(const struct tiles_talk *talk, const struct tiles_array *a,
                  struct tiles_message *m)
{
    struct covey *vm = talk->team->vm;
    struct step_req *r = req_create(talk, REQ_RECEIVE, a->lane);
    if (r == NULL)
        return COVEY_ENOMEM;
    r->req.receive.source = (uint32_t)talk->team->tids[a->rank];
    r->req.receive.into_array = true;
    r->req.receive.type = a->type;
    r->req.receive.base = a->base;
    r->req.receive.capacity = a->count;
    struct call call = call_begin(vm);
    receive_start(vm, &r->req);
    vm->wait.calls++;
    call_end(vm, &call, COVEY_OK);
    m->req = r;
    return COVEY_OK;
}

struct await {
    const struct covey_req *req;
    const struct covey_team *team;
};

static bool message_is_over(void *context)
{
    const struct await *a = context;
    return a->req->done || a->team->broken != 0;
}

/* What became of it; the error is set. */
static int outcome(const struct await *a, int error)
{
    if (a->req->done)
        return a->req->error == COVEY_OK ? COVEY_OK : error_set(a->req->error, "%s", a->req->text);
    if (a->team->broken != 0)
        return error_set(a->team->broken, "tiles: %s", a->team->broken_text);
    return error == COVEY_ETIMEOUT ? error_set(error, "tiles: the time of the team ran out")
                                   : error;
}

int tiles_await(const struct tiles_talk *talk, struct tiles_message *m, size_t *count)
{
    struct covey *vm = talk->team->vm;
    if (m->req == NULL)
        return COVEY_OK;
    struct await await = {&m->req->req, talk->team};
    struct call call = call_begin(vm);
    int error = outcome(&await, call_idle(vm, message_is_over, &await, talk->deadline_us));
    call_end(vm, &call, error);
    if (!await.req->done)
        return error;
    if (count != NULL)
        *count = await.req->receive.count;
    step_req_free(m->req);
    m->req = NULL;
    return error;
}

static bool is_done(void *context)
{
    return ((const struct covey_req *)context)->done;
}

/* With the lock held. False: it is a send of which bytes have left. */
static bool message_take_back(struct covey *vm, struct covey_req *req)
{
    return req->done || (req->kind == REQ_RECEIVE ? match_cancel(vm, req) : outgo_cancel(vm, req));
}

/* Without memory for a copy the send is waited for; with the daemon gone it is never done, and its
 * request stays, for it is still in the peer's queue. */
void tiles_abandon(const struct tiles_talk *talk, struct tiles_message *m)
{
    struct covey *vm = talk->team->vm;
    struct step_req *r = m->req;
    if (r == NULL)
        return;
    struct call call = call_begin(vm);
    if (!message_take_back(vm, &r->req)) {
        if (collective_orphan(vm, r))
            r = NULL;
        else
            wait_until(vm, is_done, &r->req, UINT64_MAX);
    }
    if (r != NULL && (r->req.done || r->req.kind == REQ_RECEIVE))
        step_req_free(r);
    m->req = NULL;
    call_end(vm, &call, COVEY_OK);
}

int tiles_talk_fail(const struct tiles_talk *talk, int error)
{
    struct covey *vm = talk->team->vm;
    char why[160];
    snprintf(why, sizeof why, "%s", covey_error_text());
    struct call call = call_begin(vm);
    team_break(talk->team, error, why);
    return call_end(vm, &call, error_set(error, "%s", why));
}
