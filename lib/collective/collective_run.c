/*
 * collective_run.c - running collectives, and ending them when one fails.
 *
 * A step that can run starts its requests (sends and receives like any others, in the context of
 * the team) or does its work at once. When a request is done, wherever the library finds that out,
 * it is put into the list of its collective and the collective into the task's list of those that
 * are ready; whoever polls calls collective_progress() at a moment when nothing else is half done.
 * One thread at a time moves a collective (busy); it lets go of the lock while it computes.
 *
 * A collective that fails takes back what it can. A send of which bytes have left cannot be taken
 * back: it becomes an orphan with a copy of its array, so that the program has its memory again.
 */
#include "lib/calls/cast.h"
#include "lib/calls/send.h"
#include "lib/collective/collective.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/paced.h"
#include "lib/collective/shared.h"
#include "lib/collective/teams.h"
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/engine/arrival.h"
#include "lib/engine/match.h"
#include "lib/engine/outgo.h"
#include "lib/engine/req.h"
#include "lib/member/part.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "proto/wire/cursor.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define ALONE_BYTES 16384 /* what is larger is computed without the lock */
#define ABORT_BYTES (4 + 160)

/* ---- running --------------------------------------------------------------------------------- */

static void make_ready(struct covey *vm, struct collective *c)
{
    if (c->ready || c->busy)
        return;
    c->ready = true;
    c->ready_next = NULL;
    struct collective **at = &teams_of(vm)->ready;
    while (*at != NULL)
        at = &(*at)->ready_next;
    *at = c;
    part_due(vm, PART_TEAMS);
}

static void collective_on_req(struct covey_req *req)
{
    struct step_req *r = (struct step_req *)req;
    struct collective *c = req->of;
    r->finished_next = NULL;
    *c->finished_end = r;
    c->finished_end = &r->finished_next;
    make_ready(req->vm, c);
}

const struct req_owner collective_step_owner = {.on_done = collective_on_req};

/* Work that needs no lock; a function may add steps, so the step is given by value. */
static int step_compute(struct collective *c, const struct step *s)
{
    switch (s->kind) {
    case STEP_COPY:
        if (s->result != s->left && s->count > 0)
            memmove(s->result, s->left, s->count);
        return COVEY_OK;
    case STEP_REDUCE:
        op_apply(c->team->vm, s->op, s->type,
                 &(struct operands){s->left, s->right, s->result, s->count});
        return COVEY_OK;
    case STEP_CALL:
        return s->fn(c, s->result);
    default:
        assert(s->kind == STEP_FENCE);
        return COVEY_OK;
    }
}

/* Whether it is worth letting go of the lock for, or must not hold it. */
static bool is_long(const struct step *s)
{
    size_t width = s->kind == STEP_COPY ? 1 : covey_type_size(s->type);
    return s->kind == STEP_CALL || (s->kind == STEP_REDUCE && s->op > COVEY_OP_MAXLOC) ||
           (s->kind != STEP_FENCE && s->count * width >= ALONE_BYTES);
}

static bool run_next(struct covey *vm, struct collective *c)
{
    int step = c->program.run_first;
    if (step < 0)
        return false;
    c->program.run_first = c->program.steps[step].next;
    if (c->program.run_first < 0)
        c->program.run_last = -1;
    c->program.steps[step].started = true;
    enum step_kind kind = c->program.steps[step].kind;
    if (kind == STEP_SEND || kind == STEP_RECEIVE || kind == STEP_CAST || kind == STEP_PACED ||
        kind == STEP_SHARED)
        step_start(c, step);
    else {
        const struct step s = c->program.steps[step];
        bool alone = is_long(&s);
        if (alone)
            pthread_mutex_unlock(&vm->lock);
        int error = step_compute(c, &s);
        if (alone)
            pthread_mutex_lock(&vm->lock);
        if (error != COVEY_OK)
            collective_refuse(c, error, covey_error_text());
        collective_step_done(c, step);
    }
    return true;
}

/* ---- requests that are done ------------------------------------------------------------------ */

/* A receive got what its step wanted. */
static void check_received(struct collective *c, const struct step *s, const struct covey_req *req)
{
    char why[120];
    if (s->from != NULL)
        *s->from = covey_team_rank_of(c->team, req->info.source);
    if (s->got != NULL)
        *s->got = req->receive.count;
    if (s->any_count || req->receive.count == s->count)
        return;
    snprintf(why, sizeof why, "member %d sent %zu elements, not %zu", s->rank, req->receive.count,
             s->count);
    collective_refuse(c, COVEY_ETRUNC, why);
}

static bool take_finished(struct collective *c)
{
    struct step_req *r = c->finished;
    if (r == NULL)
        return false;
    c->finished = r->finished_next;
    if (c->finished == NULL)
        c->finished_end = &c->finished;
    int step = r->step;
    struct step *s = &c->program.steps[step];
    if (r->req.error != COVEY_OK)
        collective_refuse(c, r->req.error, r->req.text);
    else if (s->kind == STEP_RECEIVE)
        check_received(c, s, &r->req);
    step_req_unlink(&c->under_way, r);
    step_req_free(r);
    assert(s->pending > 0);
    if (--s->pending == 0)
        collective_step_done(c, step);
    return true;
}

/* ---- failing --------------------------------------------------------------------------------- */

static void orphan_done(struct covey_req *req)
{
    part_due(req->vm, PART_TEAMS);
}

static const struct req_owner orphan_owner = {.on_done = orphan_done};

static bool detach(struct step_req *r)
{
    if (r->req.send.caster != NULL)
        return caster_detach(&r->req);
    struct covey_msg *copy =
        message_receive(r->req.send.msg->size, r->req.send.msg->representation);
    if (copy == NULL)
        return false;
    message_copy(r->req.send.msg, 0, message_bytes(copy), (size_t)copy->size);
    r->req.send.msg = r->req.owned = copy;
    return true;
}

bool collective_orphan(struct covey *vm, struct step_req *r)
{
    if (!detach(r))
        return false;
    r->req.owner = &orphan_owner;
    step_req_link(&teams_of(vm)->orphans, r);
    return true;
}

/* Takes back what is under way. Without memory for a copy the collective lasts until a send is out.
 */
static void drop_all(struct covey *vm, struct collective *c)
{
    for (struct step_req *r = c->under_way, *next; r != NULL; r = next) {
        next = r->next;
        if (r->req.done)
            continue;
        if (r->req.kind == REQ_COLLECTIVE && c->program.steps[r->step].kind == STEP_SHARED)
            shared_give_up(vm, &r->req);
        else if (r->req.kind == REQ_COLLECTIVE)
            paced_give_up(&r->req);
        if (r->req.kind == REQ_RECEIVE && match_cancel(vm, &r->req))
            req_finish(&r->req, COVEY_ECANCELED, covey_strerror(COVEY_ECANCELED));
        if (r->req.kind != REQ_SEND || outgo_cancel(vm, &r->req))
            continue;
        step_req_unlink(&c->under_way, r);
        if (!collective_orphan(vm, r))
            step_req_link(&c->under_way, r);
    }
    while (take_finished(c))
        ;
}

/* Ends it when nothing of it is under way any more. */
static void collective_settle(struct covey *vm, struct collective *c)
{
    if (c->error == COVEY_OK && c->told != COVEY_OK) {
        c->error = c->told;
        snprintf(c->text, sizeof c->text, "%s", c->told_text);
    }
    if (c->error == COVEY_OK && c->program.undone > 0 && c->under_way == NULL)
        collective_refuse(c, COVEY_EPROTO, "its steps wait for each other");
    if (c->error != COVEY_OK) {
        drop_all(vm, c);
        team_break(c->team, c->error, c->text);
    }
    if (c->under_way != NULL || (c->error == COVEY_OK && c->program.undone > 0))
        return;
    UNLINK(c->team->running, c, next);
    if (c->ready)
        UNLINK(teams_of(c->team->vm)->ready, c, ready_next);
    c->ready = false;
    req_finish(&c->req, c->error, c->text);
}

void collective_fail(struct collective *c, int error, const char *why)
{
    if (c->req.done)
        return;
    if (c->told == COVEY_OK) {
        c->told = error;
        snprintf(c->told_text, sizeof c->told_text, "%s", why);
    }
    if (!c->busy)
        collective_settle(c->team->vm, c);
}

static void bury_orphans(struct covey *vm, bool all)
{
    for (struct step_req *r = teams_of(vm)->orphans, *next; r != NULL; r = next) {
        next = r->next;
        if (!r->req.done && !all)
            continue;
        step_req_unlink(&teams_of(vm)->orphans, r);
        step_req_free(r);
    }
}

void collective_bury_all(struct covey *vm)
{
    bury_orphans(vm, true);
}

/* Steps that are no messages. */
static void settle_others(struct covey *vm)
{
    paced_settle(vm);
    shared_settle(vm);
}

void collective_progress(struct covey *vm)
{
    if (teams_of(vm)->orphans != NULL)
        bury_orphans(vm, false);
    if (teams_of(vm)->aborts)
        team_take_aborts(vm);
    char kept[512]; /* the text of a call's error is not that of what goes on behind it */
    const char *text = covey_error_text();
    memcpy(kept, text, strnlen(text, sizeof kept - 1) + 1);
    kept[sizeof kept - 1] = '\0';
    settle_others(vm);
    for (; teams_of(vm)->ready != NULL; settle_others(vm)) {
        struct collective *c = teams_of(vm)->ready;
        teams_of(vm)->ready = c->ready_next;
        c->ready = false;
        c->busy = true;
        while (c->error == COVEY_OK && c->told == COVEY_OK && (take_finished(c) || run_next(vm, c)))
            ;
        c->busy = false;
        collective_settle(vm, c);
    }
    if (strcmp(kept, covey_error_text()) != 0)
        error_set(COVEY_OK, "%s", kept);
}

/* ---- telling the others ---------------------------------------------------------------------- */

static void abort_tell(struct covey_team *team, int rank, const uint8_t *text, size_t bytes)
{
    struct step_req *r = step_req_create();
    struct covey_msg *msg = covey_msg_new();
    if (r == NULL || msg == NULL || covey_pack_bytes(msg, text, bytes) != COVEY_OK) {
        covey_msg_free(msg);
        if (r != NULL)
            step_req_free(r);
        return; /* it learns when it waits in vain for its own time to run out */
    }
    r->req = (struct covey_req){.vm = team->vm,
                                .owner = &orphan_owner,
                                .kind = REQ_SEND,
                                .context = team->context,
                                .tag = team->abort_tag,
                                .send.msg = msg,
                                .owned = msg};
    step_req_link(&teams_of(team->vm)->orphans, r);
    if (send_start(team->vm, &r->req, team->tids[rank]) != COVEY_OK)
        req_finish(&r->req, COVEY_ENOTASK, "it cannot be told");
}

void collective_tell_all(struct covey_team *team)
{
    uint8_t content[ABORT_BYTES];
    struct cursor c = cursor_writer(content, sizeof content);
    cursor_put_i32(&c, team->broken);
    cursor_put_bytes(&c, team->broken_text, strlen(team->broken_text));
    for (int i = 1; i < team->size; i++)
        abort_tell(team, (team->rank + i) % team->size, content, (size_t)(c.at - content));
}

void collective_on_arrival(struct covey *vm, const struct arrival *a)
{
    if ((a->info.tag & (LANES - 1)) == LANE_ABORT)
        teams_of(vm)->aborts = true;
    part_due(vm, PART_TEAMS);
}

/* ---- starting and waiting -------------------------------------------------------------------- */

/* With the lock held; the program's arrays are in use from now on. */
static void steps_start(struct covey *vm, struct collective *c)
{
    struct collective **at = &c->team->running;
    while (*at != NULL)
        at = &(*at)->next;
    *at = c;
    c->started = true;
    vm->wait.calls++;
    if (c->error == COVEY_OK && c->team->broken != 0)
        collective_refuse(c, c->team->broken, c->team->broken_text);
    make_ready(vm, c);
    collective_progress(vm);
}

covey_req_t *const collective_waits = NULL;

int collective_start(int error, struct collective *c, covey_req_t **req)
{
    if (error == COVEY_OK && req == NULL)
        collective_refuse(c, COVEY_EINVAL, "NULL");
    if (error != COVEY_OK || req == NULL || req == COLLECTIVE_WAITS)
        return collective_run(error, c);
    struct call call = call_begin_as(c->team->vm, c->name);
    steps_start(c->team->vm, c);
    *req = &c->req;
    return call_end(c->req.vm, &call, COVEY_OK);
}

static bool is_done(void *context)
{
    return ((struct covey_req *)context)->done;
}

void collective_await_end(struct covey_req *req)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    struct covey *vm = req->vm;
    while (!req->done && wait_until(vm, is_done, req, UINT64_MAX) != COVEY_OK) {
        pthread_mutex_unlock(
            &vm->lock); /* the daemon is gone, and nothing is waited for any more */
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&vm->lock);
    }
}

/* Nobody waits for it any more. */
static void collective_give_up(struct collective *c, int error, const char *why)
{
    collective_fail(c, error, why);
    collective_await_end(&c->req);
}

static bool done_or_attended(void *context)
{
    struct covey_req *req = context;
    return req->done || shared_needs_attention(req->vm, req);
}

/* Whoever waits for a collective carries out its steps in shared memory, and sleeps while others
 * are long in coming. */
int collective_wait(struct covey_req *req, uint64_t deadline_us)
{
    int error = COVEY_OK;
    while (!req->done && error == COVEY_OK) {
        while (!req->done && shared_attend(req->vm, req))
            collective_progress(req->vm);
        error = call_idle(req->vm, done_or_attended, req, deadline_us);
    }
    return error;
}

static int run_locked(struct covey *vm, struct collective *c)
{
    char why[160];
    uint64_t deadline_us = clock_deadline(c->team->timeout_us);
    steps_start(vm, c);
    int error = collective_wait(&c->req, deadline_us);
    if (error == COVEY_OK)
        return c->error == COVEY_OK ? COVEY_OK : error_set(c->error, "%s", c->text);
    if (error == COVEY_ETIMEOUT)
        error_set(error, "%s: its time ran out", c->name);
    snprintf(why, sizeof why, "%s", covey_error_text());
    collective_give_up(c, error, why);
    return error_set(error, "%s", why);
}

int collective_run(int error, struct collective *c)
{
    if (error == COVEY_OK) {
        struct covey *vm = c->team->vm;
        struct call call = call_begin_as(vm, c->name);
        error = run_locked(vm, c);
        if (vm->trace != NULL && call.begun != 0)
            team_record(c->team, c->name, c->number, call.begun);
        error = call_end(vm, &call, error);
    }
    collective_destroy(c);
    return error;
}

static void collective_req_free(struct covey_req *req)
{
    struct collective *c = (struct collective *)req;
    struct call call = call_begin_as(req->vm, "req_free");
    if (!req->done)
        collective_give_up(c, COVEY_ECANCELED, COLLECTIVE_GIVEN_UP);
    call_end(req->vm, &call, COVEY_OK);
    collective_destroy(c);
}

const struct req_owner collective_owner = {.release = collective_req_free, .wait = collective_wait};
