/*
 * window_serve.c - carrying out the orders that come for a window, one after the other, in the poll
 * loop: puts and gets with the caller's part, its lock and its counters, and what comes back of the
 * caller's own.
 *
 * Orders are bytes from outside. One of a task that is no member is dropped; a member that sends
 * one that cannot be carried out has broken the rules, and the window is broken with that cause.
 */
#include "lib/calls/recv.h"
#include "lib/calls/send.h"
#include "lib/calls/way.h"
#include "lib/engine/conn.h"
#include "lib/engine/match.h"
#include "lib/engine/peer.h"
#include "lib/msg/error.h"
#include "lib/onesided/onesided.h"
#include "proto/wire/list.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- answers --------------------------------------------------------------------------------- */

static void reply_is_done(struct covey_req *req)
{
    part_due(req->vm, PART_WINDOWS);
}

static const struct req_owner reply_owner = {.on_done = reply_is_done};

/* Takes the message, which may be NULL: there was no memory. NULL, or why the window is broken. */
static const char *reply(struct covey_window *w, int rank, int kind, covey_msg_t *msg)
{
    struct covey *vm = w->team->vm;
    if (w->members[rank].replies >= WINDOW_REPLIES_MAX) {
        covey_msg_free(msg);
        return "more questions than it may";
    }
    struct window_reply *r = msg == NULL ? NULL : calloc(1, sizeof *r);
    if (r == NULL) {
        covey_msg_free(msg);
        return "no memory for an answer to it";
    }
    send_init(&r->req, &(struct way){.vm = vm, .tag = kind, .context = window_context(w)});
    r->req.owner = &reply_owner;
    r->req.send.msg = r->req.owned = msg;
    if (send_start(vm, &r->req, w->team->tids[rank]) != COVEY_OK) {
        covey_msg_free(msg); /* it has ended, which breaks the window */
        free(r);
        return NULL;
    }
    r->window = w;
    r->rank = rank;
    r->next = windows_of(vm)->replies;
    windows_of(vm)->replies = r;
    w->members[rank].replies++;
    return NULL;
}

static const char *reply_done(struct covey_window *w, int rank, uint64_t number)
{
    const struct window_order done = {.kind = WINDOW_DONE, .number = number};
    return reply(w, rank, WINDOW_DONE, window_order_message(&done, NULL, false));
}

static void reap_replies(struct covey *vm)
{
    for (struct window_reply **at = &windows_of(vm)->replies; *at != NULL;) {
        struct window_reply *r = *at;
        if (!r->req.done) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        if (r->window != NULL)
            r->window->members[r->rank].replies--;
        covey_msg_free(r->req.owned);
        free(r);
    }
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* NULL, or why the order is refused. */
typedef const char *window_order_fn(struct covey_window *w, int rank, const struct window_order *o,
                                    covey_msg_t *msg);

static const struct window_member *me(const struct covey_window *w)
{
    return &w->members[w->team->rank];
}

static uint8_t *own_data(const struct covey_window *w)
{
    return area_data(&w->area, w->area.me);
}

static const char *on_put(struct covey_window *w, int rank, const struct window_order *o,
                          covey_msg_t *msg)
{
    (void)rank;
    if (!window_order_is_within(o->at, o->type, o->count, me(w)->bytes))
        return "a put that is not within the part";
    bool good = covey_unpack(msg, o->type, own_data(w) + o->at, (size_t)o->count, 1) == COVEY_OK;
    return good ? NULL : "a put without its array";
}

static const char *on_get(struct covey_window *w, int rank, const struct window_order *o,
                          covey_msg_t *msg)
{
    (void)msg;
    if (!window_order_is_within(o->at, o->type, o->count, me(w)->bytes))
        return "a get that is not within the part";
    const struct window_order data = {
        .kind = WINDOW_DATA, .type = o->type, .number = o->number, .count = o->count};
    return reply(w, rank, WINDOW_DATA, window_order_message(&data, own_data(w) + o->at, false));
}

static const char *on_data(struct covey_window *w, int rank, const struct window_order *o,
                           covey_msg_t *msg)
{
    struct window_get *get = w->gets;
    while (get != NULL && (get->order.number != o->number || get->rank != rank))
        get = get->next;
    if (get == NULL || get->order.type != o->type || get->order.count != o->count)
        return "data that nobody asked for";
    bool good = covey_unpack(msg, o->type, get->base, (size_t)o->count, 1) == COVEY_OK;
    UNLINK(w->gets, get, next);
    w->get_count--;
    free(get);
    return good ? NULL : "data without its array";
}

static const char *on_signal(struct covey_window *w, int rank, const struct window_order *o,
                             covey_msg_t *msg)
{
    (void)rank, (void)msg;
    if (o->at >= me(w)->signals)
        return "a signal that there is not";
    area_signal(&w->area, w->area.me, (uint32_t)o->at, o->count);
    window_ring(w);
    return NULL;
}

static const char *on_lock(struct covey_window *w, int rank, const struct window_order *o,
                           covey_msg_t *msg)
{
    (void)msg;
    if (o->type != COVEY_LOCK_SHARED && o->type != COVEY_LOCK_EXCLUSIVE)
        return "a lock of an unknown kind";
    if (w->members[rank].holds != 0 || w->members[rank].asks)
        return "a lock that it has already";
    struct window_claim *claim = calloc(1, sizeof *claim), **end = &w->claims;
    if (claim == NULL)
        return "no memory for a lock";
    *claim = (struct window_claim){.rank = rank,
                                   .kind = o->type,
                                   .ticket = area_ticket(&w->area, w->area.me),
                                   .number = o->number};
    while (*end != NULL)
        end = &(*end)->next;
    *end = claim;
    w->members[rank].asks = true;
    w->team->vm->wait.looked++;
    return NULL;
}

static const char *on_unlock(struct covey_window *w, int rank, const struct window_order *o,
                             covey_msg_t *msg)
{
    (void)msg;
    if (w->members[rank].holds == 0)
        return "an unlock of what it has not";
    area_leave(&w->area, w->area.me, w->members[rank].holds);
    w->members[rank].holds = 0;
    window_ring(w);
    return reply_done(w, rank, o->number);
}

static const char *on_flush(struct covey_window *w, int rank, const struct window_order *o,
                            covey_msg_t *msg)
{
    (void)msg;
    return reply_done(w, rank, o->number);
}

static const char *on_done(struct covey_window *w, int rank, const struct window_order *o,
                           covey_msg_t *msg)
{
    struct window_member *m = &w->members[rank];
    (void)msg;
    if (m->awaited == 0 || m->awaited != o->number)
        return "an answer to no question";
    m->awaited = 0;
    w->awaiting--;
    return NULL;
}

static window_order_fn *const on_order[WINDOW_ORDER_KINDS] = {
    [WINDOW_PUT] = on_put,       [WINDOW_GET] = on_get,   [WINDOW_DATA] = on_data,
    [WINDOW_SIGNAL] = on_signal, [WINDOW_LOCK] = on_lock, [WINDOW_UNLOCK] = on_unlock,
    [WINDOW_FLUSH] = on_flush,   [WINDOW_DONE] = on_done};

static void take_order(struct covey_window *w, covey_msg_t *msg)
{
    struct window_order o;
    struct covey_info info;
    covey_msg_info(msg, &info);
    int rank = covey_team_rank_of(w->team, info.source);
    if (rank < 0 || rank == w->team->rank || w->team->broken != COVEY_OK)
        return;
    const char *refused = window_order_read(msg, info.tag, &o);
    if (refused == NULL)
        refused = on_order[o.kind](w, rank, &o, msg);
    if (refused != NULL) {
        char why[160];
        snprintf(why, sizeof why, "window: member %d sent %s", rank, refused);
        team_break(w->team, COVEY_EPROTO, why);
    }
    wait_changed(w->team->vm);
}

/* ---- taking them ----------------------------------------------------------------------------- */

static void order_came(struct covey_req *req)
{
    part_due(req->vm, PART_WINDOWS);
}

static const struct req_owner receive_owner = {.on_done = order_came};

void window_listen(struct covey_window *w)
{
    struct covey *vm = w->team->vm;
    const struct way from = {
        .vm = vm, .tid = COVEY_ANY_TASK, .tag = COVEY_ANY_TAG, .context = window_context(w)};
    if (w->team->broken != COVEY_OK || receive_init(&w->receive, &from) != COVEY_OK)
        return;
    w->receive.owner = &receive_owner;
    w->receiving = true;
    receive_start(vm, &w->receive);
}

/* The receive of a broken window has ended by that. */
static void take_orders(struct covey_window *w)
{
    while (w->receiving && w->receive.done) {
        covey_msg_t *msg = w->receive.owned;
        w->receive.owned = NULL;
        w->receiving = false;
        if (w->receive.error != COVEY_OK) {
            team_break(w->team, w->receive.error, w->receive.text);
            return;
        }
        take_order(w, msg);
        covey_msg_free(msg);
        window_listen(w);
    }
}

static void window_claim_drop(struct covey_window *w, struct window_claim *claim)
{
    UNLINK(w->claims, claim, next);
    w->members[claim->rank].asks = false;
    w->team->vm->wait.looked--;
    free(claim);
}

static bool claim_is_served(const struct covey_window *w, const struct window_claim *claim)
{
    return area_is_served(&w->area, w->area.me, claim->kind, claim->ticket);
}

/* In the order of their tickets, in which a reader lets in the next one. */
static void serve_claims(struct covey_window *w)
{
    while (w->team->broken == COVEY_OK && w->claims != NULL && claim_is_served(w, w->claims)) {
        struct window_claim *claim = w->claims;
        const char *failed = reply_done(w, claim->rank, claim->number);
        area_enter(&w->area, w->area.me, claim->kind);
        w->members[claim->rank].holds = (uint8_t)claim->kind;
        window_claim_drop(w, claim);
        window_ring(w);
        if (failed != NULL)
            team_break(w->team, COVEY_ENOMEM, failed);
    }
}

void window_settle(struct covey *vm)
{
    reap_replies(vm);
    for (struct covey_window *w = windows_of(vm)->first; w != NULL; w = w->next) {
        if (w->by_orders && w->team->broken == COVEY_OK)
            take_orders(w);
        serve_claims(w);
    }
    conn_push_held(vm); /* answers are waited for, and nothing may follow them */
}

/* ---- looking --------------------------------------------------------------------------------- */

bool window_look(struct covey *vm)
{
    bool any = false;
    for (struct window_wait *wait = windows_of(vm)->waits; wait != NULL; wait = wait->next) {
        if (wait->told || (wait->window->team->broken == COVEY_OK && !wait->is_over(wait)))
            continue;
        wait->told = any = true; /* it must have the lock now, and nobody look on */
        wait_changed(vm);
    }
    for (const struct covey_window *w = windows_of(vm)->first; w != NULL; w = w->next) {
        if (w->claims != NULL && w->team->broken == COVEY_OK && claim_is_served(w, w->claims)) {
            part_due(vm, PART_WINDOWS);
            any = true;
        }
    }
    return any;
}

bool window_arm(struct covey *vm)
{
    for (const struct window_wait *wait = windows_of(vm)->waits; wait != NULL; wait = wait->next)
        area_ask_bell(&wait->window->area);
    for (const struct covey_window *w = windows_of(vm)->first; w != NULL; w = w->next) {
        if (w->claims != NULL)
            area_ask_bell(&w->area);
    }
    return window_look(vm);
}

/* ---- ends ------------------------------------------------------------------------------------ */

void window_task_gone(struct covey *vm, struct peer *peer)
{
    for (struct covey_window *w = windows_of(vm)->first; w != NULL; w = w->next) {
        if (w->closing || w->team->broken != COVEY_OK ||
            covey_team_rank_of(w->team, (covey_tid_t)peer->tid) < 0)
            continue;
        char why[160];
        int error = peer_error(peer);
        snprintf(why, sizeof why, "window: %s", covey_error_text());
        team_break(w->team, error, why);
    }
}

void window_drop(struct covey_window *w)
{
    struct covey *vm = w->team->vm;
    if (w->receiving && !w->receive.done)
        match_cancel(vm, &w->receive);
    covey_msg_free(w->receive.owned);
    w->receive.owned = NULL;
    w->receiving = false;
    while (w->claims != NULL)
        window_claim_drop(w, w->claims);
    for (struct window_get *get; (get = w->gets) != NULL; free(get))
        w->gets = get->next;
    for (struct window_reply *r = windows_of(vm)->replies; r != NULL; r = r->next)
        r->window = r->window == w ? NULL : r->window;
}
