/*
 * step_req.c - the requests of a collective's steps: sends and receives like any others, in the
 * context of the team, with a tag of their collective and their lane. Those of one step are one
 * block of memory, freed with the last of them.
 */
#include "lib/calls/cast.h"
#include "lib/calls/recv.h"
#include "lib/calls/send.h"
#include "lib/collective/collective.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/paced.h"
#include "lib/collective/shared.h"
#include "lib/engine/req.h"

#include <assert.h>
#include <stdlib.h>

void step_req_link(struct step_req **list, struct step_req *r)
{
    r->prev = NULL;
    r->next = *list;
    if (r->next != NULL)
        r->next->prev = r;
    *list = r;
}

void step_req_unlink(struct step_req **list, struct step_req *r)
{
    *(r->prev != NULL ? &r->prev->next : list) = r->next;
    if (r->next != NULL)
        r->next->prev = r->prev;
}

static uint32_t context_tag(uint32_t number, int lane)
{
    return (number << LANE_BITS | (uint32_t)lane) & COVEY_TAG_MAX;
}

void step_req_free(struct step_req *r)
{
    struct step_block *block = r->block;
    covey_msg_free(r->req.owned);
    if (--block->left == 0)
        free(block);
}

static struct step_block *block_create(int n)
{
    struct step_block *block = calloc(1, sizeof *block + (size_t)n * sizeof block->reqs[0]);
    if (block == NULL)
        return NULL;
    block->left = n;
    for (int i = 0; i < n; i++)
        block->reqs[i].block = block;
    return block;
}

struct step_req *step_req_create(void)
{
    struct step_block *block = block_create(1);
    return block == NULL ? NULL : &block->reqs[0];
}

/* Requests of a step, which are under way from now on. */
static struct step_block *reqs_create(struct collective *c, int step, int n, enum req_kind kind)
{
    struct step_block *block = block_create(n);
    if (block == NULL) {
        collective_refuse(c, COVEY_ENOMEM, "memory is exhausted");
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        struct step_req *r = &block->reqs[i];
        r->step = step;
        r->req.vm = c->team->vm;
        r->req.kind = kind;
        r->req.context = c->team->context;
        r->req.tag = (int)context_tag(c->number, c->program.steps[step].lane);
        r->req.owner = &collective_step_owner;
        r->req.of = c;
        step_req_link(&c->under_way, r);
    }
    c->program.steps[step].pending += n;
    return block;
}

/* Of a request that could not be started; the error is set. */
static void req_refused(struct collective *c, struct step_req *r, int error)
{
    step_req_unlink(&c->under_way, r);
    step_req_free(r);
    collective_refuse(c, error, covey_error_text());
}

/* ---- starting steps -------------------------------------------------------------------------- */

static void send_one(struct collective *c, struct step_req *r, int rank)
{
    int error = send_start(c->team->vm, &r->req, c->team->tids[rank]);
    if (error != COVEY_OK)
        req_refused(c, r, error);
}

/* The arrays as messages; false: they are none, and the collective ends. */
static bool make_messages(struct collective *c, const struct step *s, struct step_block *block,
                          int n)
{
    for (int i = 0; i < n; i++) {
        int error = send_array_init(&block->reqs[i].req, s->type, s->left, s->count);
        if (error != COVEY_OK) {
            for (int k = 0; k < n; k++)
                req_refused(c, &block->reqs[k], error);
            return false;
        }
    }
    return true;
}

static void start_send(struct collective *c, int step)
{
    const struct step s = c->program.steps[step];
    struct step_block *block = reqs_create(c, step, 1, REQ_SEND);
    if (block != NULL && make_messages(c, &s, block, 1))
        send_one(c, &block->reqs[0], s.rank);
}

/* What cannot be cast is sent one by one. */
static void start_cast(struct collective *c, int step)
{
    const struct step s = c->program.steps[step];
    covey_tid_t *tids = collective_memory(c, (size_t)s.rank * sizeof *tids);
    struct step_block *block = s.rank > 0 ? reqs_create(c, step, s.rank, REQ_SEND) : NULL;
    if (tids == NULL || block == NULL || !make_messages(c, &s, block, s.rank))
        return;
    for (int i = 0; i < s.rank; i++)
        tids[i] = c->team->tids[s.ranks[i]];
    caster_by_known_way(c->team->vm, tids, &block->reqs[0].req, sizeof block->reqs[0],
                        (size_t)s.rank);
    for (int i = 0; i < s.rank; i++) {
        if (!block->reqs[i].req.done && !block->reqs[i].req.queued)
            send_one(c, &block->reqs[i], s.ranks[i]);
    }
}

static void start_receive(struct collective *c, int step)
{
    const struct step *s = &c->program.steps[step];
    struct step_block *block = reqs_create(c, step, 1, REQ_RECEIVE);
    if (block == NULL)
        return;
    struct step_req *r = &block->reqs[0];
    r->req.receive.source =
        s->rank < 0 ? (uint32_t)COVEY_ANY_TASK : (uint32_t)c->team->tids[s->rank];
    r->req.receive.into_array = true;
    r->req.receive.type = s->type;
    r->req.receive.base = s->result;
    r->req.receive.capacity = s->count;
    receive_start(c->team->vm, &r->req);
}

static void start_paced(struct collective *c, int step)
{
    struct step_block *block = reqs_create(c, step, 1, REQ_COLLECTIVE);
    if (block == NULL)
        return;
    struct step_req *r = &block->reqs[0];
    int error = paced_begin(c->team, c->program.steps[step].job, c->number, &r->req);
    if (error != COVEY_OK)
        req_refused(c, r, error);
}

static void start_shared(struct collective *c, int step)
{
    struct step_block *block = reqs_create(c, step, 1, REQ_COLLECTIVE);
    if (block != NULL)
        shared_begin(c->program.steps[step].shared, &block->reqs[0].req);
}

void step_start(struct collective *c, int step)
{
    c->program.steps[step].pending =
        1; /* stays while requests are started, which may be done at once */
    switch (c->program.steps[step].kind) {
    case STEP_SEND:
        start_send(c, step);
        break;
    case STEP_RECEIVE:
        start_receive(c, step);
        break;
    case STEP_PACED:
        start_paced(c, step);
        break;
    case STEP_SHARED:
        start_shared(c, step);
        break;
    default:
        assert(c->program.steps[step].kind == STEP_CAST);
        start_cast(c, step);
    }
    if (--c->program.steps[step].pending == 0)
        collective_step_done(c, step);
}
