/*
 * match.c - which receive takes which message. Two lists in order: receives that were posted and
 * have no message yet, and unexpected messages that have begun. A message takes the oldest receive
 * that it fits, a receive the oldest message.
 *
 * Messages of many senders share the receiver's link, and any of them may stand still while a
 * segment of it that was lost is sent again. A receive from any task does not wait for that one: it
 * prefers messages that are complete, and when it has one that is not (`partial`), it lets it go
 * for the first that is.
 */
#include "lib/engine/match.h"
#include "lib/engine/arrival.h"
#include "lib/engine/credit.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/member/home.h"
#include "lib/member/trace.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* For a trace: a message has left, or is there. */
static void req_record(struct covey_req *req, const struct arrival *a)
{
    struct trace *t = req->vm->trace;
    bool inner = req->context != 0 && !context_is_talk(req->context);
    int kind = a == NULL ? TRACE_SEND : TRACE_RECEIVE;
    trace_put(t, &(struct trace_what){
                     .kind = (enum trace_kind)(inner ? kind + TRACE_INNER_SEND - TRACE_SEND : kind),
                     .name = req->call == NULL ? 0 : trace_literal(t, req->call),
                     .begun = req->begun != 0 ? req->begun : t->begun,
                     .bytes = a == NULL ? req->send.msg->size : a->info.bytes,
                     .sequence = a == NULL ? req->send.sequence : a->sequence,
                     .peer = a == NULL ? req->peer->tid : (uint32_t)a->info.source,
                     .tag = a == NULL ? req->tag : a->info.tag});
    req->told = req->call != NULL;
}

void req_await(const struct covey_req *req)
{
    struct task_awaits *awaits = &req->vm->self.awaits;
    if (req->kind == REQ_COLLECTIVE)
        return; /* the call says more */
    bool sends = req->kind == REQ_SEND;
    uint32_t to = req->peer == NULL ? 0 : req->peer->tid;
    awaits->kind = sends ? COVEY_WAITS_SEND : COVEY_WAITS_MESSAGE;
    awaits->peer = sends ? to : req->receive.source;
    awaits->tag = req->tag;
}

void req_finish(struct covey_req *req, int error, const char *why)
{
    if (req->vm->trace != NULL && req->kind == REQ_SEND && error == COVEY_OK && req->peer != NULL)
        req_record(req, NULL);
    req->error = error;
    if (error != COVEY_OK && why != req->text)
        snprintf(req->text, sizeof req->text, "%s", why);
    req->done = true;
    if (req->owner != NULL && req->owner->on_done != NULL)
        req->owner->on_done(req);
    wait_changed(req->vm);
}

/* ---- the two lists --------------------------------------------------------------------------- */

static void posted_add(struct covey *vm, struct covey_req *req, bool first)
{
    req->queued = true;
    LINK_AFTER(first ? NULL : vm->inbox.posted_last, vm->inbox.posted, vm->inbox.posted_last, req,
               next, prev);
}

static void posted_remove(struct covey *vm, struct covey_req *req)
{
    if (!req->queued)
        return;
    UNLINK_BOTH(vm->inbox.posted, vm->inbox.posted_last, req, next, prev);
    req->queued = false;
}

/* ---- the descriptor that is readable while a message waits -------------------------------------
 *
 * A semaphore of the kernel: each message that a receive of the program would find adds one, and
 * takes one away when it is taken. Messages of collectives do not count. */

static bool ready_write(const struct covey *vm)
{
    const uint64_t one = 1;
    return write(vm->inbox.ready_fd, &one, sizeof one) == sizeof one;
}

static void ready_add(const struct covey *vm, struct arrival *a)
{
    if (vm->inbox.ready_on && a->context == 0 && !a->counted)
        a->counted = ready_write(vm);
}

static void match_ready_lost(struct covey *vm)
{
    if (vm->inbox.ready_on)
        ready_write(vm);
}

int match_ready_fd(struct covey *vm)
{
    if (vm->inbox.ready_on)
        return vm->inbox.ready_fd;
    int fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0)
        return error_set(COVEY_ERESOURCE, "out of descriptors");
    vm->inbox.ready_fd = fd;
    vm->inbox.ready_on = true;
    for (struct arrival *a = vm->inbox.unexpected; a != NULL; a = a->next)
        ready_add(vm, a);
    if (vm->home.lost != 0)
        match_ready_lost(vm);
    return fd;
}

/* ---- unexpected messages --------------------------------------------------------------------- */

/* Keeps the order in which the messages began, also for one that was matched and is put back. */
static void unexpected_add(struct covey *vm, struct arrival *a)
{
    assert(!a->listed && a->bound == NULL);
    struct arrival *before = vm->inbox.unexpected_last;
    while (before != NULL && before->number > a->number)
        before = before->prev;
    LINK_AFTER(before, vm->inbox.unexpected, vm->inbox.unexpected_last, a, next, prev);
    a->listed = true;
    ready_add(vm, a);
    a->buffered = a->received;
    vm->inbox.unexpected_bytes += a->buffered;
}

static void unexpected_remove(struct covey *vm, struct arrival *a)
{
    if (!a->listed)
        return;
    UNLINK_BOTH(vm->inbox.unexpected, vm->inbox.unexpected_last, a, next, prev);
    a->listed = false;
    uint64_t one;
    if (a->counted && read(vm->inbox.ready_fd, &one, sizeof one) == sizeof one)
        a->counted = false;
    assert(vm->inbox.unexpected_bytes >= a->buffered);
    vm->inbox.unexpected_bytes -= a->buffered;
    a->buffered = 0;
}

void match_free(struct covey *vm, struct arrival *a)
{
    unexpected_remove(vm, a);
    covey_msg_free(a->msg);
    free(a);
}

/* ---- receives from any task whose message is not complete ------------------------------------ */

static void partial_add(struct covey *vm, struct covey_req *req)
{
    struct covey_req **end = &vm->inbox.partial;
    while (*end != NULL)
        end = &(*end)->receive.partial_next;
    req->receive.partial_next = NULL;
    *end = req;
}

/* If it is among them. */
static void partial_remove(struct covey *vm, const struct covey_req *req)
{
    struct covey_req **at = &vm->inbox.partial;
    while (*at != NULL && *at != req)
        at = &(*at)->receive.partial_next;
    if (*at != NULL)
        *at = req->receive.partial_next;
}

/* Not before a later message of its sender, if that has its receive already. */
static bool may_wait(const struct arrival *a)
{
    for (const struct arrival *later = a->later; later != NULL; later = later->later) {
        if (later->bound != NULL)
            return false;
    }
    return a->msg != NULL;
}

/* ---- matching -------------------------------------------------------------------------------- */

static bool match_fits(uint32_t source, int tag, uint32_t context, const struct arrival *a)
{
    return context == a->context &&
           (source == (uint32_t)COVEY_ANY_TASK || source == (uint32_t)a->info.source) &&
           (tag == COVEY_ANY_TAG || tag == a->info.tag);
}

const struct arrival *match_find(const struct covey *vm, uint32_t source, int tag, uint32_t context)
{
    for (const struct arrival *a = vm->inbox.unexpected; a != NULL; a = a->next) {
        if (match_fits(source, tag, context, a))
            return a;
    }
    return NULL;
}

/* Whether the message is one array that the receive has room for; otherwise *why. */
static int array_check(struct covey_req *req, const struct arrival *a)
{
    int type = 0;
    uint64_t count = 0;
    size_t known = a->info.bytes < ITEM_HEADER_BYTES ? 0 : ITEM_HEADER_BYTES;
    if (known == 0 || !item_header_decode(a->preface, a->info.bytes, &type, &count) ||
        item_bytes(type, count) != a->info.bytes) {
        snprintf(req->text, sizeof req->text, "receive: the message is not one array of %s",
                 covey_type_name(req->receive.type));
        return COVEY_ETYPE;
    }
    if (type != req->receive.type) {
        snprintf(req->text, sizeof req->text, "receive: wanted %s, the message has %llu %s",
                 covey_type_name(req->receive.type), (unsigned long long)count,
                 covey_type_name(type));
        return COVEY_ETYPE;
    }
    if (count > req->receive.capacity) {
        snprintf(req->text, sizeof req->text,
                 "receive: the message has %llu elements, the array room for %zu",
                 (unsigned long long)count, req->receive.capacity);
        return COVEY_ETRUNC;
    }
    req->receive.count = (size_t)count;
    return COVEY_OK;
}

/* What has come so far of an array moves from memory of its own to the receive's array. */
static void redirect(struct covey_req *req, struct arrival *a)
{
    if (a->msg != NULL && a->received > ITEM_HEADER_BYTES) {
        uint64_t data = req->receive.count * covey_type_size(req->receive.type);
        uint64_t have = a->received - ITEM_HEADER_BYTES;
        memcpy(req->receive.base, message_bytes(a->msg) + ITEM_HEADER_BYTES,
               (size_t)(have < data ? have : data));
    }
    covey_msg_free(a->msg);
    a->msg = NULL;
}

/* The receive takes the message, whose bytes may still be coming. False: it cannot, and is done. */
static bool bind(struct covey *vm, struct covey_req *req, struct arrival *a)
{
    if (req->receive.probe) {
        req->info = a->info;
        req_finish(req, COVEY_OK, NULL);
        return false;
    }
    int error = req->receive.into_array ? array_check(req, a) : COVEY_OK;
    if (error != COVEY_OK) {
        req_finish(req, error, req->text);
        return false;
    }
    if (a->msg == NULL && !a->offered && (a->listed || a->received > 0))
        req->receive.into_array = false; /* its bytes were let go: the receive ends with ENOMEM */
    unexpected_remove(vm, a);
    if (req->receive.into_array)
        redirect(req, a);
    else if (req->receive.source == (uint32_t)COVEY_ANY_TASK && !a->complete)
        partial_add(vm, req);
    a->bound = req;
    req->receive.arrival = a;
    req->info = a->info;
    if (req_is_paced(req) && a->received >= req->pacing.mark)
        req->owner->on_mark(req);
    return true;
}

/* Of an offered message none, until it is known where it goes. */
static bool want_memory(struct arrival *a)
{
    if (a->msg == NULL && !a->offered)
        a->msg = message_receive(a->info.bytes, a->representation);
    if (a->msg != NULL)
        a->msg->info = a->info;
    return a->msg != NULL;
}

void match_accept(struct arrival *a)
{
    if (a->bound == NULL || !a->bound->receive.into_array)
        want_memory(a);
}

void match_arrival(struct covey *vm, struct arrival *a)
{
    for (struct covey_req *req = vm->inbox.posted, *next; req != NULL; req = next) {
        next = req->next;
        if (!match_fits(req->receive.source, req->tag, req->context, a))
            continue;
        posted_remove(vm, req);
        if (bind(vm, req, a)) {
            if (!req->receive.into_array)
                want_memory(a);
            return;
        }
    }
    want_memory(a);
    unexpected_add(vm, a);
}

#define BULK_BYTES 16384 /* copying so much twice costs more than going on reading saves */

/* The receive's result out of a message that is complete. */
static void finish_bound(struct covey *vm, struct arrival *a)
{
    struct covey_req *req = a->bound;
    assert(req->receive.arrival == a && a->complete && !a->listed);
    partial_remove(vm, req);
    req->receive.arrival = NULL;
    bool last = vm->inbox.posted == NULL && vm->inbox.partial == NULL;
    if (vm->trace != NULL && a->peer != NULL)
        req_record(req, a);
    vm->inbox.awaited_taken += last || a->info.bytes >= BULK_BYTES;
    if (req->receive.into_array && a->representation != representation_native())
        elements_swap(req->receive.type, req->receive.base, req->receive.count);
    if (!req->receive.into_array && a->msg == NULL) {
        req_finish(req, COVEY_ENOMEM, "receive: no memory for the message");
    } else {
        req->owned = a->msg;
        a->msg = NULL;
        if (req->owned != NULL)
            home_output_taken(vm, req->owned);
        req_finish(req, COVEY_OK, NULL);
    }
    match_free(vm, a);
}

/* The message that was being received goes to another receive that fits, or waits for one. */
static void put_back(struct covey *vm, struct covey_req *req)
{
    struct arrival *a = req->receive.arrival;
    assert(a->bound == req);
    partial_remove(vm, req);
    req->receive.arrival = NULL;
    a->bound = NULL;
    if (req->receive.into_array && want_memory(a)) {
        uint64_t data = req->receive.count * covey_type_size(req->receive.type);
        uint64_t have = a->received - ITEM_HEADER_BYTES;
        memcpy(message_bytes(a->msg), a->preface, ITEM_HEADER_BYTES);
        memcpy(message_bytes(a->msg) + ITEM_HEADER_BYTES, req->receive.base,
               (size_t)(have < data ? have : data));
    }
    match_arrival(vm, a);
}

/* A complete message that nobody has taken goes to a receive that waits for the rest of another. */
static void overtake(struct covey *vm, struct arrival *a)
{
    for (struct covey_req *req = vm->inbox.partial; req != NULL; req = req->receive.partial_next) {
        if (!match_fits(req->receive.source, req->tag, req->context, a) ||
            !may_wait(req->receive.arrival))
            continue;
        put_back(vm, req);
        (void)bind(vm, req, a);
        return;
    }
}

void match_complete(struct covey *vm, struct arrival *a)
{
    a->complete = true;
    task_count_received(vm->self.page, a->info.bytes);
    bool collective = a->context != 0 && !context_is_talk(a->context);
    if (a->bound == NULL && !collective)
        overtake(vm, a);
    if (a->bound != NULL)
        finish_bound(vm, a);
    else if (collective && vm->inbox.contexts != NULL)
        vm->inbox.contexts->on_arrival(vm, a);
}

/* The oldest unexpected message that the receive fits, one that is complete before others if any
 * task will do; NULL: there is none. What one sender sent is complete in its order. */
static struct arrival *match_choose(const struct covey *vm, const struct covey_req *req)
{
    struct arrival *oldest = NULL;
    for (struct arrival *a = vm->inbox.unexpected; a != NULL; a = a->next) {
        if (!match_fits(req->receive.source, req->tag, req->context, a))
            continue;
        if (a->complete || req->receive.source != (uint32_t)COVEY_ANY_TASK)
            return a;
        oldest = oldest != NULL ? oldest : a;
    }
    return oldest;
}

/* Gives the receive an unexpected message that it fits; false: there is none. */
static bool take_unexpected(struct covey *vm, struct covey_req *req)
{
    struct arrival *a = match_choose(vm, req);
    if (a != NULL && bind(vm, req, a) && a->complete)
        finish_bound(vm, a);
    return a != NULL;
}

/* Nothing will come of the peer any more: it ended, or a link of it broke and no news of its end
 * followed. */
static bool is_silent(const struct peer *peer)
{
    return peer->gone || (peer->in.cut && peer->broken_at_us == 0);
}

void match_post(struct covey *vm, struct covey_req *req)
{
    if (req->call == NULL)
        req->begun = trace_begin(vm);
    if (take_unexpected(vm, req)) {
        credit_reopen(vm);
        return;
    }
    struct peer *peer =
        req->receive.source == (uint32_t)COVEY_ANY_TASK ? NULL : peer_find(vm, req->receive.source);
    if (peer != NULL && is_silent(peer)) {
        int error = peer_error(peer);
        req_finish(req, error, covey_error_text());
        return;
    }
    posted_add(vm, req, false);
}

bool match_cancel(struct covey *vm, struct covey_req *req)
{
    if (req->done)
        return false;
    posted_remove(vm, req);
    if (req->receive.arrival != NULL)
        put_back(vm, req);
    return true;
}

unsigned match_abandon(struct covey *vm, struct arrival *a)
{
    struct covey_req *req = a->bound;
    unexpected_remove(vm, a);
    covey_msg_free(a->msg);
    a->msg = NULL;
    a->bound = NULL;
    if (req == NULL)
        return 0;
    partial_remove(vm, req);
    req->receive.arrival = NULL;
    posted_add(vm, req, true);
    return 1;
}

void match_again(struct covey *vm, unsigned count)
{
    struct covey_req *req = vm->inbox.posted;
    /* when taking one found the daemon lost, none is posted any more */
    for (struct covey_req *next; count > 0 && req->queued && !vm->wait.closing;
         count--, req = next) {
        next = req->next;
        if (take_unexpected(vm, req))
            posted_remove(vm, req);
    }
}

void match_fail_source(struct covey *vm, struct peer *peer)
{
    for (struct covey_req *req = vm->inbox.posted, *next; req != NULL; req = next) {
        next = req->next;
        if (req->receive.source != peer->tid)
            continue;
        posted_remove(vm, req);
        int error = peer_error(peer);
        req_finish(req, error, covey_error_text());
    }
}

void match_home_lost(struct covey *vm, int error, const char *why)
{
    while (vm->inbox.posted != NULL) {
        struct covey_req *req = vm->inbox.posted;
        match_cancel(vm, req);
        req_finish(req, error, why);
    }
    match_ready_lost(vm);
}
