/*
 * shared_run.c - carrying out the scripts of calls through shared memory.
 *
 * A call that waits for its end carries out its script itself: without the lock, and without a
 * collective. It looks for a moment at what it waits for, then yields to other tasks while such
 * waits have lately been short, then waits as every call does, from which the bell of the segment
 * wakes it. A step of a collective is carried out from the poll loop.
 *
 * Nobody waits for a member that has ended: the daemon tells the end of each.
 */
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"
#include "lib/collective/teams.h"
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/engine/peer.h"
#include "lib/member/part.h"
#include "lib/member/trace.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS 1000      /* before the processor is offered to others, which takes a system call, */
#define LOOKS_AGAIN 250 /* and between two offers */
#define LOOKS_CROWDED 8 /* where more tasks of the team than processors are */
#define OFFERS 32       /* of the processor, at least; then the task sleeps, */
#define YIELD_US 50     /* but not before so long, */
#define YIELD_LARGE_US 300  /* while others read or reduce large arrays, */
#define YIELD_BOXES_US 2000 /* while they copy what is in boxes, one after the other, */
#define BOXES_TURNS 4       /* of others, that may pass in one offer */
#define YIELD_HOSTS_US 150  /* while the lead of this host waits for those of others */
#define LONG_US 500         /* a wait in which yielding was in vain: others had the processor, */
#define LONG_LARGE_US 3000  /* or for large arrays, which take their time, if it did not sleep */
#define DOUBT_LIMIT 4       /* from here on only every 16th wait yields */
#define DOUBT_MAX 8

/* ---- those that wait ------------------------------------------------------------------------- */

static void await(struct covey *vm, struct shared_job *job)
{
    job->told = false;
    job->next = teams_of(vm)->awaited;
    teams_of(vm)->awaited = job;
    vm->wait.looked++;
}

static void await_no_more(struct covey *vm, struct shared_job *job)
{
    assert(vm->wait.looked > 0);
    UNLINK(teams_of(vm)->awaited, job, next);
    vm->wait.looked--;
}

static bool is_over(const struct shared_job *job)
{
    return job->doomed != COVEY_OK || job->team->broken != COVEY_OK;
}

/* ---- members that end ------------------------------------------------------------------------ */

static void doom(struct shared_job *job, const struct peer *peer)
{
    job->doomed = peer_error(peer);
    snprintf(job->why, sizeof job->why, "%s: %s", job->call.name, covey_error_text());
}

/* Of members on this host, with their places. */
static void look_for_ended(struct shared_job *job)
{
    const struct covey_team *team = job->team;
    job->sought = true;
    for (int i = 0, place = 0; i < team->size && job->doomed == COVEY_OK; i++) {
        if (team->host_lead[i] != team->host_lead[team->rank])
            continue;
        const struct peer *peer = peer_find(team->vm, (uint32_t)team->tids[i]);
        if (peer != NULL && peer->gone && shared_waits_in_vain(job, place))
            doom(job, peer);
        place++;
    }
}

void shared_task_gone(struct covey *vm, struct peer *peer)
{
    for (struct shared_job *job = teams_of(vm)->awaited; job != NULL; job = job->next) {
        if (covey_team_rank_of(job->team, (covey_tid_t)peer->tid) < 0 || job->busy)
            continue;
        look_for_ended(job);
        if (job->doomed != COVEY_OK && job->req != NULL)
            part_due(vm, PART_TEAMS);
    }
}

/* ---- looking --------------------------------------------------------------------------------- */

bool shared_look(struct covey *vm)
{
    bool any = false;
    for (struct shared_job *job = teams_of(vm)->awaited; job != NULL; job = job->next) {
        bool seeks = job->req != NULL && !job->sought; /* shared_settle() does */
        if (job->busy || job->told || (!is_over(job) && !seeks && !shared_may_go_on(job)))
            continue;
        any = true;
        if (job->req != NULL)
            part_due(vm, PART_TEAMS);
        else
            wait_changed(vm);
        /* The thread that waits may not be the one that polls: that one must let it have the lock,
         * and not look on because something came. */
        job->told = job->req == NULL;
    }
    return any;
}

bool shared_arm(struct covey *vm)
{
    for (const struct shared_job *job = teams_of(vm)->awaited; job != NULL; job = job->next) {
        if (job->busy) /* whoever is with it asks, once it has to wait */
            continue;
        segment_ask_bell(job->segment, job->sequence);
        if (shared_before(job) != 0)
            segment_ask_bell(job->segment, shared_before(job));
    }
    return shared_look(vm);
}

/* ---- a call that waits ----------------------------------------------------------------------- */

static bool may_end_wait(void *context)
{
    struct shared_job *job = context;
    return is_over(job) || shared_may_go_on(job);
}

static bool look_often(struct shared_job *job, int times)
{
    bool can = shared_may_go_on(job);
    for (int i = 1; i < times && !can; i++)
        can = shared_may_go_on(job);
    return can;
}

/* Members that work on large arrays keep the processor for long, which tells nothing of short
 * calls.
 */
static struct yielding *yielding_of(const struct shared_job *job)
{
    struct sharing *shared = &job->team->shared;
    if (shared_uses_boxes(job))
        return &shared->of_boxes;
    return job->size == SHARED_SMALL ? &shared->of_small : &shared->of_large;
}

/* For how long to yield at least. */
static uint64_t yield_us(const struct shared_job *job)
{
    if (shared_uses_boxes(job))
        return YIELD_BOXES_US;
    if (job->size != SHARED_SMALL)
        return YIELD_LARGE_US;
    return job->req != NULL ? YIELD_HOSTS_US : YIELD_US;
}

/* Yields once; true: somebody else kept the processor for so long that this is in vain. Those who
 * copy what is in all of their boxes keep it longer than others, and one does after the other. */
static bool offer_is_vain(const struct shared_job *job, struct yielding *yielding)
{
    uint64_t turns = shared_uses_boxes(job) ? BOXES_TURNS : 1;
    return giving_learn(&yielding->giving, giving_offer() / turns);
}

/* Looks, and yields for a while; true: it can go on. A wait that ends soon would end sooner by
 * yielding, for to wake a task takes long; where waits have lately been long, yielding is in vain.
 * Each of the others on this processor needs a turn or two, however long that is. */
static bool yield_to_members(struct shared_job *job, uint64_t start_us)
{
    struct yielding *yielding = yielding_of(job);
    uint64_t for_us = yield_us(job);
    bool hopeful = yielding->doubt < DOUBT_LIMIT || (job->sequence & 0x1e) == 0;
    hopeful = hopeful && giving_may(&yielding->giving);
    int looks = job->team->shared.crowded ? LOOKS_CROWDED : LOOKS_AGAIN;
    bool can = false;
    for (int offers = 1; hopeful && !can; offers++) {
        hopeful = !offer_is_vain(job, yielding);
        can = look_often(job, looks);
        hopeful = hopeful && (offers < OFFERS || clock_us() < start_us + for_us);
    }
    return can;
}

/* COVEY_OK: it can go on. */
static int sleep_until_it_can(struct shared_job *job, uint64_t deadline_us)
{
    struct covey *vm = job->team->vm;
    struct call call = call_begin_as(vm, job->call.name);
    await(vm, job);
    look_for_ended(job);
    int error = call_idle(vm, may_end_wait, job, deadline_us);
    await_no_more(vm, job);
    if (error == COVEY_ETIMEOUT)
        error_set(error, "%s: its time ran out", job->call.name);
    else if (job->doomed != COVEY_OK)
        error = error_set(job->doomed, "%s", job->why);
    else if (error == COVEY_OK && job->team->broken != COVEY_OK && !shared_may_go_on(job))
        error = error_set(job->team->broken, "%s", job->team->broken_text);
    return call_end(vm, &call, error);
}

/* Looks and yields; true: it can go on. */
static bool wait_a_while(struct shared_job *job, uint64_t *start_us)
{
    if (look_often(job, job->team->shared.crowded ? LOOKS_CROWDED : LOOKS))
        return true;
    *start_us = clock_us();
    return yield_to_members(job, *start_us);
}

/* After a wait that began then; `asleep`: yielding alone did not end it. */
static void learn(struct shared_job *job, uint64_t start_us, bool asleep)
{
    struct yielding *yielding = yielding_of(job);
    bool large = job->size != SHARED_SMALL && !asleep;
    if (clock_us() - start_us <= (large ? LONG_LARGE_US : LONG_US))
        yielding->doubt = 0;
    else if (yielding->doubt < DOUBT_MAX)
        yielding->doubt++;
}

/* COVEY_OK: it can go on. */
static int wait_for_members(struct shared_job *job, uint64_t *deadline_us)
{
    uint64_t start_us = 0;
    bool can = wait_a_while(job, &start_us);
    if (start_us == 0)
        return COVEY_OK;
    if (*deadline_us == 0)
        *deadline_us = clock_deadline(job->team->timeout_us);
    int error = can ? COVEY_OK : sleep_until_it_can(job, *deadline_us);
    learn(job, start_us, !can);
    return error;
}

static int say_broken(struct covey_team *team, const char *name)
{
    pthread_mutex_lock(&team->vm->lock);
    int error = error_set(team->broken, "%s: %s", name, team->broken_text);
    pthread_mutex_unlock(&team->vm->lock);
    return error;
}

static int give_up(struct covey_team *team, int error)
{
    char why[160];
    snprintf(why, sizeof why, "%s", covey_error_text());
    struct call call = call_begin(team->vm);
    team_break(team, error, why);
    call_end(team->vm, &call, COVEY_OK);
    return error_set(error, "%s", why);
}

/* Sets all of the job but the call, what shared_plan() and shared_number() set, and `why`, which is
 * written before it is read, and carries it out as far as it goes without waiting. */
static int begin_at_once(struct covey_team *team, struct shared_job *job, uint32_t *number)
{
    job->piece.first = 0;
    job->memory = NULL;
    job->req = NULL;
    job->told = job->busy = job->sought = false;
    job->waits_since_us = 0;
    job->doomed = COVEY_OK;
    *number = atomic_fetch_add(&team->calls, shared_plan(job, team));
    shared_number(job, *number, 0);
    return shared_go_on(job);
}

static int call_at_once(struct covey_team *team, struct shared_job *job)
{
    uint64_t deadline_us = 0;
    uint32_t number;
    if (team->broken != COVEY_OK)
        return say_broken(team, job->call.name);
    uint64_t begun = trace_begin(team->vm);
    int result = begin_at_once(team, job, &number);
    while (result == ACT_WAITS) {
        int error = wait_for_members(job, &deadline_us);
        result = error != COVEY_OK ? error : shared_go_on(job);
    }
    shared_end(job);
    if (begun != 0) {
        pthread_mutex_lock(&team->vm->lock);
        if (team->vm->trace != NULL)
            team_record(team, job->call.name, number, begun);
        pthread_mutex_unlock(&team->vm->lock);
    }
    return result < 0 ? give_up(team, result) : COVEY_OK;
}

/* ---- a call that gives a request ------------------------------------------------------------- */

/* Of a call that had to wait: all there is of it. */
struct shared_req {
    struct covey_req req; /* the program's; first: both have one address */
    struct shared_job job;
    size_t counts[]; /* reduce_scatter */
};

static void req_release(struct covey_req *req)
{
    struct shared_req *r = (struct shared_req *)req;
    struct call call = call_begin_as(req->vm, "req_free");
    if (!req->done) {
        team_break(r->job.team, COVEY_ECANCELED, COLLECTIVE_GIVEN_UP);
        collective_await_end(req); /* of what some thread carries out */
    }
    call_end(req->vm, &call, COVEY_OK);
    free(r);
}

static const struct req_owner shared_req_owner = {.release = req_release, .wait = collective_wait};

static bool is_whole_call(const struct shared_job *job)
{
    return job->req != NULL && job->req->owner == &shared_req_owner;
}

static void finish(struct covey *vm, struct shared_job *job, int error, const char *why)
{
    assert(!job->busy);
    await_no_more(vm, job);
    if (is_whole_call(job)) {
        if (error != COVEY_OK)
            team_break(job->team, error, why);
        shared_end(job);
        job->team->shared.reqs--;
    }
    req_finish(job->req, error, why);
}

static void finish_broken(struct covey *vm, struct shared_job *job)
{
    char why[sizeof job->team->broken_text + 32];
    snprintf(why, sizeof why, "%s: %s", job->call.name, job->team->broken_text);
    finish(vm, job, job->team->broken, why);
}

void shared_team_broke(struct covey_team *team)
{
    for (struct shared_job *job = teams_of(team->vm)->awaited, *next; job != NULL; job = next) {
        next = job->next;
        if (job->team == team && is_whole_call(job) && !job->busy)
            finish_broken(team->vm, job);
    }
}

/* What it has done so far stays done. */
static int go_on_by_request(struct covey_team *team, const struct shared_job *job,
                            covey_req_t **req)
{
    struct covey *vm = team->vm;
    size_t bytes = job->call.counts == NULL ? 0 : (size_t)team->size * sizeof *job->call.counts;
    struct shared_req *r = calloc(1, sizeof *r + bytes);
    if (r == NULL)
        return error_code(COVEY_ENOMEM);
    r->req.vm = vm;
    r->req.kind = REQ_COLLECTIVE;
    r->req.owner = &shared_req_owner;
    r->req.of = r;
    r->job = *job;
    r->job.req = &r->req;
    if (bytes > 0)
        r->job.call.counts = memcpy(r->counts, job->call.counts, bytes);
    struct call call = call_begin_as(vm, job->call.name);
    team->shared.reqs++;
    await(vm, &r->job);
    vm->wait.calls++;
    *req = &r->req;
    return call_end(vm, &call, COVEY_OK);
}

static int call_with_request(struct covey_team *team, struct shared_job *job, covey_req_t **req)
{
    struct covey *vm = team->vm;
    uint32_t number;
    if (team->broken != COVEY_OK)
        return say_broken(team, job->call.name);
    uint64_t begun = trace_begin(vm);
    int result = begin_at_once(team, job, &number);
    if (result == ACT_WAITS) {
        result = go_on_by_request(team, job, req);
        if (result == COVEY_OK)
            return result;
    }
    shared_end(job);
    *req = &req_over;
    if (begun != 0) {
        pthread_mutex_lock(&vm->lock);
        if (vm->trace != NULL)
            trace_call_end(vm->trace, job->call.name, begun);
        pthread_mutex_unlock(&vm->lock);
    }
    return result < 0 ? give_up(team, result) : COVEY_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* With the lock, which it lets go of; `attended`: whoever waits for the end of the collective does
 * so, and as a call does. */
static void carry_on(struct covey *vm, struct shared_job *job, bool attended)
{
    char why[160] = "";
    uint64_t start_us = job->waits_since_us;
    bool asleep = start_us != 0;
    job->busy = true;
    pthread_mutex_unlock(&vm->lock);
    int result = shared_go_on(job);
    while (result == ACT_WAITS && attended && wait_a_while(job, &start_us))
        result = shared_go_on(job);
    if (start_us != 0 && (asleep || result != ACT_WAITS))
        learn(job, start_us, asleep);
    if (asleep)
        start_us = 0; /* that wait is over, and the next one may be short */
    if (result < 0)
        snprintf(why, sizeof why, "%s", covey_error_text());
    pthread_mutex_lock(&vm->lock);
    job->busy = false;
    job->waits_since_us = start_us;
    if (result == ACT_WAITS) {
        if (asleep)
            wait_changed(vm);
        look_for_ended(job);
        return;
    }
    finish(vm, job, result, why);
}

void shared_begin(struct shared_job *job, covey_req_t *req)
{
    job->req = req;
    job->sought = true; /* carry_on() does, next */
    await(req->vm, job);
    part_due(req->vm, PART_TEAMS);
}

void shared_give_up(struct covey *vm, const covey_req_t *req)
{
    struct shared_job *job = teams_of(vm)->awaited;
    while (job != NULL && job->req != req)
        job = job->next;
    if (job != NULL && !job->busy)
        finish(vm, job, COVEY_ECANCELED, covey_strerror(COVEY_ECANCELED));
}

static struct shared_job *next_to_go_on(const struct covey *vm)
{
    struct shared_job *job = teams_of(vm)->awaited;
    while (job != NULL &&
           (job->req == NULL || job->busy || (!is_over(job) && !shared_may_go_on(job))))
        job = job->next;
    return job;
}

void shared_settle(struct covey *vm)
{
    for (struct shared_job *job = teams_of(vm)->awaited; job != NULL; job = job->next) {
        if (job->req != NULL && !job->busy && !job->sought)
            look_for_ended(job);
    }
    for (struct shared_job *job; (job = next_to_go_on(vm)) != NULL;) {
        if (job->doomed != COVEY_OK)
            finish(vm, job, job->doomed, job->why);
        else if (job->team->broken != COVEY_OK)
            finish_broken(vm, job);
        else
            carry_on(vm, job, false);
    }
}

static struct shared_job *to_attend_to(const struct covey *vm, const covey_req_t *collective)
{
    struct shared_job *job = teams_of(vm)->awaited;
    while (job != NULL && (job->req == NULL || job->req->of != collective))
        job = job->next;
    bool attended = job == NULL || job->busy || job->waits_since_us != 0 || is_over(job);
    return attended ? NULL : job;
}

bool shared_needs_attention(const struct covey *vm, const covey_req_t *collective)
{
    return to_attend_to(vm, collective) != NULL;
}

bool shared_attend(struct covey *vm, const covey_req_t *collective)
{
    struct shared_job *job = to_attend_to(vm, collective);
    if (job != NULL)
        carry_on(vm, job, true);
    return job != NULL;
}

static void job_end(void *arg)
{
    shared_end(arg);
}

bool shared_chosen(const struct covey_team *team, const struct shared_call *call)
{
    static const enum algorithm algorithms[] = {
        [SHARED_BARRIER] = BARRIER_SHARED,     [SHARED_BCAST] = BCAST_SHARED,
        [SHARED_REDUCE] = REDUCE_SHARED,       [SHARED_ALLREDUCE] = ALLREDUCE_SHARED,
        [SHARED_ALLGATHER] = ALLGATHER_SHARED, [SHARED_GATHER] = GATHER_SHARED,
        [SHARED_SCATTER] = SCATTER_SHARED,     [SHARED_REDUCE_SCATTER] = REDUCE_SCATTER_SHARED,
        [SHARED_SCAN] = SCAN_SHARED,           [SHARED_EXSCAN] = SCAN_SHARED,
        [SHARED_ALLTOALL] = ALLTOALL_SHARED};
    return team_chooses(team, algorithms[call->kind], call->count * covey_type_size(call->type));
}

int shared_start(struct covey_team *team, const struct shared_call *call, covey_req_t **req)
{
    struct shared_job job; /* not cleared: time is short here */
    job.call = *call;
    if (req == NULL)
        return give_up(team, error_set(COVEY_EINVAL, "%s: NULL", call->name));
    return req == COLLECTIVE_WAITS ? call_at_once(team, &job) : call_with_request(team, &job, req);
}

bool shared_suits(const struct covey_team *team, size_t bytes)
{
    return team->shared.segment != NULL &&
           (bytes <= SEGMENT_LARGE || team->shared.segment->readable);
}

int shared_place(const struct covey_team *team, int rank)
{
    int place = 0;
    for (int i = 0; i < rank; i++)
        place += team->host_lead[i] == team->host_lead[rank];
    return place;
}

int collective_shared(struct collective *c, const struct shared_call *call, int part)
{
    struct shared_job *job = collective_memory(c, sizeof *job);
    if (job == NULL || !collective_at_end(c, job_end, job))
        return -1;
    *job = (struct shared_job){.call = *call};
    if (call->counts != NULL) {
        size_t bytes = (size_t)c->team->size * sizeof *call->counts;
        size_t *counts = collective_memory(c, bytes);
        if (counts == NULL)
            return -1;
        memcpy(counts, call->counts, bytes);
        job->call.counts = counts;
    }
    uint32_t calls = shared_plan(job, c->team);
    c->team->calls += calls - 1; /* the first is the collective itself */
    shared_number(job, c->number, part);
    return collective_add_shared(c, job);
}
