/*
 * paced.c - carries out schedules of all-to-all and exchanges: messages of the task's rank go when
 * pace.h says so, and hand-overs go to others when what they wait for is as good as here.
 *
 * All receives are posted at the beginning, so that a message goes straight to where it belongs
 * whenever it comes. A receive is noted when its bytes but the last few are here (`mark`) and when
 * it is done, a send when it is done; paced_settle() looks at what was noted, from the poll loop
 * and not from the depths of reading and writing, and does what follows: hand-overs (SYNC frames,
 * which overtake messages), and sends that may start.
 *
 * A send is done when the kernel has its bytes, which does not mean that they are on their way: a
 * stream is asked (link_tcp_left()), and it is kept to the rate of the host's link, for what goes
 * faster only piles up in a queue, and hand-overs of this host behind it. Hand-overs for an
 * exchange that has not begun here are kept (early.c).
 *
 * An exchange fails with the first of its requests, or when a member ended that owes a hand-over.
 * It is a step of a collective: that the others hear of it is the collective's business. A send of
 * which bytes have left cannot be taken back and becomes an orphan.
 */
#include "lib/collective/paced.h"
#include "lib/calls/recv.h"
#include "lib/calls/send.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/teams.h"
#include "lib/engine/conn.h"
#include "lib/engine/match.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/link.h"
#include "lib/member/part.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "proto/schedule/pace_bytes.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REST_US_MIN 200 /* less is not worth a timer */

struct paced {
    struct paced *next; /* of the task */
    struct covey_team *team;
    struct covey_req *whole;
    struct paced_job job;
    uint32_t number;
    struct pace pace;
    struct step_req **sends;    /* by rank; NULL: not begun, or over */
    struct covey_req *receives; /* by rank */
    int receives_left;
    uint16_t *heard; /* by rank: hand-overs of it */
    int error;       /* it failed, and waits for sends that cannot be taken back */
    char text[160];
};

/* ---- the end ----------------------------------------------------------------------------- */

static void paced_free(struct paced *p)
{
    pace_destroy(&p->pace);
    free(p->sends);
    free(p->receives);
    free(p->heard);
    free(p);
}

static void forget_due(struct covey *vm, const struct paced *p)
{
    struct covey_req *last = NULL;
    for (struct covey_req **at = &teams_of(vm)->paced_due; *at != NULL;) {
        if ((*at)->of == p) {
            *at = (*at)->pacing.due_next;
        } else {
            last = *at;
            at = &last->pacing.due_next;
        }
    }
    teams_of(vm)->paced_due_last = last;
}

static void paced_finish(struct paced *p)
{
    struct covey *vm = p->team->vm;
    struct covey_req *whole = p->whole;
    char why[160];
    int error = p->error;
    memcpy(why, p->text, sizeof why);
    forget_due(vm, p);
    /* Streams are as fast as they go again. */
    for (int i = 0; i < p->team->size; i++) {
        struct peer *peer = peer_find(p->team->vm, (uint32_t)p->team->tids[i]);
        struct conn *conn =
            peer == NULL || peer->routes == NULL ? NULL : peer->routes[COVEY_ROUTE_TCP].conn;
        if (conn != NULL)
            link_tcp_pace(conn->link, 0);
    }
    UNLINK(teams_of(vm)->paced, p, next);
    paced_free(p);
    req_finish(whole, error, why);
}

/* False: it is under way, and there is no memory for a copy of what the program has lent. */
static bool drop_send(struct paced *p, int rank)
{
    struct covey *vm = p->team->vm;
    struct step_req *r = p->sends[rank];
    if (r == NULL)
        return true;
    if (!r->req.done)
        outgo_cancel(vm, &r->req);
    bool done = r->req.done;
    if (!done && !collective_orphan(vm, r))
        return false;
    forget_due(vm, p);
    conn_left_no_more(vm, &r->req);
    p->sends[rank] = NULL;
    if (done)
        step_req_free(r);
    else
        r->req.of = NULL;
    return true;
}

/* Takes back what can be; over when nothing is left. */
static void wind_up(struct paced *p)
{
    bool all = true;
    for (int i = 0; i < p->team->size; i++) {
        if (!p->receives[i].done && match_cancel(p->team->vm, &p->receives[i]))
            p->receives[i].done = true;
        all = drop_send(p, i) && all;
    }
    if (all)
        paced_finish(p);
}

static void fail(struct paced *p, int error, const char *why)
{
    if (p->error == COVEY_OK) {
        p->error = error;
        snprintf(p->text, sizeof p->text, "%s", why);
    }
}

/* After everything that may have moved it. */
static void paced_look(struct paced *p)
{
    if (p->error != COVEY_OK)
        wind_up(p);
    else if (pace_is_done(&p->pace) && p->receives_left == 0)
        paced_finish(p);
}

void paced_give_up(struct covey_req *whole)
{
    struct paced *p = teams_of(whole->vm)->paced;
    while (p != NULL && p->whole != whole)
        p = p->next;
    if (p == NULL)
        return;
    fail(p, COVEY_ECANCELED, covey_strerror(COVEY_ECANCELED));
    wind_up(p);
}

static void paced_note(struct covey_req *req);

/* ---- sends and hand-overs ---------------------------------------------------------------- */

static uint64_t paced_rate(const struct covey_req *req)
{
    return ((const struct paced *)req->of)->job.rate;
}

static uint64_t paced_rest_us(const struct covey_req *req, uint64_t received, uint64_t size)
{
    uint64_t rate = paced_rate(req);
    if (rate == 0)
        return 0;
    uint64_t for_us = pace_rest_bytes(req->pacing.mark, received, size) * UINT64_C(1000000) / rate;
    return for_us < REST_US_MIN ? 0 : for_us;
}

static const struct req_owner paced_owner = {
    .on_done = paced_note, .on_mark = paced_note, .rate = paced_rate, .rest_us = paced_rest_us};

static int send_begin(struct paced *p, struct step_req *r, int to)
{
    const struct vector *v = p->job.send;
    r->req.vm = p->team->vm;
    r->req.kind = REQ_SEND;
    r->req.tag = p->whole->tag;
    r->req.context = p->whole->context;
    r->req.of = p;
    r->req.owner = &paced_owner;
    r->step = to;
    struct peer *peer = peer_get(p->team->vm, (uint32_t)p->team->tids[to]);
    if (peer != NULL)
        route_expect_bulk(peer);
    int error = send_array_init(&r->req, v->type, vector_block(v, to), vector_count(v, to));
    return error != COVEY_OK ? error : send_start(p->team->vm, &r->req, p->team->tids[to]);
}

static void start_sends(struct paced *p)
{
    for (int to; p->error == COVEY_OK && (to = pace_start(&p->pace)) >= 0;) {
        struct step_req *r = step_req_create();
        p->sends[to] = r;
        int error = r == NULL ? error_code(COVEY_ENOMEM) : send_begin(p, r, to);
        if (error == COVEY_OK)
            continue;
        if (r != NULL)
            step_req_free(r);
        p->sends[to] = NULL;
        fail(p, error, covey_error_text());
    }
}

static void paced_hand_over(struct paced *p, int from)
{
    const struct pace_tell *tells;
    uint32_t count = pace_on_arrived(&p->pace, from, &tells);
    for (uint32_t i = 0; i < count; i++) {
        if (tells[i].to == p->team->rank)
            pace_on_told(&p->pace, tells[i].about);
        else {
            struct peer *peer = peer_get(p->team->vm, (uint32_t)p->team->tids[tells[i].to]);
            const struct control_sync sync = {.context = p->whole->context,
                                              .number = p->number,
                                              .from = (uint16_t)p->team->rank,
                                              .about = tells[i].about};
            int error =
                peer == NULL ? error_code(COVEY_ENOMEM) : outgo_sync(p->team->vm, peer, &sync);
            if (error != COVEY_OK)
                fail(p, error, covey_error_text());
        }
    }
}

/* ---- what happens to requests ------------------------------------------------------------ */

static void paced_note(struct covey_req *req)
{
    struct covey *vm = req->vm;
    if (req->pacing.due || (req->pacing.marked && !req->done))
        return;
    req->pacing.due = true;
    req->pacing.due_next = NULL;
    if (teams_of(vm)->paced_due != NULL)
        teams_of(vm)->paced_due_last->pacing.due_next = req;
    else
        teams_of(vm)->paced_due = req;
    teams_of(vm)->paced_due_last = req;
    part_due(vm, PART_TEAMS);
}

/* The kernel has it; is it on its way? If not, it is noted once more when it is. */
static bool has_left(struct covey_req *req)
{
    struct conn *conn = req->peer != NULL ? req->peer->out.carrier : NULL;
    if (req->pacing.marked || conn == NULL || req->peer->out.sends != NULL)
        return true;
    req->pacing.marked = true;
    return conn_left(conn, req);
}

static void on_send(struct paced *p, struct covey_req *req)
{
    int to = ((struct step_req *)req)->step;
    if (!has_left(req))
        return;
    p->sends[to] = NULL;
    step_req_free((struct step_req *)req);
    pace_on_left(&p->pace, to);
}

static void on_receive(struct paced *p, struct covey_req *req)
{
    int from = (int)(req - p->receives);
    char why[120];
    p->receives_left -= req->done;
    assert(p->receives_left >= 0);
    if (req->done && req->receive.count != vector_count(p->job.recv, from)) {
        snprintf(why, sizeof why, "member %d sent %zu elements, not %zu", from, req->receive.count,
                 vector_count(p->job.recv, from));
        fail(p, COVEY_ETRUNC, why);
    } else if (!req->pacing.marked) {
        req->pacing.marked = true;
        paced_hand_over(p, from);
    }
}

void paced_settle(struct covey *vm)
{
    while (teams_of(vm)->paced_due != NULL) {
        struct covey_req *req = teams_of(vm)->paced_due;
        teams_of(vm)->paced_due = req->pacing.due_next;
        req->pacing.due = false;
        struct paced *p = req->of;
        if (req->done && req->error != COVEY_OK)
            fail(p, req->error, req->text);
        if (p->error == COVEY_OK && req->kind == REQ_SEND)
            on_send(p, req);
        else if (p->error == COVEY_OK)
            on_receive(p, req);
        start_sends(p);
        paced_look(p);
    }
}

/* ---- hand-overs of others ---------------------------------------------------------------- */

static struct paced *paced_find(const struct covey *vm, const struct control_sync *what)
{
    struct paced *p = teams_of(vm)->paced;
    while (p != NULL && (p->whole->context != what->context || p->number != what->number))
        p = p->next;
    return p;
}

static void take_sync(struct paced *p, const struct control_sync *what, uint32_t source)
{
    if (p->error != COVEY_OK || what->from >= p->team->size ||
        (uint32_t)p->team->tids[what->from] != source)
        return;
    p->heard[what->from]++;
    if (!pace_on_told(&p->pace, what->about))
        fail(p, COVEY_EPROTO, "a task handed over what nobody waits for");
    start_sends(p);
}

void paced_on_sync(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct control_sync what;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_sync(&c, &what);
    if (!cursor_done(&c))
        return;
    struct peer *peer = peer_get(vm, frame->source);
    if (peer != NULL)
        peer->in.syncs_heard++;
    struct paced *p = paced_find(vm, &what);
    if (p == NULL) {
        early_keep(vm, &what, frame->source);
        return;
    }
    take_sync(p, &what, frame->source);
    paced_look(p);
}

/* All that the peer sent is here: a hand-over that it owes will not come. */
void paced_peer_gone(struct covey *vm, const struct peer *peer)
{
    for (struct paced *p = teams_of(vm)->paced, *next; p != NULL; p = next) {
        next = p->next;
        /* Whether it ends without a hand-over that the peer owes. */
        for (int i = 0; i < p->team->size; i++) {
            if ((uint32_t)p->team->tids[i] != peer->tid || p->heard[i] == p->job.plan->hears[i])
                continue;
            int error = peer_error(peer);
            fail(p, error, covey_error_text());
        }
        if (p->error != COVEY_OK)
            paced_look(p);
    }
}

/* Which exchange waits for it, nobody can tell; it may not have begun. */
void paced_sync_lost(struct covey *vm, const struct peer *peer)
{
    int error = peer_error(peer);
    char why[160];
    snprintf(why, sizeof why, "%s", covey_error_text());
    for (struct covey_team *team = teams_of(vm)->first; team != NULL; team = team->next) {
        if (covey_team_rank_of(team, (covey_tid_t)peer->tid) >= 0)
            team_break(team, error, why);
    }
}

/* ---- the beginning ----------------------------------------------------------------------- */

static void post_receive(struct paced *p, int from)
{
    const struct vector *v = p->job.recv;
    struct covey_req *req = &p->receives[from];
    *req = (struct covey_req){.vm = p->team->vm,
                              .kind = REQ_RECEIVE,
                              .tag = p->whole->tag,
                              .context = p->whole->context,
                              .receive.source = (uint32_t)p->team->tids[from],
                              .receive.into_array = true,
                              .receive.type = v->type,
                              .receive.base = vector_block(v, from),
                              .receive.capacity = vector_count(v, from),
                              .owner = &paced_owner,
                              .of = p,
                              .pacing.mark = pace_mark_bytes(
                                  p->job.early_bytes, item_bytes(v->type, vector_count(v, from)))};
    receive_start(p->team->vm, req);
}

static struct paced *paced_create(struct covey_team *team, const struct paced_job *job)
{
    size_t ranks = (size_t)team->size;
    struct paced *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->team = team;
    p->job = *job;
    p->sends = calloc(ranks, sizeof(struct step_req *));
    p->receives = calloc(ranks, sizeof *p->receives);
    p->heard = calloc(ranks, sizeof *p->heard);
    if (p->sends != NULL && p->receives != NULL && p->heard != NULL &&
        pace_create(&p->pace, job->plan) == 0)
        return p;
    paced_free(p);
    return NULL;
}

int paced_begin(struct covey_team *team, const struct paced_job *job, uint32_t number,
                struct covey_req *whole)
{
    struct covey *vm = team->vm;
    int error = early_error(vm, team->context);
    if (error != COVEY_OK)
        return error;
    struct paced *p = paced_create(team, job);
    if (p == NULL)
        return error_code(COVEY_ENOMEM);
    p->whole = whole;
    p->number = number;
    p->next = teams_of(vm)->paced;
    teams_of(vm)->paced = p;
    p->receives_left = (int)job->plan->receive_count;
    for (int i = 0; i < team->size; i++)
        p->receives[i].done = true;
    for (uint32_t i = 0; i < job->plan->receive_count; i++)
        post_receive(p, job->plan->receives[i]);
    /* What came for the exchange before it began. */
    for (struct sync *sync = early_take(p->team->vm, p->whole->context, p->number), *next;
         sync != NULL; sync = next) {
        next = sync->next;
        take_sync(p, &sync->what, sync->source);
        free(sync);
    }
    start_sends(p);
    paced_look(p);
    return COVEY_OK;
}
